#include "byte_set.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nuna::cudart {
namespace {

using Ranges = std::vector<Interval>;

TEST(ByteSet, HoldsWhatWasAddedAndNothingElse) {
  ByteSet set;
  set.add({4, 8});
  set.add({60, 70});  // over the end of a word
  set.add({4090, 8200});
  EXPECT_TRUE(set.holds({4, 8}));
  EXPECT_TRUE(set.holds({61, 69}));
  EXPECT_TRUE(set.holds({4090, 8200}));
  EXPECT_FALSE(set.holds({3, 5}));
  EXPECT_FALSE(set.holds({60, 71}));
  EXPECT_FALSE(set.holds({8199, 8201}));
  EXPECT_FALSE(set.holds({1'000'000, 1'000'004}));
  EXPECT_EQ(set.ranges(), (Ranges{{4, 8}, {60, 70}, {4090, 8200}}));
}

TEST(ByteSet, IsEmptyWhenNew) {
  EXPECT_TRUE(ByteSet().empty());
  EXPECT_FALSE(ByteSet().holds({0, 1}));
  EXPECT_EQ(ByteSet().ranges(), Ranges());
}

TEST(ByteSet, FindsTheFirstByteThatAnotherHasToo) {
  ByteSet a;
  ByteSet b;
  a.add({5000, 5004});
  b.add({5004, 9000});
  EXPECT_FALSE(a.first_common(b));
  b.add({5003, 5004});
  EXPECT_EQ(a.first_common(b), 5003);
  EXPECT_EQ(b.first_common(a), 5003);
}

TEST(ByteSet, IsEqualWhateverTheOrderInWhichBytesCame) {
  ByteSet a;
  ByteSet b;
  a.add({0, 4});
  a.add({9000, 9008});
  b.add({9004, 9008});
  EXPECT_FALSE(a == b);
  b.add({9000, 9004});
  b.add({0, 4});
  EXPECT_TRUE(a == b);
  b.add({20'000, 20'001});
  EXPECT_FALSE(a == b);
}

TEST(ByteSet, AgreesWithASetOfNumbers) {
  ByteSet set;
  std::set<Index> bytes;
  std::uint32_t random = 1;
  const auto next = [&random](std::uint32_t most) {
    return (random = random * 1664525u + 1013904223u) % most;
  };
  for (int i = 0; i < 300; ++i) {
    const Index begin = next(20'000);
    const Index end = begin + 1 + next(90);
    set.add({begin, end});
    for (Index b = begin; b < end; ++b) bytes.insert(b);
  }
  for (int i = 0; i < 3000; ++i) {
    const Index begin = next(20'000);
    const Index end = begin + 1 + next(130);
    bool all = true;
    for (Index b = begin; b < end; ++b) all = all && bytes.count(b) != 0;
    ASSERT_EQ(set.holds({begin, end}), all) << begin << " " << end;
  }
  std::size_t count = 0;
  for (const Interval range : set.ranges()) count += static_cast<std::size_t>(range.size());
  EXPECT_EQ(count, bytes.size());
}

}  // namespace
}  // namespace nuna::cudart
