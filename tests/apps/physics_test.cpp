// Does the scheme solve the wave equation? Arrival times, symmetry, absorption, on the serial reference; that
// Nuna gives the same bits is the business of other tests.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "stencil/experiment.hpp"
#include "stencil/reference.hpp"
#include "stencil/wavelet.hpp"

namespace stencil {
namespace {

// What a line source sounds like far away: the wavelet folded with 1 / sqrt(t) (the far field of the
// two-dimensional Green's function H(t - r/v) / sqrt(t^2 - r^2/v^2)). Its peak comes this long after the
// start, if the path were nothing.
double line_source_peak_s(double frequency_hz) {
  constexpr double kStep_s = 1e-5;
  const double delay_s = ricker_delay_s(frequency_hz);
  double best = 0;
  double best_s = 0;
  for (double t = 0; t < 2 * delay_s; t += 20 * kStep_s) {
    double sum = 0;  // of wavelet(t - u^2) du, u = sqrt(age): no singularity is left
    const double last = std::sqrt(t);
    for (double u = 0; u < last; u += last / 2000)
      sum += ricker(frequency_hz, t - u * u - delay_s) * (last / 2000);
    if (std::fabs(sum) > best) {
      best = std::fabs(sum);
      best_s = t;
    }
  }
  return best_s;
}

// The peak of a trace, between samples by a parabola.
double peak_s(const float* trace, std::int64_t steps, double step_s) {
  std::int64_t at = 1;
  for (std::int64_t s = 1; s + 1 < steps; ++s) {
    if (std::fabs(trace[s]) > std::fabs(trace[at])) at = s;
  }
  const double a = std::fabs(trace[at - 1]);
  const double b = std::fabs(trace[at]);
  const double c = std::fabs(trace[at + 1]);
  const double shift = 0.5 * (a - c) / (a - 2 * b + c);
  return (double(at + 1) + shift) * step_s;  // sample s is the field after step s, at time (s + 1) * step
}

TEST(FirstArrival, IsWithinOnePercentOfDistanceOverVelocityAtThreeReceivers) {
  const VelocityModel model = constant_velocity({360, 160, 0}, 10, 5, 2000);
  const Experiment e = make_experiment(
      model, {.frequency_hz = 15, .source_x = 60, .source_z = 80, .receiver_z = 80, .duration_s = 1.6});
  const Fields fields = run_reference(e);
  for (const std::int64_t receiver : {160, 220, 280}) {
    const double expected_s = double(receiver - e.source_x) * 10 / 2000;
    const double arrival_s = peak_s(&fields.traces[std::size_t(receiver * e.steps)], e.steps, e.step_s) -
                             line_source_peak_s(e.frequency_hz);
    EXPECT_NEAR(arrival_s / expected_s, 1.0, 0.01) << "receiver " << receiver << ": " << arrival_s << " s";
  }
}

// Three dimensions: the pulse keeps its shape, u = w(t - r/v) / r, so the arrival is that of the wavelet's
// own peak.
TEST(FirstArrival, OfAPointSourceIsThatOfTheWavelet) {
  const VelocityModel model = constant_velocity({100, 60, 60}, 10, 9, 2000);
  const Experiment e = make_experiment(
      model, {.frequency_hz = 18, .source_x = 20, .source_z = 30, .receiver_z = 30, .duration_s = 0.45});
  const Fields fields = run_reference(e);
  for (const std::int64_t receiver : {50, 60, 70}) {
    const double expected_s = double(receiver - 20) * 10 / 2000;
    const double arrival_s =
        peak_s(&fields.traces[std::size_t(receiver * e.steps)], e.steps, e.step_s) - e.source_delay_s;
    EXPECT_NEAR(arrival_s / expected_s, 1.0, 0.01) << "receiver " << receiver;
  }
}

TEST(Wave, IsTheSameInAllPlanesOfAnExtrudedModelAndSymmetricAboutItsSource) {
  const Experiment e =
      make_experiment(constant_velocity({81, 61, 0}, 10, 7, 2500), {.steps = 150, .source_z = 30});
  const Fields fields = run_reference(e);
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return fields.now[std::size_t((x * e.ny + y) * e.nz + z)];
  };
  EXPECT_NE(at(30, 0, 30), 0.0f);
  for (std::int64_t x = 0; x < e.nx; ++x) {
    for (std::int64_t z = 0; z < e.nz; ++z) {
      for (std::int64_t y = 1; y < e.ny; ++y) ASSERT_EQ(at(x, y, z), at(x, 0, z));
      ASSERT_EQ(at(x, 0, z), at(e.nx - 1 - x, 0, z));
      ASSERT_EQ(at(x, 0, z), at(x, 0, e.nz - 1 - z));
    }
  }
}

double largest_after(std::int64_t sponge) {
  const Experiment e =
      make_experiment(constant_velocity({200, 200, 0}, 10, 5, 2500),
                      {.frequency_hz = 15, .sponge = sponge, .source_z = 100, .duration_s = 1.2});
  double largest = 0;
  for (const float v : run_reference(e).now) largest = std::fmax(largest, std::fabs(double(v)));
  return largest;
}

TEST(Sponge, LeavesLittleOfAWaveThatHasReachedTheFaces) {
  EXPECT_LT(largest_after(40), 0.1 * largest_after(0));
}

}  // namespace
}  // namespace stencil
