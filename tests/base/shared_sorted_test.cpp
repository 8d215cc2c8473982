#include "base/shared_sorted.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <random>
#include <set>

namespace nuna::base {
namespace {

using Numbers = SharedSorted<int, std::less<>>;

void insert_or_erase(Numbers& numbers, std::set<int>& expected, int number) {
  if (expected.erase(number) > 0) {
    numbers.erase(numbers.lower_bound(number));
  } else {
    numbers.insert(number);
    expected.insert(number);
  }
}

TEST(SharedSorted, HoldsWhatASetHoldsAndCopiesStayAsTheyWere) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    Numbers numbers;
    std::set<int> expected;
    Numbers before;
    std::set<int> expected_before;
    const int most = 1 + round * 10;
    for (int i = 0; i < 6 * most; ++i) {
      if (random() % 50 == 0) before = numbers, expected_before = expected;
      insert_or_erase(numbers, expected, static_cast<int>(random() % static_cast<unsigned>(most)));
    }
    ASSERT_EQ(numbers.size(), expected.size());
    ASSERT_TRUE(std::equal(numbers.begin(), numbers.end(), expected.begin(), expected.end()));
    ASSERT_TRUE(std::equal(before.begin(), before.end(), expected_before.begin(), expected_before.end()));
    for (int number = -1; number <= most; ++number) {
      const auto found = numbers.lower_bound(number);
      const auto sought = expected.lower_bound(number);
      ASSERT_EQ(found == numbers.end(), sought == expected.end());
      if (sought != expected.end()) {
        ASSERT_EQ(*found, *sought);
      }
      if (sought != expected.begin()) {
        ASSERT_EQ(*std::prev(found), *std::prev(sought));
      }
    }
  }
}

TEST(SharedSorted, EqualValuesAreEqualAndHashAlikeHoweverTheyCameAbout) {
  Numbers up;
  Numbers down;
  for (int i = 0; i < 1000; ++i) up.insert(i);
  for (int i = 1999; i >= 0; --i) down.insert(i);
  EXPECT_NE(up, down);
  for (int i = 1000; i < 2000; ++i) down.erase(down.lower_bound(i));
  EXPECT_EQ(up, down);
  EXPECT_EQ(absl::HashOf(up), absl::HashOf(down));
  down.erase(down.begin());
  down.insert(5000);
  EXPECT_NE(up, down);
}

TEST(SharedSorted, ACopyOfManyValuesTakesLittleMemoryOfItsOwn) {
  Numbers many;
  for (int i = 0; i < 100'000; ++i) many.insert(i);
  EXPECT_LT(many.weight(), 5000u);
}

}  // namespace
}  // namespace nuna::base
