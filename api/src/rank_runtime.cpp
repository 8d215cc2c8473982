#include "rank_runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "device/host/host_device.hpp"
#include "execute/dry_run.hpp"
#include "nuna/error.hpp"
#include "topology/machine_file.hpp"
#include "trace_session.hpp"

namespace nuna::detail {
namespace {

Index route_bits(const std::vector<route::Kind>& kinds) {
  Index bits = 0;
  for (const auto kind : kinds) bits |= Index{1} << static_cast<int>(kind);
  return bits;
}

// What a proof found out: a way less, or a rate below the description's. (Above it, a cache may have helped.)
void note(const cluster::Neighbours::Proof& proof, const route::Ends& ends, const topology::Machine& machine,
          route::Findings& findings) {
  if (!proof.good) return findings.refuse(ends, route::Kind::mapped, proof.why_not);
  const topology::Memory* from = topology::find_memory(machine, ends.from);
  if (proof.bytes_per_second > 0 && from != nullptr && proof.bytes_per_second < from->copy_bytes_per_second)
    findings.measured(ends, route::Kind::mapped, proof.bytes_per_second);
}

Index text_number(const std::string& text) {
  Index sum = 0;
  for (const char c : text) sum = (sum * 131 + static_cast<unsigned char>(c)) % 1'000'000'007;
  return sum;
}

// Between two memories: if some named kind of a group leads there, the others of that group are refused.
template <class Group>
void refuse_others(const Group& group, const std::vector<route::Kind>& kinds,
                   const topology::Machine& machine, const route::Ends& ends, route::Findings& findings) {
  const auto in_group = [&](route::Kind kind) {
    return std::find(group.begin(), group.end(), kind) != group.end();
  };
  const auto named = [&](route::Kind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  const auto ways = route::ways(machine, findings, ends, {1, false, false});
  const bool leads = std::any_of(ways.begin(), ways.end(), [&](const route::Way& way) {
    return way.possible && in_group(way.kind) && named(way.kind);
  });
  if (!leads) return;
  for (const auto kind : group) {
    if (!named(kind)) findings.refuse(ends, kind, "NUNA_ROUTES does not name it");
  }
}

}  // namespace

// One host device: its memory is the host place. More, or GPUs: each has a memory of its own, and the host place has a queue
// for copies.
RankRuntime::RankRuntime(const RankConfig& config, std::unique_ptr<cluster::Communicator> communicator)
    : config_(config),
      recorder_(api::trace_recorder()),
      bell_(spin_of(config)),
      communicator_(std::move(communicator)),
      slots_(address::Window::of_process().acquire(
          {this, config.devices > 1 && !config.cuda ? config.devices : 0, config.ranks_in_process,
           communicator_->size() > config.ranks_in_process, lazy()})),
      arena_(slots_.slot_bytes()) {
  const Index smallest_slot = make_devices(agree());
  connect();
  mover_ = std::make_unique<transfer::Mover>(transfer::Mover::Config{cluster::kProofBytes, config_.injection},
                                             places_.device_of_place, *ways_, *staging_);
  if (ranks() > 1) {
    wire_ = std::make_unique<execute::Wire>(execute::Wire::Config{config_.context_id, config_.stall},
                                            *communicator_, *carrier_, bell_, stats_, recorder_.get());
  }
  if (config_.dry_run) {
    executor_ = std::make_unique<execute::DryRun>(
        rank(), [](const std::string& lines) { std::fputs(lines.c_str(), stdout); });
  } else {
    executor_ = std::make_unique<execute::Live>(execute::LiveConfig{config_.ahead, config_.poison}, places_,
                                                *mover_, wire_.get(), turn_, stats_);
  }
  execute::ProgramConfig program;
  program.team = {ranks(), config_.devices};
  program.rank = rank();
  program.poison = config_.poison;
  program.fewest_ahead = config_.overlap;
  program.check = config_.check;
  program.dense_limit = smallest_slot / 2;
  program_ = std::make_unique<execute::Program>(program, places_, arena_, *communicator_, *executor_, stats_,
                                                recorder_.get());
  views_ = std::make_unique<adsm::HostViews>(
      *program_, turn_, adsm::HostViews::Config{lazy(), config_.block_bytes, [this] { return mappings(); }});
}

// Returns the smallest range of addresses that any place of any rank has.
Index RankRuntime::make_devices(Index smallest_slot) {
  const bool shared = config_.devices == 1 && !config_.cuda;
  if (config_.cuda) {
    cards_ = std::make_unique<RankCards>(RankCards::Config{
        ranks() > 1 ? "rank " + std::to_string(rank().value) + " " : "", shares_, slots_.slot_bytes(),
        config_.plain_memory, &bell_, spin_of(config_), recorder_.get(), rank()});
    cards_->manage(slots_.base(base::kHostPlace), slots_.slot_bytes());
  }
  devices_.push_back(
      make_device(base::kHostPlace, shared ? "host:0" : "host", shared ? config_.threads_per_device : 1));
  for (int d = 0; d < config_.devices && !shared && !config_.cuda; ++d) {
    devices_.push_back(make_device({d + 1}, "host:" + std::to_string(d), config_.threads_per_device));
  }
  if (config_.cuda) {
    Index smallest = slots_.slot_bytes();
    for (auto& device : cards_->take_devices()) {
      slots_.add_place(device->base(), device->range_bytes());
      smallest = std::min(smallest, device->range_bytes());
      devices_.push_back(std::move(device));
    }
    // What every place has, on every rank alike.
    arena_ = address::Arena(smallest);
    smallest_slot = smallest_of_all("the making of devices", smallest);
  }
  for (const auto& d : devices_) places_.device_of_place.push_back(d.get());
  for (int d = 0; d < config_.devices; ++d) places_.place_of_slot.push_back({shared ? 0 : d + 1});
  for (std::size_t d = 0; d < places_.place_of_slot.size(); ++d) {
    residency::PlaceSet reached;
    for (std::size_t other = 0; other < places_.place_of_slot.size(); ++other) {
      if (cards_ == nullptr || card_reaches(shares_[d].card, shares_[other].card))
        reached = reached.with(places_.place_of_slot[other]);
    }
    places_.reached_by_slot.push_back(reached);
  }
  return smallest_slot;
}

Index RankRuntime::smallest_of_all(const char* call, Index mine) {
  if (ranks() == 1) return mine;
  cluster::Envelope envelope;
  envelope.call = call;
  std::vector<std::byte> bytes(sizeof mine);
  std::memcpy(bytes.data(), &mine, sizeof mine);
  for (const auto& each : communicator_->allgather(envelope, bytes)) {
    Index theirs = mine;
    std::memcpy(&theirs, each.data(), std::min(each.size(), sizeof theirs));
    mine = std::min(mine, theirs);
  }
  return mine;
}

// Of the places that the CPU reaches.
std::vector<std::byte*> RankRuntime::mappable_bases() const {
  std::vector<std::byte*> bases;
  for (int p = 0; p < (config_.cuda ? 1 : slots_.places()); ++p) bases.push_back(slots_.base({p}));
  return bases;
}

// Finds out how bytes go to and from each other rank, and between the places of this one.
void RankRuntime::connect() {
  if (ranks() > 1 || slots_.places() > 1)
    base::check(arena_.allocate(cluster::kProofBytes) == 0, "the proof lies at the beginning of every place");
  const std::vector<std::byte*> bases = mappable_bases();
  std::vector<int> files;
  for (int p = 0; p < static_cast<int>(bases.size()); ++p) files.push_back(slots_.file({p}));
  route::Findings findings;
  if (ranks() > 1) {
    neighbours_ = std::make_unique<cluster::Neighbours>(
        *communicator_, cluster::Neighbours::Memory{bases, files, slots_.slot_bytes()}, config_.injection);
  }
  for (int r = 0; r < ranks(); ++r) {
    if (r == rank().value) continue;
    const topology::MemoryId here{rank(), base::kHostPlace};
    const topology::MemoryId there{{r}, base::kHostPlace};
    const auto& in = neighbours_->reading({r});
    const auto& out = neighbours_->read_by({r});
    note(in, {there, here}, machine_, findings);
    note(out, {here, there}, machine_, findings);
    for (const auto kind : {route::Kind::mapped, route::Kind::pipelined, route::Kind::in_place}) {
      if (!config_.cuda) break;
      findings.refuse({there, here}, kind, "messages of GPUs' memory are packed into the host's");
      findings.refuse({here, there}, kind, "messages of GPUs' memory are packed into the host's");
    }
    if (config_.routes.empty()) continue;
    refuse_others(kMessageKinds, config_.routes, machine_, {there, here}, findings);
    refuse_others(kMessageKinds, config_.routes, machine_, {here, there}, findings);
  }
  for (int from = 0; from < slots_.places() && !config_.routes.empty(); ++from) {
    for (int to = 0; to < slots_.places(); ++to) {
      if (from != to)
        refuse_others(kCopyKinds, config_.routes, machine_, {{rank(), {from}}, {rank(), {to}}}, findings);
    }
  }
  route::Limits limits;
  limits.most_chunk_bytes = transfer::Staging::kBlockBytes;
  if (config_.chunk_bytes > 0) limits.least_chunk_bytes = limits.most_chunk_bytes = config_.chunk_bytes;
  ways_ = std::make_unique<transfer::Ways>(machine_, std::move(findings), limits, rank());
  transfer::Staging::Watcher watcher;
  if (cards_ != nullptr) {
    watcher.made = [cards = cards_.get()](std::byte* first, Index bytes) { cards->manage(first, bytes); };
    watcher.going = [cards = cards_.get()](std::byte* first) { cards->unmanage(first); };
  }
  staging_ =
      std::make_unique<transfer::Staging>(config_.staging_bytes, config_.injection, std::move(watcher));
  if (ranks() > 1) {
    carrier_ = std::make_unique<transfer::Carrier>(
        transfer::Carrier::Config{bases, config_.injection, config_.check}, *communicator_, neighbours_.get(),
        *staging_, *ways_);
  }
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
  d.closed = config_.closed_memory && ranks() == 1;
  if (cards_ != nullptr) {
    d.before_giving_back = [cards = cards_.get()](std::byte* first, Index bytes) {
      cards->forget(first, bytes);
    };
  }
  d.bell = &bell_;
  d.spin = spin_of(config_);
  d.stats = &stats_;
  if (recorder_ != nullptr) {
    d.recorder = recorder_.get();
    d.track = recorder_->track(rank(), trace::TrackKind::device, name);
  }
  return device::make_host_device(d);
}

topology::RankFacts RankRuntime::facts() const {
  topology::RankFacts facts;
  topology::set_node_name(facts, host_resources().node.name);
  facts.host_memory_bytes = static_cast<std::int64_t>(config_.memory_limit_bytes);
  facts.device_memory_bytes = facts.host_memory_bytes;
  facts.sockets = host_resources().node.sockets;
  facts.node_cores = host_resources().node.cores;
  facts.cores = allowed_cores();
  facts.devices = config_.devices;
  facts.threads_per_device = config_.threads_per_device;
  facts.shares_host_memory = config_.devices == 1 && !config_.cuda ? 1 : 0;
  if (config_.cuda) {
    if (!config_.limits_devices) facts.device_memory_bytes = std::numeric_limits<std::int64_t>::max();
    tell_cards(facts);
  }
  return facts;
}

// What all ranks must have alike, or plans would differ; and what they are, for the machine's description. Returns the
// smallest slot of any rank.
Index RankRuntime::agree() {
  struct Facts {
    Index slot_bytes = 0;
    Index devices = 0;
    Index cuda = 0;
    Index poison = 0;
    Index check = 0;
    Index dry_run = 0;
    Index chunk_bytes = 0;
    Index routes = 0;
    Index machine = 0;
    topology::RankFacts rank;
  };
  const Facts mine{slots_.slot_bytes(),
                   config_.devices,
                   config_.cuda,
                   config_.poison,
                   config_.check,
                   config_.dry_run,
                   config_.chunk_bytes,
                   route_bits(config_.routes),
                   text_number(config_.machine),
                   facts()};
  std::vector<Facts> all;
  if (ranks() == 1) {
    all.push_back(mine);
  } else {
    cluster::Envelope envelope;
    envelope.call = "the creation of a Context";
    std::vector<std::byte> bytes(sizeof mine);
    std::memcpy(bytes.data(), &mine, sizeof mine);
    for (const auto& each : communicator_->allgather(envelope, bytes)) {
      Facts facts;
      std::memcpy(&facts, each.data(), std::min(each.size(), sizeof facts));
      all.push_back(facts);
    }
  }
  Index smallest = mine.slot_bytes;
  std::vector<topology::RankFacts> described;
  for (std::size_t r = 0; r < all.size(); ++r) {
    smallest = std::min(smallest, all[r].slot_bytes);
    described.push_back(all[r].rank);
    const auto alike = [&](Index Facts::* fact, const char* what, const char* setting) {
      if (all[r].*fact == all[0].*fact) return;
      throw Error(ErrorCode::bad_setting, "rank " + std::to_string(r) + " has " +
                                              std::to_string(all[r].*fact) + what + " where rank 0 has " +
                                              std::to_string(all[0].*fact) + ": give every rank the same " +
                                              setting);
    };
    alike(&Facts::cuda, " as whether its devices are GPUs", "NUNA_DEVICE, and machines with or without GPUs");
    alike(&Facts::devices, " devices", "NUNA_DEVICES");
    alike(&Facts::poison, " for poisoning", "NUNA_POISON");
    alike(&Facts::check, " for checking", "NUNA_CHECK");
    alike(&Facts::dry_run, " for a dry run", "NUNA_DRY_RUN");
    alike(&Facts::chunk_bytes, " bytes a chunk", "NUNA_CHUNK");
    alike(&Facts::routes, " as its set of routes", "NUNA_ROUTES");
    alike(&Facts::machine, " as the sum of its machine file", "NUNA_MACHINE");
  }
  std::vector<topology::RankShares> shares;
  if (config_.cuda) {
    shares = topology::shares_of(described, config_.devices);
    shares_ = shares[static_cast<std::size_t>(rank().value)];
    config_.devices = static_cast<int>(shares_.size());
  }
  machine_ = topology::assemble(described, shares);
  if (!config_.machine.empty()) {
    machine_ = topology::with_rates(std::move(machine_),
                                    topology::read_machine(config_.machine, config_.machine_file));
  }
  return smallest;
}

adsm::HostSide::Mappings RankRuntime::mappings() {
  const address::Slots::Twin twin = slots_.twin();
  return {slots_.view(), slots_.slot_bytes(), slots_.file(base::kHostPlace), twin.first, twin.file};
}

bool RankRuntime::is_host_memory(const void* memory) const {
  return cards_ == nullptr || !cards_->is_on_card(memory);
}

// Whole pages, which are what is pinned.
void RankRuntime::adopt_host_memory(std::byte* first, Index bytes) {
  if (cards_ == nullptr || cards_->is_pinned(first)) return;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t into = reinterpret_cast<std::uintptr_t>(first) % page;
  const auto whole = static_cast<Index>((into + static_cast<std::uintptr_t>(bytes) + page - 1) / page * page);
  cards_->manage(first - into, whole);
}

void RankRuntime::leave_host_memory(std::byte* first) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  if (cards_ != nullptr) cards_->unmanage(first - reinterpret_cast<std::uintptr_t>(first) % page);
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
  mover_.reset();
  wire_.reset();
  carrier_.reset();
  ways_.reset();
  neighbours_.reset();  // nobody reads this rank's memory any more
  devices_.clear();
  if (cards_ != nullptr) cards_->unmanage(slots_.base(base::kHostPlace));
  staging_.reset();
  communicator_.reset();
  if (recorder_ != nullptr) api::write_trace();
}

}  // namespace nuna::detail
