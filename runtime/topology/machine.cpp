#include "topology/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "base/units.hpp"

namespace nuna::topology {
namespace {

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

std::string name_of(base::RankId rank, base::PlaceId place) {
  return "rank " + std::to_string(rank.value) + " place " + std::to_string(place.value);
}

std::string problem_of_rank(const Machine& machine, int rank) {
  const std::string who = "rank " + std::to_string(rank);
  const Rank& r = element(machine.ranks, rank);
  if (!is_index(r.node, machine.nodes))
    return who + " is on node " + std::to_string(r.node) + ", which is not described";
  if (r.cores < 1) return who + " has no cores";
  if (find_memory(machine, base::RankId{rank}, base::kHostPlace) == nullptr)
    return who + " has no host memory";
  return {};
}

std::string problem_of_memory(const Machine& machine, const Memory& memory) {
  const std::string who = name_of(memory.rank, memory.place);
  if (!is_index(memory.rank.value, machine.ranks)) return who + " belongs to a rank that is not described";
  if (memory.place.value < 0 || memory.place.value >= base::kMaxPlaces)
    return who + " is not a possible place";
  if (memory.size_bytes < 0) return who + " has a negative size";
  const Node& node = element(machine.nodes, element(machine.ranks, memory.rank.value).node);
  if (memory.socket < 0 || memory.socket >= node.sockets)
    return who + " is on a socket that its node does not have";
  const auto same = [&](const Memory& m) { return m.rank == memory.rank && m.place == memory.place; };
  if (std::count_if(machine.memories.begin(), machine.memories.end(), same) > 1)
    return who + " is described twice";
  return {};
}

std::string problem_of_device(const Machine& machine, const Device& device) {
  const std::string who =
      "device " + std::to_string(device.device.value) + " of rank " + std::to_string(device.rank.value);
  if (find_memory(machine, device.rank, device.place) == nullptr) {
    return who + " uses place " + std::to_string(device.place.value) + ", which is not described";
  }
  if (device.threads < 1) return who + " has no threads";
  const auto same = [&](const Device& d) { return d.rank == device.rank && d.device == device.device; };
  if (std::count_if(machine.devices.begin(), machine.devices.end(), same) > 1)
    return who + " is described twice";
  return {};
}

std::string problem_of_link(const Machine& machine, const Link& link) {
  const std::string who =
      "the link " + name_of(link.from_rank, link.from_place) + " -> " + name_of(link.to_rank, link.to_place);
  if (find_memory(machine, link.from_rank, link.from_place) == nullptr ||
      find_memory(machine, link.to_rank, link.to_place) == nullptr) {
    return who + " has an end that is not described";
  }
  if (link.bytes_per_second <= 0) return who + " moves no bytes";
  if (link.latency_ps < 0) return who + " has a negative latency";
  return {};
}

std::string text_of(const Device& device) {
  std::string text = "      device " + std::to_string(device.device.value) + " \"" + device.name + "\", " +
                     counted(device.threads, "thread");
  if (device.bus) text += ", bus " + std::to_string(*device.bus);
  return text + "\n";
}

std::string text_of(const Memory& memory) {
  return "    place " + std::to_string(memory.place.value) + ": " +
         (memory.place == base::kHostPlace ? "host memory, " : "") + base::rounded_bytes(memory.size_bytes) +
         ", socket " + std::to_string(memory.socket) + "\n";
}

std::string text_of_rank(const Machine& machine, int rank) {
  const base::RankId id{rank};
  std::string text =
      "  rank " + std::to_string(rank) + ", " + counted(element(machine.ranks, rank).cores, "core") + "\n";
  for (const Memory& memory : machine.memories) {
    if (memory.rank != id) continue;
    text += text_of(memory);
    for (const Device& device : machine.devices) {
      if (device.rank == id && device.place == memory.place) text += text_of(device);
    }
  }
  return text;
}

}  // namespace

const Memory* find_memory(const Machine& machine, base::RankId rank, base::PlaceId place) {
  const auto is_it = [&](const Memory& m) { return m.rank == rank && m.place == place; };
  const auto found = std::find_if(machine.memories.begin(), machine.memories.end(), is_it);
  return found == machine.memories.end() ? nullptr : &*found;
}

bool same_node(const Machine& machine, base::RankId a, base::RankId b) {
  return element(machine.ranks, a.value).node == element(machine.ranks, b.value).node;
}

bool are_peers(const Machine& machine, const Device& a, const Device& b) {
  return a.bus.has_value() && a.bus == b.bus && same_node(machine, a.rank, b.rank);
}

std::string problem(const Machine& machine) {
  for (int r = 0; r < static_cast<int>(machine.ranks.size()); ++r) {
    if (std::string text = problem_of_rank(machine, r); !text.empty()) return text;
  }
  for (const Memory& memory : machine.memories) {
    if (std::string text = problem_of_memory(machine, memory); !text.empty()) return text;
  }
  for (const Device& device : machine.devices) {
    if (std::string text = problem_of_device(machine, device); !text.empty()) return text;
  }
  for (const Link& link : machine.links) {
    if (std::string text = problem_of_link(machine, link); !text.empty()) return text;
  }
  return {};
}

std::string to_string(const Machine& machine) {
  std::string text;
  for (int n = 0; n < static_cast<int>(machine.nodes.size()); ++n) {
    const Node& node = element(machine.nodes, n);
    text += "node \"" + node.name + "\", " + counted(node.sockets, "socket") + ", " +
            counted(node.cores, "core") + "\n";
    for (int r = 0; r < static_cast<int>(machine.ranks.size()); ++r) {
      if (element(machine.ranks, r).node == n) text += text_of_rank(machine, r);
    }
  }
  for (const Link& link : machine.links) {
    text += "link " + name_of(link.from_rank, link.from_place) + " -> " +
            name_of(link.to_rank, link.to_place) + ": " +
            base::rounded_bytes_per_second(link.bytes_per_second) + ", " +
            base::rounded_picoseconds(link.latency_ps) + "\n";
  }
  return text;
}

}  // namespace nuna::topology
