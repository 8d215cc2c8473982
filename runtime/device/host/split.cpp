#include "device/host/split.hpp"

#include <algorithm>

namespace nuna::device::host {
namespace {

// Share of the team's time that a cut of `indices` leaves it busy, in 1/1024: all wait for the largest part.
Index busy_share(Index indices, Index team) {
  const Index largest = (indices + team - 1) / team;
  return static_cast<Index>(1024.0 * static_cast<double>(indices) /
                            (static_cast<double>(largest) * static_cast<double>(team)));
}

}  // namespace

Interval part_of(Interval whole, int part, int parts) {
  const Index each = whole.size() / parts;
  const Index larger = whole.size() % parts;  // the first `larger` parts have one more
  const auto begin = [&](Index p) { return whole.begin + p * each + std::min(p, larger); };
  return {begin(part), begin(part + 1)};
}

KernelSplit::KernelSplit(const Box& threads, int team) : threads_(threads) {
  if (threads.empty()) return;
  constexpr Index kBusyEnough = 1024 * 7 / 8;
  Index best = 0;
  for (int a = 0; a < kMaxDims && best < kBusyEnough; ++a) {
    const Index share = busy_share(threads[a].size(), team);
    if (share > best) {
      best = share;
      axis_ = a;
    }
  }
  parts_ = static_cast<int>(std::min<Index>(team, threads[axis_].size()));
}

}  // namespace nuna::device::host
