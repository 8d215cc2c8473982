#pragma once
// RankRuntime: everything that one rank of a Context owns, put together in the order in which it depends on each other.

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "address/arena.hpp"
#include "address/window.hpp"
#include "adsm/host_view.hpp"
#include "base/settings.hpp"
#include "base/turn.hpp"
#include "cluster/communicator.hpp"
#include "cluster/neighbours.hpp"
#include "device/device.hpp"
#include "execute/live.hpp"
#include "execute/program.hpp"
#include "execute/wire.hpp"
#include "nuna/context.hpp"
#include "rank_config.hpp"
#include "rank_devices.hpp"
#include "topology/gathered.hpp"
#include "trace/recorder.hpp"
#include "trace/stats.hpp"
#include "transfer/carrier.hpp"
#include "transfer/mover.hpp"
#include "transfer/staging.hpp"
#include "transfer/ways.hpp"

namespace nuna::detail {

class RankRuntime {
 public:
  RankRuntime(const RankConfig& config, std::unique_ptr<cluster::Communicator> communicator);
  ~RankRuntime();
  RankRuntime(const RankRuntime&) = delete;
  RankRuntime& operator=(const RankRuntime&) = delete;

  /// By which threads take turns in a self Context; nobody holds it in a replicated one.
  base::Turn& turn() { return turn_; }
  execute::Program& program() { return *program_; }
  adsm::HostViews& views() { return *views_; }
  trace::Stats& stats() { return stats_; }
  const RankConfig& config() const { return config_; }
  /// Tells the other ranks that no call of this one will follow. After everything was drained.
  void leave();
  base::RankId rank() const { return communicator_->rank(); }
  int ranks() const { return communicator_->size(); }
  /// Whether the calling thread may make calls: any, unless MPI is for the main thread only.
  bool callable_here() const { return wire_ == nullptr || wire_->may_drive(); }
  const address::Slots& slots() const { return slots_; }
  /// For tools that look behind the API.
  const topology::Machine& machine() const { return machine_; }
  const transfer::Ways& ways() const { return *ways_; }
  transfer::Mover& mover() { return *mover_; }
  const execute::Places& places() const { return places_; }
  address::Arena& arena() { return arena_; }
  /// Whether the CPU can use memory that the program has got elsewhere.
  bool is_host_memory(const void* memory) const;
  /// Such memory takes part in copies from now on, until it is left.
  void adopt_host_memory(std::byte* first, Index bytes);
  void leave_host_memory(std::byte* first);
  std::chrono::nanoseconds age() const { return std::chrono::steady_clock::now() - start_; }

 private:
  /// Whether host views may be lazy: other ranks know nothing of what is touched here.
  bool lazy() const { return config_.faults && !config_.dry_run && ranks() == 1; }
  adsm::HostSide::Mappings mappings();
  topology::RankFacts facts() const;
  Index agree();
  Index make_devices(Index smallest_slot);
  Index smallest_of_all(const char* call, Index mine);
  std::vector<std::byte*> mappable_bases() const;
  void connect();
  std::unique_ptr<device::Device> make_device(base::PlaceId place, const std::string& name, int threads);

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RankConfig config_;
  std::shared_ptr<trace::Recorder> recorder_;
  trace::Stats stats_;
  base::Turn turn_;
  base::Doorbell bell_;
  std::unique_ptr<cluster::Communicator> communicator_;
  address::Slots slots_;
  address::Arena arena_;
  topology::RankShares shares_;
  std::unique_ptr<RankCards> cards_;                      // null: host devices
  std::vector<std::unique_ptr<device::Device>> devices_;  // by place
  execute::Places places_;
  std::unique_ptr<cluster::Neighbours> neighbours_;
  topology::Machine machine_;  // of all ranks
  std::unique_ptr<transfer::Ways> ways_;
  std::unique_ptr<transfer::Staging> staging_;
  std::unique_ptr<transfer::Mover> mover_;
  std::unique_ptr<transfer::Carrier> carrier_;
  std::unique_ptr<execute::Wire> wire_;
  std::unique_ptr<execute::Executor> executor_;
  std::unique_ptr<execute::Program> program_;
  std::unique_ptr<adsm::HostViews> views_;
};

}  // namespace nuna::detail
