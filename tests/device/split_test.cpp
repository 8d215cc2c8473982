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

}  // namespace
}  // namespace nuna::device::host
