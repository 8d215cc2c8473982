#pragma once
// How often each size is repeated, so that a run ends in time. Pure.
//
//   Schedule schedule(cells);
//   for each cell: while (schedule.another(cell, cycles done, seconds left at its begin, seconds spent in it)) a cycle
//
// The time that is left is divided among the cells that are left by what they are expected to cost, so that a size which took
// longer than expected makes the later ones shorter.

#include <cstddef>
#include <vector>

#include "nuna/box.hpp"

namespace nuna_bandwidth {

/// One scheme at one size of one experiment. A cycle measures it twice, and Nuna twice beside it.
struct CellPlan {
  nuna::Index bytes = 0;
  int ways = 1;       ///< directions at once
  int transfers = 1;  ///< of a cycle
};

class Schedule {
 public:
  static constexpr int kFewest = 2;
  static constexpr int kMost = 16;

  explicit Schedule(const std::vector<CellPlan>& cells);

  /// Whether to go on: up to kFewest cycles in any case, up to kMost while the cell's share of the time lasts. When no time is left
  /// at all, after one.
  bool another(std::size_t cell, int done, double left_s, double spent_s) const;

 private:
  std::vector<double> remaining_;  // by cell: the weight of it and all later ones
};

}  // namespace nuna_bandwidth
