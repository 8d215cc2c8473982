#pragma once
// Two regions walked together, as one loop nest. Pure.

#include <algorithm>
#include <array>
#include <optional>

#include "device/device.hpp"

namespace nuna::device {

/// Runs of `run` bytes that are contiguous in both regions, and axes (innermost first) with a stride in either. Each region
/// has at most 4 axes (its run is one), so their common refinement has at most 7.
struct Nest {
  struct Axis {
    Index count;
    Index to;
    Index from;
  };
  Index run = 1;
  int axes = 0;
  std::array<Axis, 7> axis{};

  bool same_strides() const {
    return std::all_of(axis.begin(), axis.begin() + axes, [](const Axis& a) { return a.to == a.from; });
  }
};

/// The common loop nest of two regions of the same size. Nothing when a run of one ends inside an indivisible piece of the
/// other (runs of 6 against runs of 4).
std::optional<Nest> common_nest(const Region& to, const Region& from);

}  // namespace nuna::device
