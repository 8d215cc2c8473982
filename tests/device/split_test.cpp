#include "device/host/split.hpp"

#include <gtest/gtest.h>

#include <random>

namespace nuna::device::host {
namespace {

TEST(PartOf, PartsFollowEachOtherAndDifferByOneAtMost) {
  for (Index size = 0; size < 40; ++size) {
    for (int parts = 1; parts <= 8; ++parts) {
      Index at = -3;
      for (int p = 0; p < parts; ++p) {
        const Interval part = part_of({-3, size - 3}, p, parts);
        EXPECT_EQ(part.begin, at);
        EXPECT_GE(part.size(), size / parts);
        EXPECT_LE(part.size(), (size + parts - 1) / parts);
        at = part.end;
      }
      EXPECT_EQ(at, size - 3);
    }
  }
}

TEST(PartOf, DoesNotOverflow) {
  const Index huge = Index{1} << 62;
  EXPECT_EQ(part_of({0, huge}, 3, 4), (Interval{huge / 4 * 3, huge}));
}

TEST(KernelSplit, CutsTheSlowestAxisThatIsLongEnough) {
  EXPECT_EQ(KernelSplit(Box{{0, 100}, {0, 1000}}, 4).axis(), 0);
  EXPECT_EQ(KernelSplit(Box{{0, 1001}, {0, 1000}}, 4).axis(), 0);
  EXPECT_EQ(KernelSplit(Box{{0, 2}, {0, 1000}}, 4).axis(), 1);
  EXPECT_EQ(KernelSplit(Box{{0, 1}, {0, 1}, {0, 64}}, 4).axis(), 2);
}

TEST(KernelSplit, PrefersAnEvenCutToAnUnevenSlowerOne) {
  const KernelSplit split(Box{{0, 5}, {0, 64}},
                          4);  // 2 + 1 + 1 + 1 rows would keep the team busy 5/8 of the time
  EXPECT_EQ(split.axis(), 1);
  EXPECT_EQ(split.parts(), 4);
}

TEST(KernelSplit, TakesTheBestOfBadAxes) {
  const KernelSplit split(Box{{0, 2}, {0, 3}, {0, 1}}, 8);
  EXPECT_EQ(split.axis(), 1);
  EXPECT_EQ(split.parts(), 3);
}

TEST(KernelSplit, AnEmptyBoxHasNoParts) {
  EXPECT_EQ(KernelSplit(Box{{0, 0}}, 4).parts(), 0);
  EXPECT_EQ(KernelSplit(Box{{0, 5}, {3, 3}}, 4).parts(), 0);
}

TEST(KernelSplit, ATeamOfOneGetsTheWholeBox) {
  const Box box{{4, 9}, {1, 3}};
  const KernelSplit split(box, 1);
  EXPECT_EQ(split.parts(), 1);
  EXPECT_EQ(split.part(0), box);
  EXPECT_EQ(split.part(0).dims, 2);
}

TEST(KernelSplit, PartsAreDisjointAndCoverTheBox) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Box box{{0, 1}, {0, 1}, {0, 1}};
    for (int a = 0; a < 3; ++a) {
      const auto begin = static_cast<Index>(random() % 9);
      box[a] = {begin, begin + 1 + static_cast<Index>(random() % 12)};
    }
    const KernelSplit split(box, 1 + static_cast<int>(random() % 6));
    ASSERT_GE(split.parts(), 1);
    Index covered = 0;
    for (int p = 0; p < split.parts(); ++p) {
      ASSERT_FALSE(split.part(p).empty());
      ASSERT_TRUE(box.contains(split.part(p)));
      covered += split.part(p).count();
      for (int q = 0; q < p; ++q) ASSERT_TRUE(split.part(p).intersect(split.part(q)).empty());
    }
    ASSERT_EQ(covered, box.count());
  }
}

detail::BlockGrid grid(std::array<Index, kMaxDims> origin, std::array<Index, kMaxDims> size) {
  return {origin, size};
}

TEST(KernelSplit, OfBlocksCutsOnlyBetweenThem) {
  const KernelSplit split(Box{{5, 60}, {0, 10}}, 3,
                          grid({2, 0, 0}, {16, 10, 1}));  // 4 blocks, of 13 to 16 rows
  EXPECT_EQ(split.axis(), 0);
  ASSERT_EQ(split.parts(), 3);
  EXPECT_EQ(split.part(0), (Box{{5, 34}, {0, 10}}));
  EXPECT_EQ(split.part(1), (Box{{34, 50}, {0, 10}}));
  EXPECT_EQ(split.part(2), (Box{{50, 60}, {0, 10}}));
}

TEST(KernelSplit, OfOneBlockIsOnePart) {
  const KernelSplit split(Box{{3, 16}, {1, 9}}, 4, grid({0, 0, 0}, {16, 16, 1}));
  EXPECT_EQ(split.parts(), 1);
  EXPECT_EQ(split.part(0), (Box{{3, 16}, {1, 9}}));
}

TEST(KernelSplit, OfBlocksCountsBlocksNotThreads) {
  // 100 rows are 2 blocks, too few for a team of 4; 40 columns are 5.
  EXPECT_EQ(KernelSplit(Box{{0, 100}, {0, 40}}, 4, grid({0, 0, 0}, {64, 8, 1})).axis(), 1);
}

TEST(KernelSplit, PartsOfBlocksAreWholeDisjointAndCoverTheBox) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Box box{{0, 1}, {0, 1}, {0, 1}};
    detail::BlockGrid blocks;
    for (std::size_t a = 0; a < 3; ++a) {
      blocks.origin[a] = static_cast<Index>(random() % 9) - 4;
      blocks.size[a] = 1 + static_cast<Index>(random() % 5);
      const Index begin = blocks.origin[a] + static_cast<Index>(random() % 9);
      box.axis[a] = {begin, begin + 1 + static_cast<Index>(random() % 20)};
    }
    const KernelSplit split(box, 1 + static_cast<int>(random() % 6), blocks);
    const int a = split.axis();
    const auto axis = static_cast<std::size_t>(a);
    Index at = box[a].begin;
    for (int p = 0; p < split.parts(); ++p) {
      const Box part = split.part(p);
      ASSERT_FALSE(part.empty());
      ASSERT_EQ(part[a].begin, at);
      ASSERT_TRUE(at == box[a].begin || (at - blocks.origin[axis]) % blocks.size[axis] == 0);
      at = part[a].end;
    }
    ASSERT_EQ(at, box[a].end);
  }
}

}  // namespace
}  // namespace nuna::device::host
