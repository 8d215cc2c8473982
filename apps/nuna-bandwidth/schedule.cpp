#include "nuna-bandwidth/schedule.hpp"

#include <algorithm>

namespace nuna_bandwidth {
namespace {

// A guess, to compare sizes with each other: what one transfer costs however small, and as many bytes at a usual rate.
constexpr double kFixedBytes = 512.0 * 1024.0;

double weight(const CellPlan& cell) {
  return (kFixedBytes + static_cast<double>(cell.bytes) * cell.ways) * cell.transfers;
}

}  // namespace

Schedule::Schedule(const std::vector<CellPlan>& cells) : remaining_(cells.size() + 1, 0.0) {
  for (std::size_t c = cells.size(); c-- > 0;) remaining_[c] = remaining_[c + 1] + weight(cells[c]);
}

int Schedule::repetitions(std::size_t cell, double left_s, double cycle_s) const {
  if (cycle_s <= 0.0) return kMost;
  if (kFewest * cycle_s > left_s) return 1;
  const double share_s = left_s * (remaining_[cell] - remaining_[cell + 1]) / remaining_[cell];
  const double cycles = std::min(share_s / cycle_s, static_cast<double>(kMost));
  return std::max(kFewest, static_cast<int>(cycles));
}

double Schedule::share_from(std::size_t cell) const { return remaining_[cell] / remaining_.front(); }

}  // namespace nuna_bandwidth
