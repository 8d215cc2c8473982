#include "base/box_index.hpp"

#include <gtest/gtest.h>

#include <random>

namespace nuna::base {
namespace {

ByteBox random_box(std::mt19937& random) {
  ByteBox box;
  for (int axis = 0; axis < 4; ++axis) {
    const Index begin = static_cast<Index>(random() % 20);
    box[axis] = {begin, begin + static_cast<Index>(random() % 6)};
  }
  return box;
}

TEST(BoxIndex, FindsWhatALookAtEveryBoxFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BoxIndex<int>::Entry> boxes;
    for (int i = 0; i < round % 40; ++i) boxes.push_back({random_box(random), i});
    const BoxIndex<int> index(boxes);
    for (int q = 0; q < 10; ++q) {
      const ByteBox region = random_box(random);
      std::vector<int> expected;
      for (const auto& b : boxes) {
        if (b.box.overlaps(region)) expected.push_back(b.value);
      }
      std::vector<int> found;
      index.for_each_meeting(region, [&](const ByteBox& box, int value) {
        EXPECT_EQ(box, boxes[static_cast<std::size_t>(value)].box);
        found.push_back(value);
      });
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(BoxIndex, KnowsWhatLiesOutside) {
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    std::vector<BoxIndex<int>::Entry> entries;
    for (int i = 0; i < round % 30; ++i) entries.push_back({random_box(random), i});
    const ByteBox region = random_box(random);
    BoxList left{region};
    for (const auto& e : entries) subtract(left, e.box);
    BoxList outside;
    BoxIndex<int>(entries).append_outside(region, outside);
    const auto bytes_of = [](const BoxList& boxes) {
      Index bytes = 0;
      for (const ByteBox& b : boxes) bytes += b.bytes();
      return bytes;
    };
    EXPECT_EQ(bytes_of(outside), bytes_of(left)) << "disjoint";
    for (const ByteBox& piece : outside) subtract(left, piece);
    EXPECT_TRUE(left.empty() || bytes_of(left) == 0);
  }
}

TEST(BoxIndex, KnowsItsBoundsAndBytes) {
  const BoxIndex<int> index({{{{Interval{8, 10}, Interval{0, 1}, Interval{0, 1}, Interval{0, 4}}}, 1},
                             {{{Interval{2, 3}, Interval{0, 1}, Interval{0, 1}, Interval{0, 4}}}, 2}});
  EXPECT_EQ(index.bytes(), 12);
  EXPECT_EQ(index.bounds()[0], (Interval{2, 10}));
  EXPECT_EQ(index.entries().front().value, 2);
  EXPECT_EQ(BoxIndex<int>().size(), 0U);
}

}  // namespace
}  // namespace nuna::base
