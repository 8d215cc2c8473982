#pragma once
// The machine of a run: what every rank tells the others about itself, and the one description that all make of it (D10).
//
//   RankFacts mine;  set_node_name(mine, host.node.name);  mine.cores = ...;      // this rank's
//   Machine found = assemble(all_ranks_facts);                                    // the same on every rank
//   found = with_rates(found, read_machine_file(path));                           // NUNA_MACHINE
//
// A run knows its places, but not how fast they are; until something is measured, the rates below stand in.
//
// Threads: values and pure functions. Failure: with_rates throws nuna::Error (bad_setting).

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "nuna/box.hpp"
#include "topology/machine.hpp"

namespace nuna::topology {

/// Until something better is known. Measured on a development machine (2 cores, Open MPI over shared memory): a memcpy by one
/// thread, and messages of 1 MiB and up between two ranks. Estimated: a device's fixed cost of a copy, and a network between
/// nodes of 10 Gbit/s Ethernet.
inline constexpr std::int64_t kHostCopyBytesPerSecond = 11'000'000'000;
inline constexpr std::int64_t kHostCopyLatencyPs = 10'000'000;
inline constexpr Speed kMessagesWithinNode{8'000'000'000, 1'000'000};
inline constexpr Speed kMessagesBetweenNodes{1'000'000'000, 10'000'000};

/// What a rank tells; exchanged as bytes, so it holds no pointers and no padding.
struct RankFacts {
  std::array<char, 64> node_name{};  ///< ends with a zero; see set_node_name
  std::int64_t host_memory_bytes = 0;
  std::int64_t device_memory_bytes = 0;  ///< of each device that has memory of its own
  std::int32_t sockets = 1;              ///< of the node
  std::int32_t node_cores = 1;
  std::int32_t cores = 1;  ///< that the rank may use
  std::int32_t devices = 1;
  std::int32_t threads_per_device = 1;
  std::int32_t shares_host_memory = 1;  ///< 1: the one device computes in the host memory, without copies
  friend bool operator==(const RankFacts&, const RankFacts&) = default;
};
static_assert(std::is_trivially_copyable_v<RankFacts>);
static_assert(std::has_unique_object_representations_v<RankFacts>);

/// Cuts names that are too long: then nodes that differ only in the tail would be taken for one, which host names do not.
void set_node_name(RankFacts& facts, std::string_view name);

/// The machine of these ranks, in their order: ranks that tell the same node name share a node. Host devices only; all
/// places of a rank are joined with each other.
Machine assemble(std::span<const RankFacts> ranks);

/// `found` with the rates, latencies, sockets, buses and links of `file`: to correct a run's guesses, or to impose another
/// machine's limits on it (host devices that may not copy to each other, as GPUs on two buses). Ranks, places, sizes, threads,
/// what the host can reach, and messages of which the file says nothing stay as found. `file` may describe more ranks and
/// places than there are; one that it lacks is refused by name.
Machine with_rates(Machine found, const Machine& file);

}  // namespace nuna::topology
