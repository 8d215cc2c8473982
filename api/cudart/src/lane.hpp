#pragma once
// The order of all work: one queue for all streams, whose operations Nuna's host device runs one after the other.
//
// One order is right for any number of streams, and it is what one device of CPU threads can do anyway. Nuna's own launch costs 3
// to 6 microseconds, so it is not made for each operation: one launch, of as many blocks as the device has threads, brings
// the threads together (crew.hpp), and they run operations until none has come for a moment. A program that launches one small
// kernel after the other pays for a queue.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "crew.hpp"
#include "gate.hpp"
#include "turns.hpp"

namespace nuna::cudart {

class KernelAction;

/// What an operation does. Immutable: the operation of a graph is run again and again.
class Action {
 public:
  virtual ~Action() = default;
  virtual void run(Crew& crew) const = 0;
  /// What it is, the same on all ranks: "a copy of 16 bytes".
  virtual std::string name() const = 0;
  /// Whether it is run even when a kernel before it has failed.
  virtual bool always() const { return false; }
  /// The kernels that it launches, in order.
  virtual void for_each_kernel(const std::function<void(const KernelAction& kernel)>& visit) const {
    static_cast<void>(visit);
  }
  /// Whether it knows itself what it has to wait for, of work that runs on several devices.
  virtual bool orders_itself() const { return false; }
};
using ActionRef = std::shared_ptr<const Action>;

/// Work that operations have started on several devices and that goes on when they return.
class Ahead {
 public:
  virtual ~Ahead() = default;
  virtual bool running() const = 0;
  /// Returns when nothing runs; what has failed is the device's sticky error.
  virtual void settle() = 0;
  /// The next operation, which `runs` or is passed over; `following` tells those that wait behind it. Does not throw.
  virtual void approach(const Action& next, bool runs,
                        const std::function<std::vector<ActionRef>()>& following) noexcept = 0;
};

/// Numbers operations from 1 in the order of submission; 0 is complete.
using Ticket = std::uint64_t;

/// Any thread, but for wait() and push(), which operations themselves must not call.
class Lane {
 public:
  /// Brings a device's threads together: each calls `part` of the crew once, number 0 being the leader.
  using Gathering = std::function<void(const std::shared_ptr<Crew>& crew)>;

  explicit Lane(int threads) : threads_(threads) {}

  /// Told once, before the first push.
  void set_gathering(Gathering gathering) { gathering_ = std::move(gathering); }
  void set_ahead(Ahead* ahead) { ahead_ = ahead; }
  /// Operations come in the order of these turns.
  void set_turns(Turns* turns) { turns_ = turns; }
  /// What a gathered thread does.
  void attend(Crew& crew, int part);
  std::shared_ptr<Crew> new_crew() const { return std::make_shared<Crew>(threads_); }

  Ticket push(ActionRef action);
  bool done(Ticket ticket) const { return completed_.load() >= ticket; }
  void wait(Ticket ticket);
  Ticket last() const { return pushed_.load(); }
  bool idle() const { return done(last()); }
  int threads() const { return threads_; }

 private:
  static constexpr std::uint64_t kMostAhead = 4096;  // operations in the queue, before who adds one waits
  static constexpr Ticket kNobody = ~Ticket{0};

  void lead(Crew& crew);
  static void run(const Action& action, Crew& crew);
  ActionRef next();
  bool approach(const Action& action);
  bool leave();
  void complete();
  void settle();

  const int threads_;
  Gathering gathering_;
  Ahead* ahead_ = nullptr;         // one device has none
  Turns* turns_ = nullptr;         // one rank has none
  std::uint64_t ahead_count_ = 0;  // operations that have returned and go on; the leader's
  std::mutex mutex_;
  std::deque<ActionRef> queue_;  // guarded by mutex_, as is led_
  bool led_ = false;
  std::atomic<Ticket> pushed_{0};
  alignas(64) std::atomic<Ticket> completed_{0};
  std::atomic<Ticket> wanted_{kNobody};  // the smallest that somebody waits for
  Gate came_;
  Gate done_;
};

}  // namespace nuna::cudart
