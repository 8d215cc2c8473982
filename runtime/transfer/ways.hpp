#pragma once
// Ways: which way bytes go between this rank and others, and between its own places, by size.
//
// Tables are made when they are first asked for (route/route.hpp), from the machine's description and what was found out
// about the pair; what is found out later makes new ones. Between ranks both ends must choose alike, so nothing is
// found out there after the creation.
//
// Threads: any.

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/mutex.hpp"
#include "route/route.hpp"
#include "topology/machine.hpp"

namespace nuna::transfer {

class Ways {
 public:
  Ways(topology::Machine machine, route::Findings findings, route::Limits limits, base::RankId me)
      : machine_(std::move(machine)),
        limits_(limits),
        me_(me),
        findings_(std::move(findings)),
        to_(2 * machine_.ranks.size()),
        from_(2 * machine_.ranks.size()) {}

  /// Messages to and from another rank. `one_run`: both ends know that they are one run of bytes.
  route::Step to(base::RankId peer, Index bytes, bool one_run) const NUNA_EXCLUDES(mutex_);
  route::Step from(base::RankId peer, Index bytes, bool one_run) const NUNA_EXCLUDES(mutex_);
  /// Copies between places of this rank; nothing if no way is left.
  std::optional<route::Step> between(base::PlaceId from, base::PlaceId to, Index bytes) const
      NUNA_EXCLUDES(mutex_);

  /// Takes a kind of copy away between two places.
  void refuse(base::PlaceId from, base::PlaceId to, route::Kind kind, std::string why) NUNA_EXCLUDES(mutex_);
  void measured(base::PlaceId from, base::PlaceId to, route::Kind kind, std::int64_t bytes_per_second)
      NUNA_EXCLUDES(mutex_);

  /// For reports: every way between two memories.
  std::vector<route::Way> all(const route::Ends& ends, const route::Load& load) const NUNA_EXCLUDES(mutex_);
  const topology::Machine& machine() const { return machine_; }

 private:
  // Of pairs of ranks, once made: read without the lock, because every message asks.
  using Known = std::vector<std::atomic<const route::Table*>>;

  using Key = std::pair<route::Ends, bool>;  // and whether the bytes are one run

  const route::Table& table(const Key& key) const NUNA_REQUIRES(mutex_);
  const route::Table& known(Known& tables, base::RankId peer, const Key& key) const NUNA_EXCLUDES(mutex_);
  topology::MemoryId here(base::PlaceId place) const { return {me_, place}; }

  const topology::Machine machine_;
  const route::Limits limits_;
  const base::RankId me_;
  mutable base::Mutex mutex_;
  route::Findings findings_ NUNA_GUARDED_BY(mutex_);
  mutable std::map<Key, route::Table> tables_ NUNA_GUARDED_BY(mutex_);
  mutable Known to_;
  mutable Known from_;
};

}  // namespace nuna::transfer
