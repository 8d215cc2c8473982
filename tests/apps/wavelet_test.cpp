#include "stencil/wavelet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stencil {
namespace {

TEST(Ricker, IsOneAtItsPeakAndSymmetric) {
  EXPECT_DOUBLE_EQ(ricker(20, 0), 1.0);
  EXPECT_DOUBLE_EQ(ricker(20, 0.013), ricker(20, -0.013));
}

TEST(Ricker, CrossesZeroWhereItsFormulaSays) {
  const double zero = 1.0 / (std::numbers::pi * 20 * std::numbers::sqrt2);
  EXPECT_NEAR(ricker(20, zero), 0.0, 1e-12);
  EXPECT_LT(ricker(20, zero * 1.01), 0.0);
}

TEST(Ricker, HasNoMean) {
  double sum = 0;
  for (int i = -1000; i <= 1000; ++i) sum += ricker(20, i * 1e-4) * 1e-4;
  EXPECT_NEAR(sum, 0.0, 1e-9);
}

TEST(RickerSamples, StartAtNothingAndPeakAfterTheDelay) {
  const std::vector<float> samples = ricker_samples(15, 1e-3, 400);
  ASSERT_EQ(samples.size(), 400u);
  EXPECT_LT(std::fabs(samples[0]), 1e-7f);
  const auto peak = std::max_element(samples.begin(), samples.end()) - samples.begin();
  EXPECT_NEAR(double(peak) * 1e-3, ricker_delay_s(15), 1e-3);
}

}  // namespace
}  // namespace stencil
