#include "cluster/stall_watch.hpp"

#include <gtest/gtest.h>

namespace nuna::cluster {
namespace {

using namespace std::chrono_literals;
constexpr StallWatch::Time kStart{};

TEST(StallWatch, SilenceForTheLimitIsAStall) {
  StallWatch watch(5s, kStart, 0);
  EXPECT_FALSE(watch.stalled(kStart, 0));
  EXPECT_FALSE(watch.stalled(kStart + 4999ms, 0));
  EXPECT_TRUE(watch.stalled(kStart + 5s, 0));
}

TEST(StallWatch, ASignOfLifeStartsTheLimitAnew) {
  StallWatch watch(5s, kStart, 7);
  EXPECT_FALSE(watch.stalled(kStart + 4s, 8));
  EXPECT_FALSE(watch.stalled(kStart + 8s, 8));
  EXPECT_TRUE(watch.stalled(kStart + 9s, 8));
  EXPECT_FALSE(watch.stalled(kStart + 9s, 9)) << "alive after all";
}

TEST(StallWatch, SaysHowLongToRest) {
  StallWatch watch(5s, kStart, 0);
  EXPECT_EQ(watch.rest(kStart), 5s);
  EXPECT_EQ(watch.rest(kStart + 2s), 3s);
  EXPECT_EQ(watch.rest(kStart + 9s), 0s);
  watch.stalled(kStart + 9s, 1);
  EXPECT_EQ(watch.rest(kStart + 9s), 5s);
}

TEST(StallWatch, TheLargestLimitNeverStalls) {
  StallWatch watch(std::chrono::nanoseconds::max(), kStart, 0);
  EXPECT_FALSE(watch.stalled(kStart + std::chrono::hours(24 * 365), 0));
}

}  // namespace
}  // namespace nuna::cluster
