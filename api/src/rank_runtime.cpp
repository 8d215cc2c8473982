#include "rank_runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "base/log.hpp"
#include "device/host/host_device.hpp"
#include "execute/dry_run.hpp"
#include "nuna/error.hpp"
#include "topology/discover.hpp"
#include "trace_session.hpp"

namespace nuna::detail {
namespace {

const topology::HostResources& host() {
  static const topology::HostResources only = topology::discover_host();
  return only;
}

int allowed_cores() { return static_cast<int>(host().allowed_cores.size()); }

// Spinning pays only while every thread has a core of its own; the program's own thread counts.
std::chrono::nanoseconds spin_of(const RankConfig& config) {
  const int threads = config.core_sharers * (config.devices * config.threads_per_device + 1);
  return threads <= allowed_cores() ? std::chrono::microseconds(20) : std::chrono::nanoseconds(0);
}

std::int64_t whole_number(const char* name, int asked, std::int64_t from_environment, std::int64_t most) {
  const std::int64_t value = asked != 0 ? asked : from_environment;
  if (value >= 1 && value <= most) return value;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is " + std::to_string(value) +
                                               ": expected a whole number from 1 to " + std::to_string(most));
}

}  // namespace

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
  c.devices =
      static_cast<int>(whole_number("the number of devices", options.devices,
                                    settings.integer("NUNA_DEVICES", 1, 1, kMostDevices), kMostDevices));
  const int share = std::max(1, allowed_cores() / (c.devices * core_sharers));
  c.threads_per_device =
      static_cast<int>(whole_number("the number of threads per device", options.threads_per_device,
                                    settings.integer("NUNA_THREADS", share, 1, kMostThreads), kMostThreads));
  c.memory_limit_bytes = options.memory_limit_bytes;
  if (c.memory_limit_bytes == 0) {
    const auto whole = static_cast<std::int64_t>(host().memory_bytes);
    c.memory_limit_bytes = static_cast<std::size_t>(settings.bytes("NUNA_MEMORY_LIMIT", whole));
  }
  c.ahead = static_cast<int>(settings.integer("NUNA_AHEAD", 64, 1, 1 << 20));
  c.overlap = settings.integer("NUNA_OVERLAP", residency::Lowering::kFewestAhead, 0, Index{1} << 60);
  c.poison = settings.boolean("NUNA_POISON", false);
  c.check = settings.boolean("NUNA_CHECK", false);
  c.stall = settings.seconds("NUNA_STALL", cluster::kDefaultStall);
  c.injection = base::Injection::parse(settings.text("NUNA_INJECT", ""));
  c.staging_bytes = settings.bytes("NUNA_STAGING", c.staging_bytes);
  c.dry_run = options.dry_run || settings.boolean("NUNA_DRY_RUN", false);
  return c;
}

void warn_about_cores(const RankConfig& config) {
  if (config.devices <= allowed_cores()) return;
  base::warn_once("cores",
                  "this rank has " + std::to_string(config.devices) + " devices but may use only " +
                      std::to_string(allowed_cores()) +
                      " core(s): bind ranks to more cores (mpirun --bind-to none, or --map-by slot:PE=" +
                      std::to_string(config.devices) + "), or use fewer devices");
}

// One device: its memory is the host place. More: each has a memory of its own, and the host place has a queue for
// copies.
RankRuntime::RankRuntime(const RankConfig& config, std::unique_ptr<cluster::Communicator> communicator)
    : config_(config),
      recorder_(api::trace_recorder()),
      bell_(spin_of(config)),
      communicator_(std::move(communicator)),
      slots_(address::Window::of_process().acquire(
          {this, config.devices > 1 ? config.devices : 0, config.ranks_in_process,
           communicator_->size() > config.ranks_in_process})),
      arena_(slots_.slot_bytes()) {
  const bool shared = config_.devices == 1;
  devices_.push_back(
      make_device(base::kHostPlace, shared ? "host:0" : "host", shared ? config_.threads_per_device : 1));
  for (int d = 0; d < config_.devices && !shared; ++d) {
    devices_.push_back(make_device({d + 1}, "host:" + std::to_string(d), config_.threads_per_device));
  }
  for (const auto& d : devices_) places_.device_of_place.push_back(d.get());
  for (int d = 0; d < config_.devices; ++d) places_.place_of_slot.push_back({shared ? 0 : d + 1});

  if (ranks() > 1) {
    connect();
    wire_ = std::make_unique<execute::Wire>(execute::Wire::Config{config_.context_id, config_.stall},
                                            *communicator_, *carrier_, bell_, stats_, recorder_.get());
  }
  if (config_.dry_run) {
    executor_ = std::make_unique<execute::DryRun>(
        rank(), [](const std::string& lines) { std::fputs(lines.c_str(), stdout); });
  } else {
    executor_ = std::make_unique<execute::Live>(execute::LiveConfig{config_.ahead, config_.poison}, places_,
                                                wire_.get(), stats_);
  }
  execute::ProgramConfig program;
  program.team = {ranks(), config_.devices};
  program.rank = rank();
  program.poison = config_.poison;
  program.fewest_ahead = config_.overlap;
  program.check = config_.check;
  program.dense_limit = agree() / 2;
  program_ = std::make_unique<execute::Program>(program, places_, arena_, *communicator_, *executor_, stats_,
                                                recorder_.get());
  views_ = std::make_unique<adsm::HostViews>(*program_);
}

// Finds out how messages go to and from each other rank.
void RankRuntime::connect() {
  base::check(arena_.allocate(cluster::kProofBytes) == 0, "the proof lies at the beginning of every place");
  cluster::Neighbours::Memory memory;
  for (int p = 0; p < slots_.places(); ++p) {
    memory.bases.push_back(slots_.base({p}));
    memory.files.push_back(slots_.file({p}));
  }
  memory.bytes = slots_.slot_bytes();
  neighbours_ = std::make_unique<cluster::Neighbours>(*communicator_, memory, config_.injection);
  staging_ = std::make_unique<transfer::Staging>(config_.staging_bytes, config_.injection);
  std::vector<route::Table> to;
  std::vector<route::Table> from;
  const auto table = [](bool mapped) {
    if (mapped) return route::Table({{0, route::Kind::packed, 0, 0}, {32 << 10, route::Kind::mapped, 0, 0}});
    return route::Table({{0, route::Kind::packed, 0, 0}, {2 << 20, route::Kind::pipelined, 512 << 10, 3}});
  };
  for (int r = 0; r < ranks(); ++r) {
    to.push_back(table(neighbours_->read_by({r}).good));
    from.push_back(table(neighbours_->reading({r}).good));
  }
  carrier_ = std::make_unique<transfer::Carrier>(transfer::Carrier::Config{memory.bases, config_.injection},
                                                 *communicator_, neighbours_.get(), *staging_, std::move(to),
                                                 std::move(from));
}

std::unique_ptr<device::Device> RankRuntime::make_device(base::PlaceId place, const std::string& name,
                                                         int threads) {
  device::HostDeviceConfig d;
  d.name = ranks() > 1 ? "rank " + std::to_string(rank().value) + " " + name : name;
  d.threads = threads;
  d.base = slots_.base(place);
  const auto page = static_cast<Index>(::sysconf(_SC_PAGESIZE));
  d.range_bytes = static_cast<std::size_t>(slots_.slot_bytes() / page * page);
  d.memory_bytes = config_.memory_limit_bytes;
  d.shares_host_memory = place == base::kHostPlace;
  d.shared_mapping = place == base::kHostPlace || slots_.file(place) >= 0;
  d.bell = &bell_;
  d.spin = spin_of(config_);
  d.stats = &stats_;
  if (recorder_ != nullptr) {
    d.recorder = recorder_.get();
    d.track = recorder_->track(rank(), trace::TrackKind::device, name);
  }
  return device::make_host_device(d);
}

// What all ranks must have alike, or plans would differ. Returns the smallest slot of any rank.
Index RankRuntime::agree() const {
  struct Facts {
    Index slot_bytes = 0;
    Index devices = 0;
    Index poison = 0;
    Index check = 0;
    Index dry_run = 0;
  };
  const Facts mine{slots_.slot_bytes(), config_.devices, config_.poison, config_.check, config_.dry_run};
  Index smallest = mine.slot_bytes;
  if (ranks() == 1) return smallest;
  cluster::Envelope envelope;
  envelope.call = "the creation of a Context";
  std::vector<std::byte> bytes(sizeof mine);
  std::memcpy(bytes.data(), &mine, sizeof mine);
  std::vector<Facts> all;
  for (const auto& each : communicator_->allgather(envelope, bytes)) {
    Facts facts;
    std::memcpy(&facts, each.data(), std::min(each.size(), sizeof facts));
    all.push_back(facts);
  }
  for (std::size_t r = 0; r < all.size(); ++r) {
    smallest = std::min(smallest, all[r].slot_bytes);
    const auto alike = [&](Index Facts::* fact, const char* what, const char* setting) {
      if (all[r].*fact == all[0].*fact) return;
      throw Error(ErrorCode::bad_setting, "rank " + std::to_string(r) + " has " +
                                              std::to_string(all[r].*fact) + what + " where rank 0 has " +
                                              std::to_string(all[0].*fact) + ": give every rank the same " +
                                              setting);
    };
    alike(&Facts::devices, " devices", "NUNA_DEVICES");
    alike(&Facts::poison, " for poisoning", "NUNA_POISON");
    alike(&Facts::check, " for checking", "NUNA_CHECK");
    alike(&Facts::dry_run, " for a dry run", "NUNA_DRY_RUN");
  }
  return smallest;
}

void RankRuntime::leave() {
  cluster::Status status = communicator_->status_of(rank());
  status.left = true;
  communicator_->publish(status);
}

RankRuntime::~RankRuntime() {
  views_.reset();
  program_.reset();  // waits for everything
  executor_.reset();
  wire_.reset();
  carrier_.reset();
  neighbours_.reset();  // nobody reads this rank's memory any more
  devices_.clear();
  communicator_.reset();
  if (recorder_ != nullptr) api::write_trace();
}

}  // namespace nuna::detail
