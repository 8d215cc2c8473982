#pragma once
// How one operation is divided among the threads of a team. Pure.

#include "nuna/box.hpp"
#include "nuna/instance.hpp"

namespace nuna::device::host {

/// Part `part` of `parts` of `whole`: contiguous, in order, sizes that differ by at most one.
Interval part_of(Interval whole, int part, int parts);

/// A box of kernel threads cut into contiguous parts along one axis: the slowest one that keeps every thread
/// of the team busy at least 7/8 of the time if all indices cost the same, else the one that keeps them
/// busiest. (A cut of the fastest axis shortens the vectorised inner loop, so it must be worth something.) Cuts fall
/// between blocks, which may be single threads.
class KernelSplit {
 public:
  /// Cuts `threads` into at most `team` parts, each with at least one thread; into none when it is empty.
  KernelSplit(const Box& threads, int team, const detail::BlockGrid& blocks = {});

  int parts() const { return parts_; }
  int axis() const { return axis_; }
  Box part(int part) const {
    const auto axis = static_cast<std::size_t>(axis_);
    const Interval mine = part_of(blocks_.meeting(axis, threads_[axis_]), part, parts_);
    Box box = threads_;
    box[axis_] = box[axis_].intersect({blocks_.begin(axis, mine.begin), blocks_.begin(axis, mine.end)});
    return box;
  }

 private:
  Box threads_;
  detail::BlockGrid blocks_;
  int axis_ = 0;
  int parts_ = 0;
};

}  // namespace nuna::device::host
