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

bool Schedule::another(std::size_t cell, int done, double left_s, double spent_s) const {
  if (done < 1) return true;
  if (done >= kMost || spent_s >= left_s) return false;
  if (done < kFewest) return true;
  const double share_s = left_s * (remaining_[cell] - remaining_[cell + 1]) / remaining_[cell];
  return spent_s + spent_s / done <= share_s;
}

}  // namespace nuna_bandwidth
