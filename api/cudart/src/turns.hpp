#pragma once
// The turns of host threads that call at the same time, on several ranks.
//
// What a call does to the lane or to the devices' memory must come in one order on all ranks. While only the main thread calls, it is
// the program's, and nobody is asked. When another thread calls for the first time, ranks agree how many calls the main thread may make
// before that (as many as it has made on the rank that is furthest), and from then on each call waits until ranks have agreed that it is
// next (call_order.hpp), over messages of their own: the lane goes on meanwhile.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "call_order.hpp"
#include "cuda_runtime_api.h"

namespace nuna::cudart {

/// Any thread, but for the lane's.
class Turns {
 public:
  /// All ranks' bytes; each rank calls it as often as the others.
  using Exchange = std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte> bytes)>;
  struct Parts {
    int rank = 0;
    std::function<Exchange()> connect;  ///< called by all ranks, when the first turn is to be agreed on
    /// Ranks do different things from now on, which all of them have found in the same place of the order of calls. Calls that come
    /// later find a sticky error.
    std::function<void(const std::string& why)> part;
    std::chrono::nanoseconds patience =
        std::chrono::seconds(60);  ///< with calls that none of the others makes
  };
  explicit Turns(Parts parts);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// While one lives, the calling thread does what has its place in the order.
  class Turn {
   public:
    Turn() = default;
    ~Turn();
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class Turns;
    enum class Kind { free, admitted };
    Turn(Turns* of, Kind kind);
    Turns* of_ = nullptr;
    Kind kind_ = Kind::free;
  };

  /// Waits for it. `call` says what it is, if it must be told. A thread that has its turn already keeps it. Throws Refused with the
  /// sticky error once there is one.
  Turn take(const std::function<std::string()>& call);
  /// The program ends on this rank; returns when it does on all, or when they have parted.
  void end();

 private:
  enum class Mode { free, switching, ordered };
  struct Waiting {
    WaitingCall call;
    std::string text;
  };

  bool begin_free();
  void pass_free() noexcept;
  void switch_over();
  void wait_for(WaitingCall call, std::string text, std::unique_lock<std::mutex>& lock);
  bool is_next(std::uint64_t place) const;
  void pass() noexcept;
  void run() noexcept;
  void agree_on_begin(const Exchange& exchange);
  bool run_round(const Exchange& exchange);
  RoundList list() const;
  void note(const Round& round, std::size_t told);
  std::string text_of(const Parting& parting, const Exchange& exchange);
  void give_up(const std::string& why);
  [[noreturn]] static void refuse();

  const Parts parts_;
  // While only the main thread calls, it takes no lock. It writes these two; the mode is written under the lock.
  std::atomic<bool> main_inside_{false};      ///< a call that needed no turn
  std::atomic<std::uint64_t> main_calls_{0};  ///< as many needed none, the one that begins included
  std::atomic<Mode> mode_{Mode::free};
  std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  std::uint64_t free_calls_ = 0;  ///< of the main thread that need no turn, once ranks have agreed
  bool ended_ = false;
  bool failed_ = false;
  std::vector<Waiting> waiting_;        ///< not admitted yet, as they came
  std::deque<std::uint64_t> admitted_;  ///< the first has its turn
  std::optional<std::chrono::steady_clock::time_point>
      stuck_since_;                     ///< the first of the last rounds that admitted none
  std::chrono::microseconds pause_{0};  ///< before the next round, without a new call
  std::size_t told_ = 0;                ///< calls that were waiting in the last round
  std::thread thread_;
};

}  // namespace nuna::cudart
