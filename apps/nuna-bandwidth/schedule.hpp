#pragma once
// How often each size is repeated, so that a run ends in time. Pure.
//
//   Schedule schedule(budget_s, cells);
//   for each cell: schedule.repetitions(c, seconds left, seconds of one cycle)
//
// The time that is left is divided among the cells that are left by what they are expected to cost, so that a size which took
// longer than expected makes the later ones shorter.

#include <cstddef>
#include <vector>

#include "nuna/box.hpp"

namespace nuna_bandwidth {

/// One size of one experiment. A cycle measures each scheme of it once, and Nuna after each.
struct CellPlan {
  nuna::Index bytes = 0;
  int ways = 1;       ///< directions at once
  int transfers = 1;  ///< of a cycle
};

class Schedule {
 public:
  static constexpr int kFewest = 3;
  static constexpr int kMost = 31;

  explicit Schedule(const std::vector<CellPlan>& cells);

  /// From kFewest to kMost cycles; one, if even that is more than all the time that is left.
  int repetitions(std::size_t cell, double left_s, double cycle_s) const;
  /// What the cells from this one on are expected to cost, as a share of all.
  double share_from(std::size_t cell) const;

 private:
  std::vector<double> remaining_;  // by cell: the weight of it and all later ones
};

}  // namespace nuna_bandwidth
