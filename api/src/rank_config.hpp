#pragma once
// What a rank is told at its start: the options of its Context, completed from the environment and from what the machine is.
// Pure but for the reading of these; any thread.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "adsm/host_view.hpp"
#include "base/injection.hpp"
#include "nuna/context.hpp"
#include "residency/lower.hpp"
#include "route/table.hpp"
#include "topology/discover.hpp"

namespace nuna::detail {

struct RankConfig {
  bool cuda = false;  ///< the devices are GPUs
  bool plain_memory = false;
  int devices = 1;  ///< of GPUs 0 until it is agreed on: the rank's share
  int threads_per_device = 1;
  std::size_t memory_limit_bytes = 0;
  bool limits_devices = false;  ///< the program or the user said it
  int ahead = 64;
  std::chrono::nanoseconds stall{};
  Index overlap = residency::Lowering::kFewestAhead;
  bool poison = false;
  bool check = false;
  bool faults = true;
  Index block_bytes = adsm::kDefaultBlockBytes;
  bool dry_run = false;
  bool closed_memory = false;
  base::Injection injection;
  Index staging_bytes = Index{64} << 20;
  Index chunk_bytes = 0;            ///< 0: as the model says
  std::vector<route::Kind> routes;  ///< not empty: no others, where these are possible
  std::string machine_file;         ///< its name
  std::string machine;              ///< and what it says
  int ranks_in_process = 1;
  int core_sharers = 1;          ///< ranks, in this process or not, that run on the same cores
  std::uint64_t context_id = 0;  ///< the same on every rank, different for each Context of a process
};

/// Kinds that NUNA_ROUTES may name: of messages, and of copies within a rank.
inline constexpr std::array kMessageKinds = {route::Kind::mapped, route::Kind::packed, route::Kind::pipelined,
                                             route::Kind::in_place};
inline constexpr std::array kCopyKinds = {route::Kind::direct, route::Kind::staged};

/// The machine that this process runs on, as found at the first call.
const topology::HostResources& host_resources();

/// On which this process may run.
int allowed_cores();

/// Options, completed from the environment and the machine. `core_sharers`: ranks that share this process's cores. Throws
/// Error (bad_setting).
RankConfig configure(const Options& options, int ranks_in_process, int core_sharers);

/// One warning per process when a launcher gave it fewer cores than it has devices.
void warn_about_cores(const RankConfig& config);

/// How long waiting threads of the rank look before they sleep: spinning pays only while every thread has a core of its own.
std::chrono::nanoseconds spin_of(const RankConfig& config);

}  // namespace nuna::detail
