#pragma once
// Counters that are always on: what moved over which route, what planning cost, which fallbacks were taken.
//
// One Stats belongs to one rank of one context. They are independent of the Recorder and cheap enough for
// every launch and copy: one or two relaxed atomic additions, on cache lines of their own for the planner and
// the lanes.
//
// Threads: any thread may call anything. A snapshot taken while others count may show a copy's count without
// its bytes; one taken after the counting threads were joined or waited for is exact. Bounds: counters hold
// 2^63; fallbacks are counted under a mutex, by name, of which there are a dozen.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.hpp"

namespace nuna::trace {

/// How bytes moved. Host and device are places of one rank; send and receive go to and come from other ranks.
enum class Route : std::uint8_t {
  same_memory,
  device_to_device,
  host_to_device,
  device_to_host,
  send,
  receive
};
inline constexpr int kRoutes = 6;

/// What the runtime itself spends time on: planner (plans and their cache), tracker (the directory's and the
/// residency's tables), wait (the program's thread asleep for data, events or ranks), transfer (devices busy with copies
/// between places, and with packing and unpacking messages).
enum class Phase : std::uint8_t { planner, tracker, wait, transfer };
inline constexpr int kPhases = 4;

const char* to_string(Route route);
const char* to_string(Phase phase);

struct Traffic {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

using Fallbacks = std::map<std::string, std::uint64_t, std::less<>>;

/// The counters' values at one moment; a plain value.
struct StatsSnapshot {
  std::array<Traffic, kRoutes> traffic{};
  std::array<std::uint64_t, kPhases> phase_ns{};
  std::uint64_t launches = 0;
  std::uint64_t plan_cache_hits = 0;
  std::uint64_t plan_cache_misses = 0;
  Traffic evictions;
  Traffic faults;  ///< of the host's pages, and the bytes that they brought
  Traffic
      updates;  ///< from the program's memory to where devices had copies, and the bytes, which are traffic, too
  Fallbacks fallbacks;

  const Traffic& moved(Route route) const { return traffic[static_cast<std::size_t>(route)]; }
  std::uint64_t spent_ns(Phase phase) const { return phase_ns[static_cast<std::size_t>(phase)]; }

  /// Adds another rank's counters.
  StatsSnapshot& operator+=(const StatsSnapshot& other);
  /// What was counted since `earlier`, a snapshot of the same Stats.
  StatsSnapshot since(const StatsSnapshot& earlier) const;
  friend bool operator==(const StatsSnapshot&, const StatsSnapshot&) = default;
};

/// A few lines for people, the last without a line end. What never happened is left out.
std::string to_string(const StatsSnapshot& snapshot);
/// One line of JSON with every counter: {"launches":..,"plan_cache":{"hits":..,"misses":..},
/// "<phase>_ns":..,
/// "traffic":{"<route>":{"count":..,"bytes":..},..},"evictions":{..},"host_faults":{..},"updates":{..},"fallbacks":{"<name>":..}}.
std::string to_json(const StatsSnapshot& snapshot);

class Stats {
 public:
  Stats() = default;
  Stats(const Stats&) = delete;
  Stats& operator=(const Stats&) = delete;

  /// One copy, send or receive of `bytes`.
  void moved(Route route, std::int64_t bytes) noexcept {
    traffic_[static_cast<std::size_t>(route)].add(bytes);
  }
  /// An instance of `bytes` left its place for another one's sake.
  void evicted(std::int64_t bytes) noexcept { evictions_.add(bytes); }
  /// A fault of the host, which brought `bytes` from a device's memory. In handlers, too.
  void faulted(std::int64_t bytes) noexcept {
    faults_.add(bytes);
    if (bytes > 0) moved(Route::device_to_host, bytes);
  }
  /// `bytes` of a copy or fill went straight to devices, whose traffic is counted as any other.
  void updated(std::int64_t bytes) noexcept { updates_.add(bytes); }
  void launched() noexcept { add(planning_.launches, 1); }
  void plan_cache_hit() noexcept { add(planning_.hits, 1); }
  void plan_cache_miss() noexcept { add(planning_.misses, 1); }
  void spent(Phase phase, std::chrono::nanoseconds time) noexcept {
    add(planning_.phase_ns[static_cast<std::size_t>(phase)], time.count());
  }
  /// A slower way was taken. Names are for people and stay the same from run to run: "flattened layers",
  /// "enumerated maps" (those that are not monotone).
  void fell_back(std::string_view name) NUNA_EXCLUDES(mutex_);

  StatsSnapshot snapshot() const NUNA_EXCLUDES(mutex_);

 private:
  using Counter = std::atomic<std::uint64_t>;
  static void add(Counter& counter, std::int64_t value) noexcept {
    counter.fetch_add(static_cast<std::uint64_t>(value), std::memory_order_relaxed);
  }
  struct TrafficCounter {
    Counter count{0};
    Counter bytes{0};
    void add(std::int64_t size) noexcept {
      Stats::add(count, 1);
      Stats::add(bytes, size);
    }
    Traffic load() const {
      return {count.load(std::memory_order_relaxed), bytes.load(std::memory_order_relaxed)};
    }
  };
  struct Planning {
    Counter launches{0}, hits{0}, misses{0};
    std::array<Counter, kPhases> phase_ns{};
  };
  // The planner's thread and the lanes' threads count at the same time: not on one cache line.
  alignas(64) Planning planning_;
  alignas(64) std::array<TrafficCounter, kRoutes> traffic_{};
  TrafficCounter evictions_;
  TrafficCounter faults_;
  TrafficCounter updates_;
  mutable base::Mutex mutex_;
  Fallbacks fallbacks_ NUNA_GUARDED_BY(mutex_);
};

/// Counts the time until its destruction. It reads the steady clock (25 ns) and not the thread's CPU clock (a
/// system call, 280 ns): planner and tracker never sleep, so the two differ only when the thread was
/// preempted. A timer within another one's life counts in both phases.
class PhaseTimer {
 public:
  PhaseTimer(Stats& stats, Phase phase) noexcept : stats_(stats), phase_(phase) {}
  ~PhaseTimer() { stats_.spent(phase_, std::chrono::steady_clock::now() - start_); }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  Stats& stats_;
  Phase phase_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace nuna::trace
