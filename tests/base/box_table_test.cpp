#include "base/box_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace nuna::base {
namespace {

ByteBox random_box(std::mt19937& random) {
  ByteBox box;
  for (int axis = 0; axis < 4; ++axis) {
    const Index begin = static_cast<Index>(random() % 60) - 30;
    const unsigned longest = random() % 10 == 0 ? 50 : 6;
    box[axis] = {begin, begin + 1 + static_cast<Index>(random() % longest)};
  }
  return box;
}

TEST(BoxTable, FindsAndErasesWhatALookAtEveryBoxDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    BoxTable<int> table;
    std::vector<std::pair<ByteBox, int>> expected;
    const auto values = [](std::vector<int> found) {
      std::sort(found.begin(), found.end());
      return found;
    };
    for (int step = 0; step < 5 * round; ++step) {
      const ByteBox box = random_box(random);
      if (random() % 4 != 0) {
        table.insert(box, step);
        expected.emplace_back(box, step);
        continue;
      }
      std::vector<int> found;
      table.for_each_meeting(box, [&](const ByteBox&, int value) { found.push_back(value); });
      std::vector<int> meeting;
      for (const auto& [b, value] : expected) {
        if (b.overlaps(box)) meeting.push_back(value);
      }
      ASSERT_EQ(values(found), meeting);
      const bool odd = random() % 2 != 0;
      const auto gone = [odd](int value) { return (value % 2 != 0) == odd; };
      table.erase_meeting_if(box, [&](const ByteBox&, int value) { return gone(value); });
      std::erase_if(expected, [&](const auto& e) { return e.first.overlaps(box) && gone(e.second); });
      if (random() % 8 != 0) continue;
      table.erase_if([](const ByteBox&, int value) { return value % 3 == 0; });
      std::erase_if(expected, [](const auto& e) { return e.second % 3 == 0; });
    }
    std::vector<int> all;
    table.for_each([&](const ByteBox&, int value) { all.push_back(value); });
    std::vector<int> left;
    for (const auto& [b, value] : expected) left.push_back(value);
    ASSERT_EQ(values(all), left);
  }
}

TEST(BoxTable, ReplacesTheValueOfABoxThatIsThere) {
  BoxTable<int> table;
  const auto rows = [](Index begin, Index end) {
    return ByteBox{{Interval{begin, end}, {0, 1}, {0, 1}, {0, 1}}};
  };
  const auto odd = [](int value) { return value % 2 != 0; };
  for (int i = 0; i < 100; ++i) table.insert(rows(i, i + 3), i);
  EXPECT_FALSE(table.replace(rows(7, 9), odd, 0)) << "another box";
  EXPECT_FALSE(table.replace(rows(8, 11), odd, 0)) << "another value";
  EXPECT_TRUE(table.replace(rows(7, 10), odd, 1000));
  std::vector<int> found;
  table.for_each_meeting(rows(9, 10), [&](const ByteBox&, int value) { found.push_back(value); });
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<int>{8, 9, 1000}));
}

TEST(BoxTable, ALongBoxDoesNotMakeAllOthersBeLookedAt) {
  BoxTable<int> table;
  constexpr Index kMany = 10'000;
  const auto rows = [](Index begin, Index end) {
    return ByteBox{{Interval{begin, end}, {0, 1}, {0, 1}, {0, 1}}};
  };
  table.insert(rows(0, 10 * kMany), -1);
  for (Index i = 0; i < kMany; ++i) table.insert(rows(10 * i, 10 * i + 5), static_cast<int>(i));
  const std::uint64_t before = table.looked_at();
  for (Index i = 0; i < kMany; ++i)
    table.for_each_meeting(rows(10 * i, 10 * i + 10), [](const ByteBox&, int) {});
  EXPECT_LE(table.looked_at() - before, 4u * kMany);
}

}  // namespace
}  // namespace nuna::base
