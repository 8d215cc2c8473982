#pragma once
// A Machine that is being read: it grows part by part, and remembers where in the file each of them stands, so that an
// inconsistency of the whole can be told with a line.
//
// Threads: a value. Bounds: a million parts, so that a count in a file cannot exhaust the memory. Failure: nuna::Error
// (bad_setting), as of sections.hpp.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topology/machine.hpp"
#include "topology/sections.hpp"

namespace nuna::topology {

inline constexpr int kMostRanks = 1 << 16;
inline constexpr std::int64_t kMostParts = 1 << 20;

class MachineDraft {
 public:
  Machine machine;

  /// Each gives the part's number.
  int add(Node node, Position where) { return append(machine.nodes, std::move(node), where); }
  int add(Rank rank, Position where) { return append(machine.ranks, rank, where); }
  int add(Bus bus, Position where) { return append(machine.buses, std::move(bus), where); }
  int add(Memory memory, Position where) { return append(machine.memories, memory, where); }
  int add(Device device, Position where) { return append(machine.devices, std::move(device), where); }
  int add(Link link, Position where);
  /// Takes the place of the link between the same ends, if there is one.
  void replace(const Link& link, Position where);

  /// Refuses, for `section`, what would be more than kMostParts together with what is there.
  void expect_room(const Section& section, std::int64_t parts) const;
  /// The machine, if it has no problem and at least one rank.
  Machine finish(const Section& root) &&;

 private:
  template <class T>
  int append(std::vector<T>& parts, T part, Position where) {
    parts.push_back(std::move(part));
    const auto number = static_cast<int>(parts.size()) - 1;
    positions_[{part_of(parts.back()), number}] = where;
    return number;
  }

  static Problem::Part part_of(const Node&) { return Problem::Part::node; }
  static Problem::Part part_of(const Rank&) { return Problem::Part::rank; }
  static Problem::Part part_of(const Bus&) { return Problem::Part::bus; }
  static Problem::Part part_of(const Memory&) { return Problem::Part::memory; }
  static Problem::Part part_of(const Device&) { return Problem::Part::device; }
  static Problem::Part part_of(const Link&) { return Problem::Part::link; }

  std::map<std::pair<Problem::Part, int>, Position> positions_;
  std::map<std::pair<MemoryId, MemoryId>, int> links_;
};

}  // namespace nuna::topology
