#pragma once
// How far another process's steady clock is ahead of ours, from questions and answers.
//
// The other clock was read between our question and its answer, so each round bounds the difference from both sides; what all
// rounds allow is narrower than the fastest of them. On one node the clocks are one, the bounds hold zero, and zero it is.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nuna::cluster::mpi {

class ClockBounds {
 public:
  /// One round: our clock before the question and after the answer, and theirs in between.
  void add(std::int64_t before_ns, std::int64_t theirs_ns, std::int64_t after_ns) {
    least_ns_ = std::max(least_ns_, theirs_ns - after_ns);
    most_ns_ = std::min(most_ns_, theirs_ns - before_ns);
  }
  /// Zero if the rounds allow it, else the middle. After at least one round.
  std::int64_t ahead_ns() const {
    if (least_ns_ <= 0 && most_ns_ >= 0) return 0;
    return least_ns_ + (most_ns_ - least_ns_) / 2;
  }

 private:
  std::int64_t least_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nuna::cluster::mpi
