#include "device/host/split.hpp"

#include <algorithm>

namespace nuna::device::host {
namespace {

// Share of the team's time that a cut of `blocks` leaves it busy, in 1/1024: all wait for the largest part.
Index busy_share(Index blocks, Index team) {
  const Index largest = (blocks + team - 1) / team;
  return static_cast<Index>(1024.0 * static_cast<double>(blocks) /
                            (static_cast<double>(largest) * static_cast<double>(team)));
}

}  // namespace

Interval part_of(Interval whole, int part, int parts) {
  const Index each = whole.size() / parts;
  const Index larger = whole.size() % parts;  // the first `larger` parts have one more
  const auto begin = [&](Index p) { return whole.begin + p * each + std::min(p, larger); };
  return {begin(part), begin(part + 1)};
}

KernelSplit::KernelSplit(const Box& threads, int team, const detail::BlockGrid& blocks)
    : threads_(threads), blocks_(blocks) {
  if (threads.empty()) return;
  constexpr Index kBusyEnough = 1024 * 7 / 8;
  Index best = 0;
  for (int a = 0; a < kMaxDims && best < kBusyEnough; ++a) {
    const Index share = busy_share(blocks.meeting(static_cast<std::size_t>(a), threads[a]).size(), team);
    if (share > best) {
      best = share;
      axis_ = a;
    }
  }
  const Index most = blocks.meeting(static_cast<std::size_t>(axis_), threads[axis_]).size();
  parts_ = static_cast<int>(std::min<Index>(team, most));
}

}  // namespace nuna::device::host
