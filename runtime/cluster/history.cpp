#include "cluster/history.hpp"

#include <algorithm>
#include <utility>

namespace nuna::cluster {

void History::note(Called call) {
  if (!calls_.empty() && calls_.back().sequence >= call.sequence) return;
  if (calls_.size() == kMost) calls_.pop_front();
  calls_.push_back(std::move(call));
}

const Called* History::find(std::uint64_t sequence) const {
  const auto found = std::lower_bound(calls_.begin(), calls_.end(), sequence,
                                      [](const Called& c, std::uint64_t s) { return c.sequence < s; });
  return found != calls_.end() && found->sequence == sequence ? &*found : nullptr;
}

std::optional<Difference> first_difference(const History& mine, const History& theirs) {
  for (const Called& own : mine.calls()) {
    const Called* other = theirs.find(own.sequence);
    if (other != nullptr && other->hash != own.hash) return Difference{own, *other};
  }
  return std::nullopt;
}

std::string to_string(const Difference& d, int my_rank, int their_rank) {
  const std::string before =
      d.mine.call == d.theirs.call ? ", after different calls or with other arguments" : "";
  return "rank " + std::to_string(my_rank) + " made " + d.mine.call + " (call " +
         std::to_string(d.mine.sequence) + ") where rank " + std::to_string(their_rank) + " made " +
         d.theirs.call + before + ": let every rank make the same calls in the same order";
}

}  // namespace nuna::cluster
