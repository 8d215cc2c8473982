#include "rank_config.hpp"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <atomic>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "cluster/stall_watch.hpp"
#include "nuna/error.hpp"
#include "rank_devices.hpp"
#include "topology/machine_file.hpp"
#include "transfer/staging.hpp"

namespace nuna::detail {
namespace {

std::int64_t whole_number(const char* name, int asked, std::int64_t from_environment, std::int64_t most) {
  const std::int64_t value = asked != 0 ? asked : from_environment;
  if (value >= 1 && value <= most) return value;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is " + std::to_string(value) +
                                               ": expected a whole number from 1 to " + std::to_string(most));
}

std::vector<route::Kind> routes_of(const std::string& text) {
  std::vector<route::Kind> kinds;
  const std::vector<std::string> names = absl::StrSplit(text, absl::ByAnyChar(", "), absl::SkipEmpty());
  for (const std::string& name : names) {
    const std::size_t before = kinds.size();
    for (const auto kind : kMessageKinds) {
      if (name == route::to_string(kind)) kinds.push_back(kind);
    }
    for (const auto kind : kCopyKinds) {
      if (name == route::to_string(kind)) kinds.push_back(kind);
    }
    if (kinds.size() == before) {
      throw Error(ErrorCode::bad_setting,
                  "NUNA_ROUTES is \"" + text +
                      "\": expected names of mapped, packed, pipelined, direct, staged, with "
                      "commas between them");
    }
  }
  return kinds;
}

constexpr Index kLeastChunkBytes = 16;

}  // namespace

const topology::HostResources& host_resources() {
  static const topology::HostResources only = topology::discover_host();
  return only;
}

int allowed_cores() { return static_cast<int>(host_resources().allowed_cores.size()); }

RankConfig configure(const Options& options, int ranks_in_process, int core_sharers) {
  static std::atomic<std::uint64_t> next_context{1};
  const base::Settings settings = base::Settings::from_environment();
  base::configure_log(settings);
  settings.warn_about_unknown();
  constexpr int kMostDevices = base::kMaxPlaces - 1;
  constexpr int kMostThreads = 4096;
  RankConfig c;
  c.ranks_in_process = ranks_in_process;
  c.core_sharers = core_sharers;
  c.context_id = next_context.fetch_add(1);
  c.dry_run = options.dry_run || settings.boolean("NUNA_DRY_RUN", false);
  c.cuda = wants_cuda(options.kind, settings) && !c.dry_run;
  const std::string memory = settings.text("NUNA_CUDA_MEMORY", "mapped");
  if (memory != "mapped" && memory != "plain")
    throw Error(ErrorCode::bad_setting, "NUNA_CUDA_MEMORY is \"" + memory + "\": expected mapped or plain");
  c.plain_memory = memory == "plain";
  if (!c.cuda || options.devices != 0 || settings.has("NUNA_DEVICES")) {
    c.devices =
        static_cast<int>(whole_number("the number of devices", options.devices,
                                      settings.integer("NUNA_DEVICES", 1, 1, kMostDevices), kMostDevices));
  } else {
    c.devices = 0;
  }
  const int share = std::max(1, allowed_cores() / (std::max(1, c.devices) * core_sharers));
  c.threads_per_device =
      static_cast<int>(whole_number("the number of threads per device", options.threads_per_device,
                                    settings.integer("NUNA_THREADS", share, 1, kMostThreads), kMostThreads));
  c.memory_limit_bytes = options.memory_limit_bytes;
  c.closed_memory = options.closed_memory;
  c.limits_devices = options.memory_limit_bytes != 0 || settings.has("NUNA_MEMORY_LIMIT");
  if (c.memory_limit_bytes == 0) {
    const auto whole = static_cast<std::int64_t>(host_resources().memory_bytes);
    c.memory_limit_bytes = static_cast<std::size_t>(settings.bytes("NUNA_MEMORY_LIMIT", whole));
  }
  c.ahead = static_cast<int>(settings.integer("NUNA_AHEAD", 64, 1, 1 << 20));
  c.overlap = settings.integer("NUNA_OVERLAP", residency::Lowering::kFewestAhead, 0, Index{1} << 60);
  c.poison = settings.boolean("NUNA_POISON", false);
  c.faults = settings.boolean("NUNA_FAULTS", true);
  c.block_bytes = settings.bytes("NUNA_BLOCK", adsm::kDefaultBlockBytes);
  if (c.block_bytes < adsm::kLeastBlockBytes || c.block_bytes > adsm::kMostBlockBytes ||
      (c.block_bytes & (c.block_bytes - 1)) != 0) {
    throw Error(ErrorCode::bad_setting, "NUNA_BLOCK is " + std::to_string(c.block_bytes) +
                                            " bytes: expected a power of two from 4 KiB to 2 MiB");
  }
  c.check = settings.boolean("NUNA_CHECK", false);
  c.stall = settings.seconds("NUNA_STALL", cluster::kDefaultStall);
  c.injection = base::Injection::parse(settings.text("NUNA_INJECT", ""));
  c.staging_bytes = settings.bytes("NUNA_STAGING", c.staging_bytes);
  c.chunk_bytes = settings.bytes("NUNA_CHUNK", 0);
  if (c.chunk_bytes != 0)
    c.chunk_bytes = std::clamp(c.chunk_bytes, kLeastChunkBytes, transfer::Staging::kBlockBytes);
  c.routes = routes_of(settings.text("NUNA_ROUTES", ""));
  c.machine_file = settings.text("NUNA_MACHINE", "");
  if (!c.machine_file.empty()) c.machine = topology::machine_text(c.machine_file);
  return c;
}

void warn_about_cores(const RankConfig& config) {
  if (config.cuda || config.devices <= allowed_cores()) return;
  base::warn_once("cores",
                  "this rank has " + std::to_string(config.devices) + " devices but may use only " +
                      std::to_string(allowed_cores()) +
                      " core(s): bind ranks to more cores (mpirun --bind-to none, or --map-by slot:PE=" +
                      std::to_string(config.devices) + "), or use fewer devices");
}

// The program's own thread counts. A GPU keeps one busy, and the host place's queue is another.
std::chrono::nanoseconds spin_of(const RankConfig& config) {
  const int working =
      config.cuda ? std::max(1, config.devices) + 1 : config.devices * config.threads_per_device;
  const int threads = config.core_sharers * (working + 1);
  return threads <= allowed_cores() ? std::chrono::microseconds(20) : std::chrono::nanoseconds(0);
}

}  // namespace nuna::detail
