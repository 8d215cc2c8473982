#include "base/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/check.hpp"

namespace nuna::base {
namespace {

constexpr std::array<std::string_view, 3> kKnown = {"memory", "latency", "bandwidth"};

TEST(Nearest, IsTheKnownNameWithTheFewestEdits) {
  EXPECT_EQ(nearest("bandwith", kKnown), "bandwidth");
  EXPECT_EQ(nearest("latncy", kKnown), "latency");
  EXPECT_EQ(nearest("memory", kKnown), "memory");
  EXPECT_EQ(nearest("memories", kKnown), "memory");
}

TEST(Nearest, OfEquallyNearNamesIsTheFirst) {
  constexpr std::array<std::string_view, 2> kTwo = {"ab", "ac"};
  EXPECT_EQ(nearest("ad", kTwo), "ab");
}

TEST(Nearest, NeedsANameToKnow) {
  const ThrowOnPanic throwing;
  EXPECT_THROW(nearest("a", {}), BrokenInvariant);
}

}  // namespace
}  // namespace nuna::base
