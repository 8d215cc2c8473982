#include "cluster/members.hpp"

#include "base/check.hpp"

namespace nuna::cluster {

Members::Members(int ranks) {
  base::check(ranks >= 1, "a cluster needs at least one rank");
  for (int r = 0; r < ranks; ++r) seats_.push_back(std::make_unique<Seat>());
}

Members::Seat& Members::seat(base::RankId rank) const {
  base::check(rank.value >= 0 && rank.value < size(), "a rank lies outside its cluster");
  return *seats_[static_cast<std::size_t>(rank.value)];
}

void Members::join(base::RankId rank) {
  base::check(!seat(rank).joined.exchange(true), "a rank joined its cluster twice");
}

void Members::leave(base::RankId rank) {
  Seat& s = seat(rank);
  {
    const base::MutexLock lock(s.status_mutex);
    if (s.left_as.load(std::memory_order_relaxed) != 0) return;
    s.status.left = true;
    s.left_as.store(departures_.fetch_add(1) + 1, std::memory_order_release);
  }
  ring_others(rank);
}

void Members::publish(base::RankId rank, const Status& status) {
  Seat& s = seat(rank);
  sign(rank);
  const base::MutexLock lock(s.status_mutex);
  s.history.note({status.sequence, status.hash, status.last_call});
  const bool left = s.status.left;  // leaving is leave()'s to say, and final
  s.status = status;
  s.status.left = left;
}

std::optional<std::string> Members::difference(base::RankId mine, base::RankId theirs) const {
  const auto history_of = [&](base::RankId rank) {
    const Seat& s = seat(rank);
    const base::MutexLock lock(s.status_mutex);
    return s.history;
  };
  const auto found = first_difference(history_of(mine), history_of(theirs));
  if (!found) return std::nullopt;
  return to_string(*found, mine.value, theirs.value);
}

Status Members::status_of(base::RankId rank) const {
  const Seat& s = seat(rank);
  const base::MutexLock lock(s.status_mutex);
  Status status = s.status;
  status.signs = signs(rank);
  status.sent = s.sent.load(std::memory_order_relaxed);
  return status;
}

void Members::set_bell(base::RankId rank, base::Doorbell* bell) {
  Seat& s = seat(rank);
  const base::MutexLock lock(s.bell_mutex);
  s.bell = bell;
}

void Members::ring(base::RankId rank) {
  Seat& s = seat(rank);
  const base::MutexLock lock(s.bell_mutex);  // held while it rings, so that the owner may take the bell away
  if (s.bell != nullptr) s.bell->ring();
}

void Members::ring_others(base::RankId except) {
  for (int r = 0; r < size(); ++r) {
    if (r != except.value) ring({r});
  }
}

std::string Members::last_call(base::RankId rank) const {
  const Status status = status_of(rank);
  return status.last_call.empty() ? "its first call" : status.last_call;
}

std::string Members::farewell(base::RankId rank) const {
  const Status status = status_of(rank);
  return status.last_call.empty() ? "left before its first call" : "left after " + status.last_call;
}

std::string Members::whereabouts(base::RankId rank) const {
  const std::string name = "rank " + std::to_string(rank.value);
  if (!seat(rank).joined.load()) return name + " (never joined)";
  const Status status = status_of(rank);
  return name +
         (status.last_call.empty() ? " (before its first call)" : " (last call: " + status.last_call + ")");
}

}  // namespace nuna::cluster
