#include "schedule/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "nuna/error.hpp"

namespace nuna::schedule {
namespace {

using access::Cut;
using access::Team;

ErrorCode refused(const Domain& domain, const Extents& block, const Team& team) {
  try {
    cut(domain, block, team, "launch 'test'");
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::StartsWith("launch 'test': "));
    return e.code();
  }
  ADD_FAILURE() << "the cut was not refused";
  return ErrorCode::unsupported;
}

TEST(Cut, CoversEveryThreadExactlyOnceWhateverTheShape) {
  std::mt19937 random(1);
  const auto upto = [&](int n) { return std::uniform_int_distribution<int>(1, n)(random); };
  for (int round = 0; round < 500; ++round) {
    const int dims = upto(3);
    Extents frame;
    frame.dims = dims;
    Extents block{1, 1, 1};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dims); ++a) {
      frame.size[a] = upto(12);
      block.size[a] = upto(4);
    }
    Box box(frame);
    for (int a = 0; a < dims; ++a) {
      box[a].begin = upto(static_cast<int>(frame[a])) - 1;
      box[a].end = box[a].begin + upto(static_cast<int>(frame[a] - box[a].begin));
    }
    const Team team{upto(4), upto(4)};
    const Cut c = cut(Domain(box).within(frame), block, team, "launch");
    ASSERT_EQ(c.parts(), team.parts());
    Index threads = 0;
    for (int p = 0; p < c.parts(); ++p) {
      threads += c.threads(p).count();
      EXPECT_TRUE(box.contains(c.threads(p)));
      for (int q = 0; q < p; ++q) EXPECT_TRUE(c.threads(p).intersect(c.threads(q)).empty());
    }
    EXPECT_EQ(threads, box.count());
  }
}

TEST(Cut, GivesPartsToRanksInContiguousRuns) {
  const Cut c = cut(Domain({120, 10}), {1, 1}, {3, 2}, "launch");
  EXPECT_EQ(c.rank_of(0).value, 0);
  EXPECT_EQ(c.rank_of(1).value, 0);
  EXPECT_EQ(c.rank_of(2).value, 1);
  EXPECT_EQ(c.slot_of(3), 1);
  EXPECT_EQ(c.parts_of({2}), (access::Range{4, 6}));
  EXPECT_EQ(c.threads(5), (Box{{100, 120}, {0, 10}}));
}

TEST(Cut, FallsBetweenBlocks) {
  const Cut c = cut(Domain({100, 10}), {16, 1}, {1, 3}, "launch");
  EXPECT_EQ(c.threads(0)[0], (Interval{0, 48}));
  EXPECT_EQ(c.threads(1)[0], (Interval{48, 80}));
  EXPECT_EQ(c.threads(2)[0], (Interval{80, 100}));
}

TEST(Cut, DividesTheFrameAndClipsToTheDomain) {
  const Cut c = cut(Domain(Box{{0, 10}}).within({100}), {1}, {1, 4}, "launch");
  EXPECT_EQ(c.threads(0).count(), 10);
  EXPECT_TRUE(c.threads(1).empty());
}

TEST(Cut, FollowsWeights) {
  const Cut c = cut(Domain({100}).parts(3).weights(0, {1, 2, 1}), {1}, {3, 1}, "launch");
  EXPECT_EQ(c.threads(0).count(), 25);
  EXPECT_EQ(c.threads(1).count(), 50);
  EXPECT_EQ(c.threads(2).count(), 25);
}

TEST(Cut, GivesEveryPartABlockHoweverSmallItsWeight) {
  const Cut c = cut(Domain({4}).parts(4).weights(0, {1e-9, 1, 1e9, 1e-9}), {1}, {4, 1}, "launch");
  for (int p = 0; p < 4; ++p) EXPECT_EQ(c.threads(p).count(), 1);
}

TEST(Cut, UsesSeveralAxesWhenNoneHasEnoughBlocks) {
  const Cut c = cut(Domain({4, 4}), {1, 1}, {4, 2}, "launch");
  for (int p = 0; p < 8; ++p) EXPECT_EQ(c.threads(p).count(), 2);
}

TEST(Domain, RefusesAxesAndPartsThatCannotBe) {
  EXPECT_THROW(Domain({9}).parts(0, 4), Error);
  EXPECT_THROW(Domain({9}).along(-2), Error);
  EXPECT_THROW(Domain({9}).weights(3, {1, 2}), Error);
  EXPECT_THROW(Domain({9}).weights(-1, {1, 2}), Error);
}

TEST(Cut, RefusesWhatItCannotDo) {
  const Team four{2, 2};
  EXPECT_EQ(refused(Domain({100}).parts(3), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({100}).parts(2, 2), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({3, 9}).parts(4), {1, 1}, four), ErrorCode::too_few_blocks);
  EXPECT_EQ(refused(Domain({3, 9}).along(0), {1, 1}, four), ErrorCode::too_few_blocks);
  EXPECT_EQ(refused(Domain({std::numeric_limits<Index>::max()}), {4}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({9}).along(1), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({9}).parts(4).weights(0, {1, 1}), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({9}).parts(4).weights(0, {1, 1, -1, 1}), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({0}), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain({9, 9, 9, 9}), {1}, four), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Domain(Box{{5, 12}}).within({10}), {1}, four), ErrorCode::out_of_bounds);
  EXPECT_EQ(refused(Domain(Box{{5, 6}}).within({10, 10}), {1}, four), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace nuna::schedule
