#include "cluster/stall_watch.hpp"

#include <gtest/gtest.h>

namespace nuna::cluster {
namespace {

using namespace std::chrono_literals;
constexpr StallWatch::Time kStart{};

using Verdict = StallWatch::Verdict;

TEST(StallWatch, SilenceIsToldOnceAndGivenUpMuchLater) {
  StallWatch watch(5s, kStart, 0);
  EXPECT_EQ(watch.judge(kStart, 0), Verdict::fine);
  EXPECT_EQ(watch.judge(kStart + 4999ms, 0), Verdict::fine);
  EXPECT_EQ(watch.judge(kStart + 5s, 0), Verdict::slow);
  EXPECT_EQ(watch.judge(kStart + 6s, 0), Verdict::fine) << "told already";
  EXPECT_EQ(watch.judge(kStart + 5s * kPatience, 0), Verdict::stalled);
}

TEST(StallWatch, ASignOfLifeStartsTheLimitAnew) {
  StallWatch watch(5s, kStart, 7);
  EXPECT_EQ(watch.judge(kStart + 4s, 8), Verdict::fine);
  EXPECT_EQ(watch.judge(kStart + 8s, 8), Verdict::fine);
  EXPECT_EQ(watch.judge(kStart + 9s, 8), Verdict::slow);
  EXPECT_EQ(watch.judge(kStart + 9s, 9), Verdict::fine) << "alive after all";
  EXPECT_EQ(watch.judge(kStart + 14s, 9), Verdict::slow) << "and told anew";
}

TEST(StallWatch, SaysHowLongToRest) {
  StallWatch watch(5s, kStart, 0);
  EXPECT_EQ(watch.rest(kStart), 5s);
  EXPECT_EQ(watch.rest(kStart + 2s), 3s);
  EXPECT_EQ(watch.rest(kStart + 9s), 0s);
  watch.judge(kStart + 9s, 0);
  EXPECT_EQ(watch.rest(kStart + 9s), 51s);
  watch.judge(kStart + 9s, 1);
  EXPECT_EQ(watch.rest(kStart + 9s), 5s);
}

TEST(StallWatch, TheLargestLimitNeverStalls) {
  StallWatch watch(std::chrono::nanoseconds::max(), kStart, 0);
  EXPECT_EQ(watch.judge(kStart + std::chrono::hours(24 * 364), 0), Verdict::fine);
}

TEST(WaitedText, IsForPeople) {
  EXPECT_EQ(waited_text(5234ms), "5.2 s");
  EXPECT_EQ(waited_text(20ms), "20 ms");
}

}  // namespace
}  // namespace nuna::cluster
