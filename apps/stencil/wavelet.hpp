#pragma once
// The source's signal.

#include <cstdint>
#include <vector>

namespace stencil {

/// The Ricker wavelet of peak frequency `frequency_hz`, `time_s` after its greatest value: the second
/// derivative of a Gaussian, (1 - 2a) exp(-a) with a = (pi f t)^2. Ricker, Geophysics 18 (1953).
double ricker(double frequency_hz, double time_s);

/// From the start of a run to the wavelet's greatest value: long enough for it to begin at nothing (1e-8).
double ricker_delay_s(double frequency_hz);

/// The delayed wavelet at each step.
std::vector<float> ricker_samples(double frequency_hz, double step_s, std::int64_t steps);

}  // namespace stencil
