#ifdef NUNA_WITH_MPI

#include "cluster/mpi/clock_bounds.hpp"

#include <gtest/gtest.h>

namespace nuna::cluster::mpi {
namespace {

TEST(ClockBounds, OfOneClockAreExactlyZeroHoweverSlowTheAnswers) {
  ClockBounds bounds;
  bounds.add(1'000, 1'001, 900'000);
  bounds.add(2'000'000, 2'899'999, 2'900'000);
  EXPECT_EQ(bounds.ahead_ns(), 0);
}

TEST(ClockBounds, OfTwoClocksAreNarrowedByEveryRound) {
  constexpr std::int64_t kAhead = 5'000'000'000;
  ClockBounds bounds;
  bounds.add(1'000, kAhead + 1'100, 9'000);     // the question took 100 ns: at most kAhead + 100
  bounds.add(20'000, kAhead + 28'940, 29'000);  // the answer took 60 ns: at least kAhead - 60
  EXPECT_EQ(bounds.ahead_ns(), kAhead + 20);
}

TEST(ClockBounds, HoldForAClockThatIsBehind) {
  ClockBounds bounds;
  bounds.add(10'000, -50'000, 10'200);
  EXPECT_EQ(bounds.ahead_ns(), -60'100);
}

}  // namespace
}  // namespace nuna::cluster::mpi

#endif
