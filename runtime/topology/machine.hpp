#pragma once
// The machine: which nodes, ranks, memories, buses, devices and links a Context spans. A pure value.
//
// Every rank holds the same description (it is gathered once and identical everywhere, D10), so it may enter plans.
// Numbers point into the vectors: Rank::node and Bus::node are indices of `nodes`, Device::bus one of `buses`, a RankId one
// of `ranks`.
//
//   machine "lab": measured with nuna-bandwidth
//   node "n0", 2 sockets, 16 cores; between its ranks 8 GB/s, 1 us
//     bus 0 "pcie0", socket 0, peers
//     rank 0, 8 cores
//       place 0: host memory, 64 GiB, socket 0, copies 11 GB/s
//       place 1: 16 GiB, socket 0, copies 400 GB/s, not for the host
//         device 0 "gpu:0", 1 thread, bus "pcie0", 500 ns a copy
//   between nodes: 1 GB/s, 10 us
//   link rank 0 place 0 -> rank 0 place 1: 16 GB/s, 1 us
//
// What a connection means depends on what it joins:
//   two memories of one rank        a device copies from the one into the other by itself
//   host memories of two ranks      messages (MPI)
// Nothing else can be joined. A connection costs its latency, then its rate. Messages between ranks have one figure for each
// node and one for all nodes, so that a description grows with the ranks, not with their pairs; a Link for a pair of host
// memories stands above these. What is not joined has no direct way; runtime/route finds the others.
//
// Threads: plain data. Failure: problem() names the first inconsistency of a description that came from outside; the other
// functions need a description without one.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "nuna/box.hpp"

namespace nuna::topology {

/// One memory of the machine.
struct MemoryId {
  base::RankId rank;
  base::PlaceId place;
  auto operator<=>(const MemoryId&) const = default;
};
/// "rank 0 place 1".
std::string to_string(const MemoryId& memory);

/// What a connection can do in one direction, whatever it is made of.
struct Speed {
  std::int64_t bytes_per_second = 0;
  std::int64_t latency_ps = 0;
  friend bool operator==(const Speed&, const Speed&) = default;
};

struct Node {
  std::string name;
  int sockets = 1;
  int cores = 1;
  std::optional<Speed> between_ranks;  ///< messages between any two of its ranks
  friend bool operator==(const Node&, const Node&) = default;
};

struct Rank {
  int node = 0;
  int cores = 1;  ///< that it may use
  friend bool operator==(const Rank&, const Rank&) = default;
};

/// What devices that are not the node's own cores hang on.
struct Bus {
  int node = 0;
  std::string name;   ///< "pcie0"
  int socket = 0;     ///< the nearest
  bool peers = true;  ///< its devices can reach each other's memory directly
  friend bool operator==(const Bus&, const Bus&) = default;
};

/// One place of a rank. kHostPlace is the rank's host memory.
struct Memory {
  base::RankId rank;
  base::PlaceId place;
  int socket = 0;  ///< the nearest, on the rank's node
  Index size_bytes = 0;
  /// What one copy inside it moves: by its device, or, for a host memory, by a core. The latter is also the speed at which a
  /// core packs, unpacks and stages what is not pinned.
  std::int64_t copy_bytes_per_second = 0;
  bool host_accessible = true;  ///< the node's cores, and so MPI, can read and write it
  MemoryId id() const { return {rank, place}; }
  friend bool operator==(const Memory&, const Memory&) = default;
};

struct Device {
  base::RankId rank;
  base::DeviceId device;
  base::PlaceId place;  ///< its memory
  std::string name;     ///< "host:1"
  int threads = 1;
  std::optional<int> bus;            ///< none for devices that are the node's own cores
  std::int64_t copy_latency_ps = 0;  ///< what every copy costs that it is given, however small
  MemoryId memory() const { return {rank, place}; }
  friend bool operator==(const Device&, const Device&) = default;
};

/// One direction between two memories.
struct Link {
  MemoryId from;
  MemoryId to;
  std::int64_t bytes_per_second = 0;
  std::int64_t latency_ps = 0;
  Speed speed() const { return {bytes_per_second, latency_ps}; }
  friend bool operator==(const Link&, const Link&) = default;
};

struct Machine {
  std::string name;
  std::string source;  ///< where its figures come from
  std::vector<Node> nodes;
  std::vector<Rank> ranks;
  std::vector<Bus> buses;
  std::vector<Memory> memories;
  std::vector<Device> devices;
  std::optional<Speed> between_nodes;  ///< messages between ranks of different nodes
  std::vector<Link> links;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Null if there is none. Cost: the number of memories.
const Memory* find_memory(const Machine& machine, const MemoryId& memory);
/// The device whose memory this is; the first, if several share it; null if none does. Cost: the number of devices.
const Device* find_device(const Machine& machine, const MemoryId& memory);
/// How fast bytes get from the one to the other without a stop: by a Link, or else by the messages of the node or between
/// nodes. Nothing if the two are not joined. Cost: the number of links.
std::optional<Speed> find_speed(const Machine& machine, const MemoryId& from, const MemoryId& to);

bool same_node(const Machine& machine, base::RankId a, base::RankId b);
/// Whether two devices hang on one bus that lets them copy to each other directly.
bool are_peers(const Machine& machine, const Device& a, const Device& b);

/// The first thing that is wrong with a description.
struct Problem {
  enum class Part { node, rank, bus, memory, device, between_nodes, link };
  Part part = Part::node;
  int index = 0;  ///< in the vector of that part
  std::string text;
};
std::optional<Problem> find_problem(const Machine& machine);
/// Its text, one line; empty if nothing is wrong.
std::string problem(const Machine& machine);

/// As in the example above: every line ends in a newline.
std::string to_string(const Machine& machine);

}  // namespace nuna::topology
