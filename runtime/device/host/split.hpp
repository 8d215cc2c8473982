#pragma once
// How one operation is divided among the threads of a team. Pure.

#include "nuna/box.hpp"

namespace nuna::device::host {

/// Part `part` of `parts` of `whole`: contiguous, in order, sizes that differ by at most one.
Interval part_of(Interval whole, int part, int parts);

/// A box of kernel threads cut into contiguous parts along one axis: the slowest one that keeps every thread
/// of the team busy at least 7/8 of the time if all indices cost the same, else the one that keeps them
/// busiest. (A cut of the fastest axis shortens the vectorised inner loop, so it must be worth something.)
class KernelSplit {
 public:
  /// Cuts `threads` into at most `team` parts, each with at least one thread; into none when it is empty.
  KernelSplit(const Box& threads, int team);

  int parts() const { return parts_; }
  int axis() const { return axis_; }
  Box part(int part) const {
    Box box = threads_;
    box[axis_] = part_of(threads_[axis_], part, parts_);
    return box;
  }

 private:
  Box threads_;
  int axis_ = 0;
  int parts_ = 0;
};

}  // namespace nuna::device::host
