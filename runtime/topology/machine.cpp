#include "topology/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "base/units.hpp"

namespace nuna::topology {
namespace {

using Part = Problem::Part;

template <class T>
bool is_index(int i, const std::vector<T>& of) {
  return 0 <= i && static_cast<std::size_t>(i) < of.size();
}

template <class T>
const T& element(const std::vector<T>& of, int i) {
  return of[static_cast<std::size_t>(i)];
}

std::string counted(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string text_of(const Speed& speed) {
  return base::rounded_bytes_per_second(speed.bytes_per_second) + ", " +
         base::rounded_picoseconds(speed.latency_ps);
}

std::string name_of(const Device& device) {
  return "device " + std::to_string(device.device.value) + " of rank " + std::to_string(device.rank.value);
}

std::string name_of(const Link& link) {
  return "the link " + to_string(link.from) + " -> " + to_string(link.to);
}

/// Looks at a description part by part, and remembers what it has seen: each check costs little more than its part.
class Inspection {
 public:
  explicit Inspection(const Machine& machine) : machine_(machine) {
    for (const Memory& memory : machine.memories) memories_.insert(memory.id());
  }

  std::optional<Problem> first() {
    std::optional<Problem> found = first_of(Part::node, machine_.nodes);
    if (!found) found = first_of(Part::rank, machine_.ranks);
    if (!found) found = first_of(Part::bus, machine_.buses);
    if (!found) found = first_of(Part::memory, machine_.memories);
    if (!found) found = first_of(Part::device, machine_.devices);
    if (!found && machine_.between_nodes) {
      const std::string why = of_speed("messages between nodes", *machine_.between_nodes);
      if (!why.empty()) found = Problem{Part::between_nodes, 0, why};
    }
    if (!found) found = first_of(Part::link, machine_.links);
    return found;
  }

 private:
  template <class T>
  std::optional<Problem> first_of(Part part, const std::vector<T>& parts) {
    for (int i = 0; is_index(i, parts); ++i) {
      if (std::string text = of(element(parts, i), i); !text.empty())
        return Problem{part, i, std::move(text)};
    }
    return std::nullopt;
  }

  /// Sums of latencies must not overflow, so absurd ones are refused.
  static std::string of_latency(const std::string& who, std::int64_t latency_ps) {
    constexpr std::int64_t kHourPs = 3600 * base::kPicosecondsPerSecond;
    if (latency_ps < 0) return who + " has a negative latency";
    return latency_ps > kHourPs ? who + " has a latency of more than an hour" : "";
  }

  static std::string of_speed(const std::string& who, const Speed& speed) {
    if (speed.bytes_per_second <= 0) return who + " moves no bytes";
    return of_latency(who, speed.latency_ps);
  }

  static std::string of(const Node& node, int n) {
    const std::string who = "node " + std::to_string(n);
    if (node.sockets < 1) return who + " has no sockets";
    if (node.cores < 1) return who + " has no cores";
    return node.between_ranks ? of_speed("messages within " + who, *node.between_ranks) : "";
  }

  std::string of(const Rank& rank, int r) const {
    const std::string who = "rank " + std::to_string(r);
    if (!is_index(rank.node, machine_.nodes))
      return who + " is on node " + std::to_string(rank.node) + ", which is not described";
    if (rank.cores < 1) return who + " has no cores";
    if (!memories_.contains({base::RankId{r}, base::kHostPlace})) return who + " has no host memory";
    return {};
  }

  std::string of(const Bus& bus, int b) {
    const std::string who = "bus " + std::to_string(b) + " \"" + bus.name + "\"";
    if (!is_index(bus.node, machine_.nodes))
      return who + " is on node " + std::to_string(bus.node) + ", which is not described";
    if (bus.socket < 0 || bus.socket >= element(machine_.nodes, bus.node).sockets)
      return who + " is on a socket that its node does not have";
    if (!buses_.insert({bus.node, bus.name}).second) return who + " is described twice on its node";
    return {};
  }

  std::string of(const Memory& memory, int) {
    const std::string who = to_string(memory.id());
    if (!is_index(memory.rank.value, machine_.ranks)) return who + " belongs to a rank that is not described";
    if (memory.place.value < 0 || memory.place.value >= base::kMaxPlaces)
      return who + " is not a possible place";
    if (memory.size_bytes < 0) return who + " has a negative size";
    const Node& node = element(machine_.nodes, element(machine_.ranks, memory.rank.value).node);
    if (memory.socket < 0 || memory.socket >= node.sockets)
      return who + " is on a socket that its node does not have";
    if (memory.copy_bytes_per_second <= 0) return who + " copies no bytes";
    if (memory.place == base::kHostPlace && !memory.host_accessible)
      return who + " is host memory that the host cannot reach";
    if (!seen_memories_.insert(memory.id()).second) return who + " is described twice";
    return {};
  }

  std::string of(const Device& device, int) {
    const std::string who = name_of(device);
    if (!memories_.contains(device.memory()))
      return who + " uses place " + std::to_string(device.place.value) + ", which is not described";
    if (device.threads < 1) return who + " has no threads";
    if (std::string text = of_latency(who, device.copy_latency_ps); !text.empty()) return text;
    if (device.bus && !is_index(*device.bus, machine_.buses))
      return who + " hangs on bus " + std::to_string(*device.bus) + ", which is not described";
    if (device.bus &&
        element(machine_.buses, *device.bus).node != element(machine_.ranks, device.rank.value).node)
      return who + " hangs on a bus of another node";
    if (!devices_.insert({device.rank, device.device}).second) return who + " is described twice";
    return {};
  }

  std::string of(const Link& link, int) {
    const std::string who = name_of(link);
    if (!memories_.contains(link.from) || !memories_.contains(link.to))
      return who + " has an end that is not described";
    if (link.from == link.to) return who + " joins a memory with itself";
    const bool hosts = link.from.place == base::kHostPlace && link.to.place == base::kHostPlace;
    if (link.from.rank != link.to.rank && !hosts)
      return who + " joins two ranks elsewhere than at their host memories";
    if (std::string text = of_speed(who, link.speed()); !text.empty()) return text;
    if (!links_.insert({link.from, link.to}).second) return who + " is described twice";
    return {};
  }

  const Machine& machine_;
  std::set<MemoryId> memories_;
  std::set<MemoryId> seen_memories_;
  std::set<std::pair<int, std::string>> buses_;
  std::set<std::pair<base::RankId, base::DeviceId>> devices_;
  std::set<std::pair<MemoryId, MemoryId>> links_;
};

std::string text_of(const Machine& machine, const Device& device) {
  std::string text = "      device " + std::to_string(device.device.value) + " \"" + device.name + "\", " +
                     counted(device.threads, "thread");
  if (device.bus) text += ", bus \"" + element(machine.buses, *device.bus).name + "\"";
  if (device.copy_latency_ps > 0)
    text += ", " + base::rounded_picoseconds(device.copy_latency_ps) + " a copy";
  return text + "\n";
}

std::string text_of(const Memory& memory) {
  return "    place " + std::to_string(memory.place.value) + ": " +
         (memory.place == base::kHostPlace ? "host memory, " : "") + base::rounded_bytes(memory.size_bytes) +
         ", socket " + std::to_string(memory.socket) + ", copies " +
         base::rounded_bytes_per_second(memory.copy_bytes_per_second) +
         (memory.host_accessible ? "" : ", not for the host") + "\n";
}

std::string text_of_rank(const Machine& machine, int rank) {
  const base::RankId id{rank};
  std::string text =
      "  rank " + std::to_string(rank) + ", " + counted(element(machine.ranks, rank).cores, "core") + "\n";
  for (const Memory& memory : machine.memories) {
    if (memory.rank != id) continue;
    text += text_of(memory);
    for (const Device& device : machine.devices) {
      if (device.memory() == memory.id()) text += text_of(machine, device);
    }
  }
  return text;
}

std::string text_of_node(const Machine& machine, int n) {
  const Node& node = element(machine.nodes, n);
  std::string text =
      "node \"" + node.name + "\", " + counted(node.sockets, "socket") + ", " + counted(node.cores, "core");
  if (node.between_ranks) text += "; between its ranks " + text_of(*node.between_ranks);
  text += "\n";
  for (int b = 0; is_index(b, machine.buses); ++b) {
    const Bus& bus = element(machine.buses, b);
    if (bus.node != n) continue;
    text += "  bus " + std::to_string(b) + " \"" + bus.name + "\", socket " + std::to_string(bus.socket) +
            (bus.peers ? ", peers" : ", no peers") + "\n";
  }
  for (int r = 0; is_index(r, machine.ranks); ++r) {
    if (element(machine.ranks, r).node == n) text += text_of_rank(machine, r);
  }
  return text;
}

}  // namespace

std::string to_string(const MemoryId& memory) {
  return "rank " + std::to_string(memory.rank.value) + " place " + std::to_string(memory.place.value);
}

const Memory* find_memory(const Machine& machine, const MemoryId& memory) {
  const auto is_it = [&](const Memory& m) { return m.id() == memory; };
  const auto found = std::find_if(machine.memories.begin(), machine.memories.end(), is_it);
  return found == machine.memories.end() ? nullptr : &*found;
}

const Device* find_device(const Machine& machine, const MemoryId& memory) {
  const auto is_it = [&](const Device& d) { return d.memory() == memory; };
  const auto found = std::find_if(machine.devices.begin(), machine.devices.end(), is_it);
  return found == machine.devices.end() ? nullptr : &*found;
}

std::optional<Speed> find_speed(const Machine& machine, const MemoryId& from, const MemoryId& to) {
  const auto is_it = [&](const Link& l) { return l.from == from && l.to == to; };
  const auto found = std::find_if(machine.links.begin(), machine.links.end(), is_it);
  if (found != machine.links.end()) return found->speed();
  const bool hosts = from.place == base::kHostPlace && to.place == base::kHostPlace;
  if (!hosts || from.rank == to.rank) return std::nullopt;
  if (!is_index(from.rank.value, machine.ranks) || !is_index(to.rank.value, machine.ranks))
    return std::nullopt;
  if (!same_node(machine, from.rank, to.rank)) return machine.between_nodes;
  return element(machine.nodes, element(machine.ranks, from.rank.value).node).between_ranks;
}

bool same_node(const Machine& machine, base::RankId a, base::RankId b) {
  return element(machine.ranks, a.value).node == element(machine.ranks, b.value).node;
}

bool are_peers(const Machine& machine, const Device& a, const Device& b) {
  return a.bus.has_value() && a.bus == b.bus && element(machine.buses, *a.bus).peers;
}

std::optional<Problem> find_problem(const Machine& machine) { return Inspection(machine).first(); }

std::string problem(const Machine& machine) {
  std::optional<Problem> found = find_problem(machine);
  return found ? std::move(found->text) : std::string();
}

std::string to_string(const Machine& machine) {
  std::string text;
  if (!machine.name.empty() || !machine.source.empty())
    text += "machine \"" + machine.name + "\": " + machine.source + "\n";
  for (int n = 0; is_index(n, machine.nodes); ++n) text += text_of_node(machine, n);
  if (machine.between_nodes) text += "between nodes: " + text_of(*machine.between_nodes) + "\n";
  for (const Link& link : machine.links) {
    text +=
        "link " + to_string(link.from) + " -> " + to_string(link.to) + ": " + text_of(link.speed()) + "\n";
  }
  return text;
}

}  // namespace nuna::topology
