#pragma once
// Medians and quartiles of samples, and of the ratios of interleaved pairs. Pure.

#include <vector>

namespace nuna_bandwidth {

struct Quartiles {
  double lower = 0.0;
  double median = 0.0;
  double upper = 0.0;
  friend bool operator==(const Quartiles&, const Quartiles&) = default;
};

/// Linear between the two nearest samples; zeros for none.
Quartiles quartiles_of(std::vector<double> samples);

/// Of peer[i] / ours[i]: above 1 where ours takes less time. Both have the same number of samples, none of them 0.
Quartiles ratios_of(const std::vector<double>& peer, const std::vector<double>& ours);

}  // namespace nuna_bandwidth
