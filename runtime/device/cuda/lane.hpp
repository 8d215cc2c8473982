#pragma once
// Lane: one in-order queue of a CUDA device, which is one stream of its card.
//
// An operation whose predecessors are done, or are on streams already, is put on the stream by the thread that submits it, which
// takes a microsecond or two; the stream then waits for events of the others. One that waits for something else (a message, a host
// device), or that needs the CPU while it runs, is put there by the lane's worker thread, and so is what is submitted behind it.
// The device's keeper calls advance() to see what has completed.
//
// Threads: submissions from one thread at a time; advance() from one other. Failures of starting an operation are its ticket's;
// an error of the stream breaks the card.

#include <absl/container/inlined_vector.h>
#include <absl/functional/any_invocable.h>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/timeline.hpp"
#include "device/cuda/card.hpp"
#include "device/device.hpp"
#include "trace/recorder.hpp"

namespace nuna::device::cuda {

class Lane {
 public:
  struct Config {
    Card* card = nullptr;
    std::string name;                  ///< for traces and thread names
    base::Doorbell* bell = nullptr;    ///< rung when an operation completes
    base::Doorbell* keeper = nullptr;  ///< rung when an operation was put on the stream
    bool urgent = false;               ///< others wait for it: its stream has priority
    trace::Recorder* recorder = nullptr;
    trace::TrackId track;
  };
  explicit Lane(const Config& config);
  /// The device has drained it.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// What an operation is given to start itself.
  struct Start {
    CUstream stream = nullptr;
    bool may_block = false;  ///< on the worker thread
    /// Kept until the operation is complete.
    absl::InlinedVector<std::shared_ptr<const void>, 2> holds;
  };
  struct What {
    std::string_view name;  ///< outlives the operation
    trace::Category category = trace::Category::wait;
    Index bytes = 0;
  };

  /// Puts an operation behind the others. `start(Start&)` puts its work on the stream, and may throw; it returns false to be
  /// called again on the worker thread, where it may block.
  template <class F>
  base::Ticket submit(const What& what, After after, F start) NUNA_EXCLUDES(mutex_) {
    Waits waits;
    const std::uint64_t value = ++submitted_;
    if (idle() && chain(after, waits) && issue(value, what, after, waits, false, start))
      return {&timeline_, value};
    wait_for_worker({value, what, {after.begin(), after.end()}, std::move(start)});
    return {&timeline_, value};
  }
  /// Of the last operation that was submitted.
  base::Ticket last() { return {&timeline_, submitted_}; }

  /// Completes what is complete; whether anything was.
  bool advance() NUNA_EXCLUDES(mutex_);
  /// The first of what is on the stream, or just put there, in quotes; empty if nothing is.
  std::string running() const NUNA_EXCLUDES(mutex_);
  /// Whether something is on the stream.
  bool in_flight() const NUNA_EXCLUDES(mutex_);
  /// Waits until everything submitted is complete; advance() is called meanwhile.
  void drain() { last().wait(); }

 private:
  struct Event;
  struct Events;
  using EventRef = std::shared_ptr<Event>;
  using Waits = absl::InlinedVector<EventRef, 4>;
  struct Pending {
    std::uint64_t value = 0;
    What what;
    std::vector<base::Ticket> after;
    absl::AnyInvocable<bool(Start&)> start;
  };
  struct Flight {
    std::uint64_t value = 0;
    What what;
    EventRef event;  // null: complete when its turn comes
    absl::InlinedVector<std::shared_ptr<const void>, 2> holds;
  };

  // All lanes of the process: a ticket of another one is waited for on the card, not by a thread.
  struct Registry;
  static Registry& registry();

  bool idle() const NUNA_EXCLUDES(mutex_);
  bool chain(After after, Waits& waits) const;
  std::optional<EventRef> event_of(std::uint64_t value) const NUNA_EXCLUDES(mutex_);
  template <class F>
  bool issue(std::uint64_t value, const What& what, After after, const Waits& waits, bool may_block,
             F& start) {
    Flight flight{value, what, nullptr, {}};
    note_starting(what.name);
    std::exception_ptr failure = failure_before(after);
    if (!card_.is_lost()) {
      try {
        const Card::Current current(card_);
        wait_on_stream(waits);  // also what is skipped completes after all that it waits for
        Start begun{stream_, may_block, {}};
        try {
          if (failure == nullptr && !start(begun)) return false;
        } catch (...) {
          failure = failure_of(what, std::current_exception());
        }
        flight.holds = std::move(begun.holds);
        flight.event = record();  // also of what failed half way
      } catch (...) {
        if (failure == nullptr) failure = failure_of(what, std::current_exception());
      }
    }
    note_issued(std::move(flight), std::move(failure));
    return true;
  }
  std::exception_ptr failure_before(After after) const;
  std::exception_ptr failure_of(const What& what, std::exception_ptr thrown) const;
  void wait_on_stream(const Waits& waits) const;
  void note_starting(std::string_view name) NUNA_EXCLUDES(mutex_);
  void note_issued(Flight flight, std::exception_ptr failure) NUNA_EXCLUDES(mutex_);
  EventRef record() const;
  void wait_for_worker(Pending pending) NUNA_EXCLUDES(mutex_);
  void work();
  void show(const Flight* front);

  Card& card_;
  const Driver& driver_;
  const Config config_;
  base::Timeline timeline_;
  CUstream stream_ = nullptr;
  std::shared_ptr<Events> events_;
  std::uint64_t submitted_ = 0;  // the submitter's
  mutable base::Mutex mutex_;
  std::deque<Pending> pending_ NUNA_GUARDED_BY(mutex_);
  std::deque<Flight> flights_ NUNA_GUARDED_BY(mutex_);
  std::uint64_t issued_ NUNA_GUARDED_BY(mutex_) = 0;
  std::string_view starting_ NUNA_GUARDED_BY(mutex_);  // while it is put on the stream
  std::optional<trace::Span> span_;                    // the keeper's: of the operation that is on
  std::uint64_t shown_ = 0;
  base::Doorbell worker_bell_{std::chrono::nanoseconds(0)};
  std::atomic<bool> stop_{false};
  std::thread worker_;  // started when it is first needed
};

}  // namespace nuna::device::cuda
