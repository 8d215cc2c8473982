#pragma once
// The machine: which nodes, ranks, memories, devices and links a Context spans. A pure value.
//
// Every rank holds the same description (it is gathered once and identical everywhere, D10), so it may enter
// plans. Ids point into the vectors: Rank::node is an index of `nodes`, a RankId one of `ranks`.
//
//   node "n0", 2 sockets, 16 cores
//     rank 0, 8 cores
//       place 0: host memory, 64 GiB, socket 0
//       place 1: 16 GiB, socket 0
//         device 0 "gpu:0", 1 thread, bus 3
//   link rank 0 place 0 -> rank 0 place 1: 16 GB/s, 1 us
//
// Threads: plain data. Failure: problem() names the first inconsistency of a description that came from
// outside.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "nuna/box.hpp"

namespace nuna::topology {

struct Node {
  std::string name;
  int sockets = 1;
  int cores = 1;
  friend bool operator==(const Node&, const Node&) = default;
};

struct Rank {
  int node = 0;
  int cores = 1;  ///< that it may use
  friend bool operator==(const Rank&, const Rank&) = default;
};

/// One place of a rank. kHostPlace is the rank's host memory.
struct Memory {
  base::RankId rank;
  base::PlaceId place;
  int socket = 0;  ///< the nearest, on the rank's node
  Index size_bytes = 0;
  friend bool operator==(const Memory&, const Memory&) = default;
};

struct Device {
  base::RankId rank;
  base::DeviceId device;
  base::PlaceId place;  ///< its memory
  std::string name;     ///< "host:1"
  int threads = 1;
  std::optional<int> bus;  ///< of its node; none for devices that are the node's own cores
  friend bool operator==(const Device&, const Device&) = default;
};

/// One direction between two memories.
struct Link {
  base::RankId from_rank;
  base::PlaceId from_place;
  base::RankId to_rank;
  base::PlaceId to_place;
  std::int64_t bytes_per_second = 0;
  std::int64_t latency_ps = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

struct Machine {
  std::vector<Node> nodes;
  std::vector<Rank> ranks;
  std::vector<Memory> memories;
  std::vector<Device> devices;
  std::vector<Link> links;
  friend bool operator==(const Machine&, const Machine&) = default;
};

const Memory* find_memory(const Machine& machine, base::RankId rank, base::PlaceId place);
bool same_node(const Machine& machine, base::RankId a, base::RankId b);
/// Whether two devices hang on one bus of one node and so may copy to each other directly.
bool are_peers(const Machine& machine, const Device& a, const Device& b);

/// What is wrong with the description, in one line; empty if nothing is.
std::string problem(const Machine& machine);

/// As in the example above: every line ends in a newline.
std::string to_string(const Machine& machine);

}  // namespace nuna::topology
