#include "cluster/history.hpp"

#include <gtest/gtest.h>

namespace nuna::cluster {
namespace {

History history(std::initializer_list<Called> calls) {
  History h;
  for (const Called& c : calls) h.note(c);
  return h;
}

TEST(History, RemembersTheLatestCalls) {
  History h;
  for (std::uint64_t s = 1; s <= 300; ++s) h.note({s, s * s, "call " + std::to_string(s)});
  h.note({300, 1, "the same again"});
  EXPECT_EQ(h.calls().size(), History::kMost);
  EXPECT_EQ(h.find(300)->call, "call 300");
  EXPECT_EQ(h.find(45)->hash, 45U * 45U);
  EXPECT_EQ(h.find(44), nullptr);
  EXPECT_EQ(h.find(301), nullptr);
}

TEST(FirstDifference, IsTheFirstCallWithAnotherHashWhereverTheRanksAreNow) {
  const History a = history({{1, 10, "a"}, {2, 20, "b"}, {3, 30, "c"}});
  const History b = history({{1, 10, "a"}, {2, 21, "x"}, {3, 31, "c"}, {4, 41, "d"}});
  const auto found = first_difference(a, b);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mine.call, "b");
  EXPECT_EQ(found->theirs.call, "x");
  EXPECT_EQ(
      to_string(*found, 0, 1),
      "rank 0 made b (call 2) where rank 1 made x: let every rank make the same calls in the same order");
}

TEST(FirstDifference, IsNoneForARankThatIsOnlyLate) {
  const History a = history({{1, 10, "a"}, {2, 20, "b"}});
  EXPECT_FALSE(first_difference(a, history({{1, 10, "a"}})));
  EXPECT_FALSE(first_difference(a, History{}));
  EXPECT_FALSE(first_difference(a, a));
}

TEST(FirstDifference, OfTheSameCallWithOtherArgumentsSaysSo) {
  const auto found =
      first_difference(history({{5, 1, "fill at a.cpp:1"}}), history({{5, 2, "fill at a.cpp:1"}}));
  ASSERT_TRUE(found);
  EXPECT_NE(to_string(*found, 1, 0).find("with other arguments"), std::string::npos);
}

}  // namespace
}  // namespace nuna::cluster
