#include "stencil/wavelet.hpp"

#include <cmath>
#include <numbers>

namespace stencil {

double ricker(double frequency_hz, double time_s) {
  const double phase = std::numbers::pi * frequency_hz * time_s;
  return (1.0 - 2.0 * phase * phase) * std::exp(-phase * phase);
}

double ricker_delay_s(double frequency_hz) { return 1.5 / frequency_hz; }

std::vector<float> ricker_samples(double frequency_hz, double step_s, std::int64_t steps) {
  std::vector<float> samples;
  samples.reserve(static_cast<std::size_t>(steps));
  for (std::int64_t s = 0; s < steps; ++s) {
    samples.push_back(
        static_cast<float>(ricker(frequency_hz, double(s) * step_s - ricker_delay_s(frequency_hz))));
  }
  return samples;
}

}  // namespace stencil
