#include "topology/gathered.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::topology {
namespace {

std::string node_name(const RankFacts& facts) {
  const auto end = std::find(facts.node_name.begin(), facts.node_name.end(), '\0');
  return {facts.node_name.begin(), end};
}

/// The number of the rank's node, which is added if no earlier rank was on it.
int node_of(Machine& machine, const RankFacts& facts) {
  const std::string name = node_name(facts);
  const auto found = std::find_if(machine.nodes.begin(), machine.nodes.end(),
                                  [&](const Node& node) { return node.name == name; });
  const auto n = static_cast<int>(found - machine.nodes.begin());
  if (found == machine.nodes.end())
    machine.nodes.push_back({name, facts.sockets, facts.node_cores, kMessagesWithinNode});
  return n;
}

void add_place(Machine& machine, base::RankId rank, int place, std::int64_t size_bytes) {
  machine.memories.push_back({rank, base::PlaceId{place}, 0, size_bytes, kHostCopyBytesPerSecond, true});
}

void add_device(Machine& machine, base::RankId rank, int device, int place, int threads) {
  machine.devices.push_back({rank, base::DeviceId{device}, base::PlaceId{place},
                             "host:" + std::to_string(device), threads, std::nullopt, kHostCopyLatencyPs});
}

void join_places(Machine& machine, base::RankId rank, int places) {
  for (int from = 0; from < places; ++from) {
    for (int to = 0; to < places; ++to) {
      if (from == to) continue;
      machine.links.push_back(
          {{rank, base::PlaceId{from}}, {rank, base::PlaceId{to}}, kHostCopyBytesPerSecond, 0});
    }
  }
}

/// A rank whose devices are GPUs, all on one bus that is theirs.
void add_cards(Machine& machine, const RankFacts& facts, base::RankId rank, const RankShares& shares) {
  const auto facts_of = [&](const CardShare& share) -> const CardFacts& {
    return facts.cards[static_cast<std::size_t>(share.card)];
  };
  const auto place = [](std::size_t device) { return base::PlaceId{static_cast<int>(device) + 1}; };
  const auto join = [&](base::PlaceId from, base::PlaceId to, std::int64_t rate) {
    machine.links.push_back({{rank, from}, {rank, to}, rate, 0});
  };
  for (std::size_t d = 0; d < shares.size(); ++d) {
    const CardFacts& card = facts_of(shares[d]);
    machine.memories.push_back({rank, place(d), 0, shares[d].free_bytes, card.copy_bytes_per_second, false});
    machine.devices.push_back({rank, base::DeviceId{static_cast<int>(d)}, place(d),
                               "cuda:" + std::to_string(d), facts.threads_per_device, std::nullopt,
                               kCardCopyLatencyPs});
    join(base::kHostPlace, place(d), kCardLinkBytesPerSecond);
    join(place(d), base::kHostPlace, kCardLinkBytesPerSecond);
    for (std::size_t e = 0; e < shares.size(); ++e) {
      if (e == d || (card.reaches >> shares[e].card & 1) == 0) continue;
      const bool same = shares[e].card == shares[d].card;
      join(place(e), place(d), same ? card.copy_bytes_per_second : kCardLinkBytesPerSecond);
    }
  }
}

void add_rank(Machine& machine, const RankFacts& facts, const RankShares& shares) {
  const base::RankId rank{static_cast<int>(machine.ranks.size())};
  const int node = node_of(machine, facts);
  machine.ranks.push_back({node, facts.cores});
  add_place(machine, rank, 0, facts.host_memory_bytes);
  if (!shares.empty()) return add_cards(machine, facts, rank, shares);
  if (facts.shares_host_memory != 0) {
    add_device(machine, rank, 0, 0, facts.threads_per_device);
    return;
  }
  for (int d = 0; d < facts.devices; ++d) {
    add_place(machine, rank, d + 1, facts.device_memory_bytes);
    add_device(machine, rank, d, d + 1, facts.threads_per_device);
  }
  join_places(machine, rank, facts.devices + 1);
}

[[noreturn]] void refuse_missing(const Machine& file, const std::string& who) {
  throw Error(ErrorCode::bad_setting, "the machine \"" + file.name + "\" does not describe " + who +
                                          " of this run: describe it, or start fewer ranks and devices");
}

template <class T>
const T& element(const std::vector<T>& of, int i) {
  return of[static_cast<std::size_t>(i)];
}

/// Carries what the file says over to what was found.
class Imposing {
 public:
  Imposing(Machine& found, const Machine& file) : found_(found), file_(file) {
    for (const Memory& memory : file.memories) memories_.emplace(memory.id(), &memory);
    for (const Device& device : file.devices) devices_.emplace(device.memory(), &device);
  }

  void run() {
    if (file_.ranks.size() < found_.ranks.size())
      refuse_missing(file_, "rank " + std::to_string(file_.ranks.size()));
    found_.buses.clear();
    for (std::size_t r = 0; r < found_.ranks.size(); ++r) impose_node(static_cast<int>(r));
    for (Memory& memory : found_.memories) impose(memory);
    for (Device& device : found_.devices) impose(device);
    if (file_.between_nodes) found_.between_nodes = file_.between_nodes;
    impose_links();
    impose_unlike_messages();
    found_.source += "; rates of the machine \"" + file_.name + "\"";
  }

 private:
  Node& found_node(int rank) {
    return found_.nodes[static_cast<std::size_t>(element(found_.ranks, rank).node)];
  }
  const Node& file_node(int rank) const { return element(file_.nodes, element(file_.ranks, rank).node); }

  void impose_node(int rank) {
    Node& node = found_node(rank);
    node.sockets = std::max(node.sockets, file_node(rank).sockets);
    if (file_node(rank).between_ranks) node.between_ranks = file_node(rank).between_ranks;
  }

  void impose(Memory& memory) {
    const auto described = memories_.find(memory.id());
    if (described == memories_.end()) refuse_missing(file_, to_string(memory.id()));
    memory.socket = described->second->socket;
    memory.copy_bytes_per_second = described->second->copy_bytes_per_second;
  }

  void impose(Device& device) {
    const auto described = devices_.find(device.memory());
    if (described == devices_.end()) return;  // its memory is described, and that is what copies need
    device.copy_latency_ps = described->second->copy_latency_ps;
    device.bus.reset();
    if (described->second->bus)
      device.bus = bus_like(*described->second->bus, element(found_.ranks, device.rank.value).node);
  }

  /// The file's bus on a node that was found: ranks that the file puts on one node may run on two.
  int bus_like(int file_bus, int node) {
    const auto [bus, fresh] =
        buses_.emplace(std::pair(file_bus, node), static_cast<int>(found_.buses.size()));
    if (fresh) {
      Bus added = element(file_.buses, file_bus);
      added.node = node;
      const auto same_name = [&](const Bus& b) { return b.node == node && b.name == added.name; };
      while (std::any_of(found_.buses.begin(), found_.buses.end(), same_name)) added.name += "'";
      found_.buses.push_back(std::move(added));
    }
    return bus->second;
  }

  void impose_links() {
    std::set<MemoryId> here;
    for (const Memory& memory : found_.memories) here.insert(memory.id());
    found_.links.clear();
    for (const Link& link : file_.links) {
      if (here.contains(link.from) && here.contains(link.to)) found_.links.push_back(link);
    }
  }

  /// Where the ranks lie on other nodes than in the file, the messages of each pair are the file's all the same. Looks at
  /// pairs only then.
  void impose_unlike_messages() {
    if (lie_alike()) return;
    const auto ranks = static_cast<int>(found_.ranks.size());
    for (int a = 0; a < ranks; ++a) {
      for (int b = 0; b < ranks; ++b) {
        const MemoryId from{base::RankId{a}, base::kHostPlace};
        const MemoryId to{base::RankId{b}, base::kHostPlace};
        const std::optional<Speed> wanted = find_speed(file_, from, to);
        if (a != b && wanted && wanted != find_speed(found_, from, to))
          found_.links.push_back({from, to, wanted->bytes_per_second, wanted->latency_ps});
      }
    }
  }

  bool lie_alike() const {
    std::map<int, int> file_node_of;
    std::map<int, int> found_node_of;
    for (std::size_t r = 0; r < found_.ranks.size(); ++r) {
      const int here = found_.ranks[r].node;
      const int there = file_.ranks[r].node;
      if (file_node_of.emplace(here, there).first->second != there) return false;
      if (found_node_of.emplace(there, here).first->second != here) return false;
    }
    return true;
  }

  Machine& found_;
  const Machine& file_;
  std::map<MemoryId, const Memory*> memories_;
  std::map<MemoryId, const Device*> devices_;
  std::map<std::pair<int, int>, int> buses_;
};

}  // namespace

void set_node_name(RankFacts& facts, std::string_view name) {
  facts.node_name.fill('\0');
  const std::size_t length = std::min(name.size(), facts.node_name.size() - 1);
  std::copy_n(name.begin(), length, facts.node_name.begin());
}

std::vector<RankShares> shares_of(std::span<const RankFacts> ranks, int devices) {
  std::map<std::string, int> nodes;
  std::vector<RankCards> seen;
  for (const RankFacts& facts : ranks) {
    const int node = nodes.emplace(node_name(facts), static_cast<int>(nodes.size())).first->second;
    seen.push_back({node, std::span(facts.cards).first(static_cast<std::size_t>(facts.cards_seen))});
  }
  auto shares = share_out(seen, devices);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (CardShare& share : shares[r])
      share.free_bytes = std::min(share.free_bytes, ranks[r].device_memory_bytes);
  }
  return shares;
}

Machine assemble(std::span<const RankFacts> ranks, std::span<const RankShares> shares) {
  Machine machine;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    add_rank(machine, ranks[r], shares.empty() ? RankShares{} : shares[r]);
  if (machine.nodes.size() > 1) machine.between_nodes = kMessagesBetweenNodes;
  if (!machine.nodes.empty()) machine.name = machine.nodes.front().name;
  machine.source = "found by this run; rates are Nuna's defaults";
  const std::string wrong = problem(machine);
  base::check(wrong.empty(), "ranks told what makes no machine: " + wrong);
  return machine;
}

Machine with_rates(Machine found, const Machine& file) {
  Imposing(found, file).run();
  const std::string wrong = problem(found);
  base::check(wrong.empty(), "a run's machine with a file's rates is no machine: " + wrong);
  return found;
}

}  // namespace nuna::topology
