#include "nuna-bandwidth/scheme.hpp"

#include <algorithm>

#include "base/units.hpp"

namespace nuna_bandwidth {
namespace {

using namespace nuna::topology;
using nuna::base::kHostPlace;
using nuna::base::RankId;

bool is_host(const MemoryId& memory) { return memory.place == kHostPlace; }

std::vector<MemoryId> memories_of(const Machine& machine, RankId rank) {
  std::vector<MemoryId> memories;
  for (const Memory& memory : machine.memories) {
    if (memory.rank == rank) memories.push_back(memory.id());
  }
  return memories;
}

void add_within(const Machine& machine, RankId rank, std::vector<Experiment>& all) {
  const std::vector<MemoryId> memories = memories_of(machine, rank);
  for (const MemoryId& from : memories) {
    for (const MemoryId& to : memories) {
      if (from == to) continue;
      all.push_back({{from, to}, false});
      if (from < to) all.push_back({{from, to}, true});
    }
  }
}

void add_both(const MemoryId& from, const MemoryId& to, std::vector<Experiment>& all) {
  all.push_back({{from, to}, false});
  all.push_back({{from, to}, true});
}

void add_between(const Machine& machine, RankId a, RankId b, bool every_memory,
                 std::vector<Experiment>& all) {
  const std::vector<MemoryId> from = memories_of(machine, a);
  const std::vector<MemoryId> to = memories_of(machine, b);
  if (every_memory) {
    for (const MemoryId& one : from) {
      for (const MemoryId& other : to) add_both(one, other, all);
    }
    return;
  }
  add_both(from.front(), to.front(), all);
  if (from.size() > 1 && to.size() > 1) add_both(from[1], to[1], all);
}

// The first pair of ranks that share a node, or do not.
std::optional<std::pair<RankId, RankId>> first_pair(const Machine& machine, bool of_one_node) {
  const int ranks = static_cast<int>(machine.ranks.size());
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) {
      if (same_node(machine, {a}, {b}) == of_one_node) return std::pair{RankId{a}, RankId{b}};
    }
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(Scheme scheme) {
  switch (scheme) {  // without a default, so that the compiler names one that is missing
    case Scheme::naive:
      return "naive";
    case Scheme::pinned:
      return "pinned";
    case Scheme::double_buffered:
      return "double-buffered";
    case Scheme::direct:
      return "direct";
    case Scheme::mpi:
      return "mpi";
    case Scheme::nuna:
      return "nuna";
    case Scheme::api:
      return "api";
  }
  return "";
}

std::optional<Scheme> scheme_of(std::string_view name) {
  const auto found = std::find_if(kSchemes.begin(), kSchemes.end(),
                                  [&](Scheme scheme) { return name == to_string(scheme); });
  if (found == kSchemes.end()) return std::nullopt;
  return *found;
}

std::vector<Experiment> experiments_of(const Machine& machine, bool all) {
  std::vector<Experiment> experiments;
  const int ranks = static_cast<int>(machine.ranks.size());
  for (int r = 0; r < (all ? ranks : 1); ++r) add_within(machine, {r}, experiments);
  if (all) {
    for (int a = 0; a < ranks; ++a) {
      for (int b = a + 1; b < ranks; ++b) add_between(machine, {a}, {b}, true, experiments);
    }
    return experiments;
  }
  for (const bool of_one_node : {true, false}) {
    if (const auto pair = first_pair(machine, of_one_node))
      add_between(machine, pair->first, pair->second, false, experiments);
  }
  return experiments;
}

std::vector<Scheme> schemes_of(const Machine& machine, const Experiment& experiment) {
  const auto& [from, to] = experiment.ends;
  const bool from_host = is_host(from);
  const bool to_host = is_host(to);
  std::vector<Scheme> schemes;
  // A host memory is itself unpinned: the naive copy from it is the direct one.
  if (!from_host && !to_host) schemes.push_back(Scheme::naive);
  if (!from_host || !to_host) schemes.insert(schemes.end(), {Scheme::pinned, Scheme::double_buffered});
  if (experiment.within_rank()) {
    if (find_speed(machine, from, to)) schemes.push_back(Scheme::direct);
  } else {
    const Memory* a = find_memory(machine, from);
    const Memory* b = find_memory(machine, to);
    if (a != nullptr && b != nullptr && a->host_accessible && b->host_accessible)
      schemes.push_back(Scheme::mpi);
  }
  schemes.push_back(Scheme::nuna);
  if (!experiment.within_rank()) schemes.push_back(Scheme::api);
  return schemes;
}

std::string words_of(const nuna::route::Step& way) {
  std::string words = nuna::route::to_string(way.kind);
  if (way.blocks > 1)
    words += ", " + std::to_string(way.blocks) + " blocks of " + nuna::base::rounded_bytes(way.chunk_bytes);
  return words;
}

}  // namespace nuna_bandwidth
