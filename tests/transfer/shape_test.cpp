#include "transfer/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace nuna::transfer {
namespace {

using base::ByteBox;

ByteBox box(Interval i, Interval j, Interval k) { return {{i, j, k, Interval{0, 4}}}; }

TEST(Transfers, OfPiecesThatTouchBecomeOne) {
  const auto pieces =
      merged_and_cut({box({0, 1}, {0, 8}, {0, 8}), box({2, 4}, {0, 8}, {0, 8}), box({1, 2}, {0, 8}, {0, 8})});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0], box({0, 4}, {0, 8}, {0, 8}));
}

TEST(Transfers, AboveTheLimitAreCutAlongTheOutermostAxis) {
  const auto pieces = merged_and_cut({box({0, 10}, {0, 8}, {0, 8})}, 3 * 8 * 8 * 4);
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[0], box({0, 3}, {0, 8}, {0, 8}));
  EXPECT_EQ(pieces[3], box({9, 10}, {0, 8}, {0, 8}));
}

TEST(Transfers, KeepEveryByteOnceAndStayBelowTheLimit) {
  std::mt19937 random(5);
  const auto upto = [&](int n) { return Index{std::uniform_int_distribution<int>(1, n)(random)}; };
  for (int round = 0; round < 300; ++round) {
    const ByteBox whole = box({0, upto(9)}, {0, upto(9)}, {0, upto(9)});
    const Index limit = upto(400);
    const auto pieces = merged_and_cut({whole}, limit);
    Index bytes = 0;
    for (std::size_t a = 0; a < pieces.size(); ++a) {
      bytes += pieces[a].bytes();
      EXPECT_TRUE(whole.contains(pieces[a]));
      EXPECT_TRUE(pieces[a].bytes() <= limit || pieces[a].bytes() == 4);
      for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(pieces[a].overlaps(pieces[b]));
    }
    EXPECT_EQ(bytes, whole.bytes());
  }
}

}  // namespace
}  // namespace nuna::transfer
