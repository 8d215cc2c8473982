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
#include <vector>

#include "nuna/box.hpp"
#include "topology/cards.hpp"
#include "topology/machine.hpp"

namespace nuna::topology {

/// Until something better is known. Measured on a development machine (2 cores, Open MPI over shared memory): a memcpy by one
/// thread, and messages of 1 MiB and up between two ranks. Estimated: a device's fixed cost of a copy, and a network between
/// nodes of 10 Gbit/s Ethernet.
inline constexpr std::int64_t kHostCopyBytesPerSecond = 11'000'000'000;
inline constexpr std::int64_t kHostCopyLatencyPs = 10'000'000;
/// Estimated for GPUs: PCI Express 4.0 with 16 lanes in one direction, and a copy's start.
inline constexpr std::int64_t kCardLinkBytesPerSecond = 20'000'000'000;
inline constexpr std::int64_t kCardCopyLatencyPs = 8'000'000;
inline constexpr Speed kMessagesWithinNode{8'000'000'000, 1'000'000};
inline constexpr Speed kMessagesBetweenNodes{1'000'000'000, 10'000'000};

/// What a rank tells; exchanged as bytes, so it holds no pointers and no padding.
struct RankFacts {
  std::array<char, 64> node_name{};  ///< ends with a zero; see set_node_name
  std::int64_t host_memory_bytes = 0;
  std::int64_t device_memory_bytes = 0;  ///< of each device that has memory of its own; a GPU may have less
  std::int32_t sockets = 1;              ///< of the node
  std::int32_t node_cores = 1;
  std::int32_t cores = 1;  ///< that the rank may use
  std::int32_t devices = 1;
  std::int32_t threads_per_device = 1;
  std::int32_t shares_host_memory = 1;  ///< 1: the one device computes in the host memory, without copies
  std::int64_t cards_seen = 0;          ///< of `cards`
  std::array<CardFacts, kMostCards> cards{};
  friend bool operator==(const RankFacts&, const RankFacts&) = default;
};
static_assert(std::is_trivially_copyable_v<RankFacts>);
static_assert(std::has_unique_object_representations_v<RankFacts>);

/// The GPUs that the devices of a rank are on, in their order; none for host devices.
using RankShares = std::vector<CardShare>;

/// Cuts names that are too long: then nodes that differ only in the tail would be taken for one, which host names do not.
void set_node_name(RankFacts& facts, std::string_view name);

/// How the ranks share out the GPUs that they see: see share_out(). Ranks that tell the same node name share a node.
std::vector<RankShares> shares_of(std::span<const RankFacts> ranks, int devices);

/// The machine of these ranks, in their order: ranks that tell the same node name share a node. All places of a rank are joined
/// with each other, but for GPUs that do not reach each other's memory. `shares` says which ranks' devices are GPUs; empty: none.
Machine assemble(std::span<const RankFacts> ranks, std::span<const RankShares> shares = {});

/// `found` with the rates, latencies, sockets, buses and links of `file`: to correct a run's guesses, or to impose another
/// machine's limits on it (host devices that may not copy to each other, as GPUs on two buses). Ranks, places, sizes, threads,
/// what the host can reach, and messages of which the file says nothing stay as found. `file` may describe more ranks and
/// places than there are; one that it lacks is refused by name.
Machine with_rates(Machine found, const Machine& file);

}  // namespace nuna::topology
