#include "nuna-bandwidth/statistics.hpp"

#include <algorithm>
#include <cstddef>

namespace nuna_bandwidth {
namespace {

double at(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] * (1.0 - part) + sorted[above] * part;
}

}  // namespace

Quartiles quartiles_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {at(samples, 0.25), at(samples, 0.5), at(samples, 0.75)};
}

Quartiles ratios_of(const std::vector<double>& peer, const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < peer.size() && i < ours.size(); ++i) ratios.push_back(peer[i] / ours[i]);
  return quartiles_of(std::move(ratios));
}

}  // namespace nuna_bandwidth
