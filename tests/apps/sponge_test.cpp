#include "stencil/sponge.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "nuna/error.hpp"

namespace stencil {
namespace {

TEST(Sponge, IsOneInsideSymmetricAndFallsTowardsTheFaces) {
  const std::vector<float> factors = sponge_factors(100, 20);
  ASSERT_EQ(factors.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(factors[i], factors[99 - i]);
    if (i >= 20 && i < 80) {
      EXPECT_EQ(factors[i], 1.0f);
    }
  }
  for (std::size_t i = 1; i <= 20; ++i) EXPECT_LT(factors[i - 1], factors[i]);
  EXPECT_GT(factors[0], 0.8f);
}

TEST(Sponge, OfNoWidthDampsNothing) {
  for (const float f : sponge_factors(7, 0)) EXPECT_EQ(f, 1.0f);
}

TEST(Sponge, ThatFillsTheModelIsRefused) {
  EXPECT_NO_THROW(sponge_factors(11, 5));
  EXPECT_THROW(sponge_factors(10, 5), nuna::Error);
  EXPECT_THROW(sponge_factors(10, -1), nuna::Error);
}

TEST(DefaultSponge, FitsEveryAxis) {
  for (std::int64_t points = 1; points < 500; ++points)
    EXPECT_NO_THROW(sponge_factors(points, default_sponge(points)));
  EXPECT_EQ(default_sponge(1601), 40);
}

}  // namespace
}  // namespace stencil
