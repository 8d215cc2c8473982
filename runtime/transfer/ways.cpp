#include "transfer/ways.hpp"

#include <utility>

#include "base/check.hpp"

namespace nuna::transfer {

using base::kHostPlace;
using base::MutexLock;
using base::PlaceId;
using base::RankId;
using route::Ends;
using route::Kind;
using route::Step;

const route::Table& Ways::table(const Key& key) const {
  const auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;
  return tables_.emplace(key, route::table_of(machine_, findings_, key.first, key.second, limits_))
      .first->second;
}

const route::Table& Ways::known(Known& tables, RankId peer, const Key& key) const {
  auto& slot = tables[2 * static_cast<std::size_t>(peer.value) + (key.second ? 1 : 0)];
  if (const route::Table* made = slot.load(std::memory_order_acquire)) return *made;
  const MutexLock lock(mutex_);
  const route::Table& made = table(key);
  base::check(!made.empty(), "some way leads to every rank");
  slot.store(&made, std::memory_order_release);
  return made;
}

Step Ways::to(RankId peer, Index bytes, bool one_run) const {
  return known(to_, peer, {{here(kHostPlace), {peer, kHostPlace}}, one_run}).at(bytes);
}

Step Ways::from(RankId peer, Index bytes, bool one_run) const {
  return known(from_, peer, {{{peer, kHostPlace}, here(kHostPlace)}, one_run}).at(bytes);
}

std::optional<Step> Ways::between(PlaceId from, PlaceId to, Index bytes) const {
  const MutexLock lock(mutex_);
  const route::Table& known = table({{here(from), here(to)}, false});
  if (known.empty()) return std::nullopt;
  return known.at(bytes);
}

void Ways::refuse(PlaceId from, PlaceId to, Kind kind, std::string why) {
  const MutexLock lock(mutex_);
  findings_.refuse({here(from), here(to)}, kind, std::move(why));
  tables_.erase({{here(from), here(to)}, false});
}

void Ways::measured(PlaceId from, PlaceId to, Kind kind, std::int64_t bytes_per_second) {
  const MutexLock lock(mutex_);
  findings_.measured({here(from), here(to)}, kind, bytes_per_second);
  tables_.erase({{here(from), here(to)}, false});
}

std::vector<route::Way> Ways::all(const Ends& ends, const route::Load& load) const {
  const MutexLock lock(mutex_);
  return route::ways(machine_, findings_, ends, load, limits_);
}

}  // namespace nuna::transfer
