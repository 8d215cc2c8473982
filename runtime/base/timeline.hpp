#pragma once
// Completion of asynchronous work: a Timeline counts what a lane has finished, a Ticket names one operation on it.
//
// A lane (a device's queue, one direction of a wire) completes its operations in the order in which they were
// submitted, so one number tells which are done. An operation that failed completes too, and its failure stays.
// Waiting spins for a moment, then sleeps on the Doorbell that the timeline shares with its neighbours.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/worker_thread.hpp"

namespace nuna::base {

/// Wakes sleepers when something happened. Any thread; no wake-up is lost between the caller's test of its condition
/// and its sleep. What moves only while somebody looks at it can be given as a *driver*: who waits calls it instead of
/// sleeping, so that a message is seen by the thread that needs it.
class Doorbell {
 public:
  /// How long a wait spins before it sleeps. Waking another core costs 20 us, so a short spin pays unless the
  /// process has more runnable threads than cores (then: zero).
  explicit Doorbell(std::chrono::nanoseconds spin = std::chrono::microseconds(20)) : spin_(spin) {}
  ~Doorbell() { set_driver(Drivers::none); }
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  /// Tells the sleepers to test their conditions again. Cheap when nobody sleeps.
  void ring();

  /// Who calls the driver.
  enum class Drivers : std::uint8_t {
    none,
    program,  ///< threads of the program that wait at this bell or at another of this kind
    workers  ///< worker threads that wait at this bell: a lane needs what the driver moves, the program a lane
  };
  /// `driver` moves things along without waiting, and says whether something happened; it is called by one thread at a
  /// time. With Drivers::none that ends: when this returns, the former driver is not called any more.
  void set_driver(Drivers who, std::function<bool()> driver = nullptr);
  /// Calls the driver, unless there is none or another thread is in it; of Drivers::program, those of all bells: what one
  /// waits for may wait for a peer of another.
  bool drive();
  /// Calls all drivers of Drivers::program.
  static bool drive_all();
  /// What a worker thread calls between two operations: it may drive.
  void pass() {
    if (who_.load(std::memory_order_acquire) == Drivers::workers) drive();
  }

  /// How a thread that must look again and again waits between two looks: it yields its core for a while, later it
  /// sleeps for longer and longer, or until a ring.
  class Pace {
   public:
    void rest(Doorbell& bell);

   private:
    int rounds_ = 0;
  };

  /// Sleeps until the next ring, or for `at_most`.
  void sleep(std::chrono::nanoseconds at_most) { Sleeper(*this).sleep(at_most); }

  /// Returns once `done()` holds (true) or `at_most` has passed (false). `done` is called without a lock, often. Drives; with
  /// `whoever` also a thread that otherwise leaves it to others.
  template <class Done>
  bool wait(Done done, std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max(),
            bool whoever = false) {
    if (!drives_here(whoever)) return wait_asleep(std::move(done), at_most);
    if (done()) return true;
    const auto start = std::chrono::steady_clock::now();
    Pace pace;
    while (!done()) {
      if (std::chrono::steady_clock::now() - start >= at_most) return false;
      if (drive()) {
        pace = {};
      } else {
        pace.rest(*this);
      }
    }
    return true;
  }

  /// The same without driving.
  template <class Done>
  bool wait_asleep(Done done, std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max()) {
    const auto start = std::chrono::steady_clock::now();
    if (wait_spinning(done)) return true;
    for (;;) {
      const Sleeper sleeper(*this);  // announced before the test, so a ring after the test is seen
      if (done()) return true;
      const auto elapsed = std::chrono::steady_clock::now() - start;
      if (elapsed >= at_most) return false;
      sleeper.sleep(at_most - elapsed);
    }
  }

  /// The same as wait(), for a condition that becomes true only after somebody called wake(): rings do not disturb its
  /// sleep. `announce` is called before each test that a sleep may follow.
  template <class Done, class Announce>
  void wait_for_wake(Done done, Announce announce) {
    if (drives_here()) {
      wait(std::move(done));
      return;
    }
    if (wait_spinning(done)) return;
    for (;;) {
      const Sleeper sleeper(*this, false);
      announce();
      if (done()) return;
      sleeper.sleep(std::chrono::nanoseconds::max());
    }
  }
  /// A ring that also wakes those.
  void wake();

 private:
  class Sleeper {
   public:
    /// `rings`: whether every ring ends the sleep, or only wake().
    explicit Sleeper(Doorbell& bell, bool rings = true);
    ~Sleeper();
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    void sleep(std::chrono::nanoseconds at_most) const;

   private:
    Doorbell& bell_;
    bool rings_;
    std::uint64_t seen_;
  };
  bool drives_here(bool whoever = false) const {
    const Drivers who = who_.load(std::memory_order_acquire);
    return who != Drivers::none && (whoever || (who == Drivers::workers) == on_worker_thread());
  }
  template <class Done>
  bool wait_spinning(Done& done) const {
    if (done()) return true;
    const auto start = std::chrono::steady_clock::now();
    while (spin_.count() > 0 && std::chrono::steady_clock::now() - start < spin_) {
      for (int i = 0; i < 16; ++i) pause();
      if (done()) return true;
    }
    return false;
  }
  static void pause();

  std::chrono::nanoseconds spin_;
  std::atomic<std::uint64_t> rings_{0};
  std::atomic<int> sleepers_{0};
  Mutex mutex_;
  std::condition_variable condition_;
  std::atomic<Drivers> who_{Drivers::none};
  std::atomic<bool> in_driver_{false};
  std::function<bool()> driver_;  // of who has set in_driver_
};

class Timeline {
 public:
  /// `driven`: its operations move only while the bell's driver is called, so that whoever waits for one calls it.
  explicit Timeline(Doorbell& bell, bool driven = false) : bell_(bell), driven_(driven) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  bool reached(std::uint64_t value) const { return completed_.load(std::memory_order_acquire) >= value; }
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }

  /// Sleeps until `value` is reached; what completes before does not wake it.
  void wait(std::uint64_t value) {
    if (driven_) {
      bell_.wait([&] { return reached(value); }, std::chrono::nanoseconds::max(), true);
      return;
    }
    bell_.wait_for_wake([&] { return completed_.load(std::memory_order_seq_cst) >= value; },
                        [&] { want(value); });
  }
  Doorbell& bell() { return bell_; }
  bool driven() const { return driven_; }

  /// Marks everything up to `value` complete. By the lane only, with growing values.
  void complete(std::uint64_t value);
  /// Records that operation `value` failed; call before complete(value).
  void fail(std::uint64_t value, std::exception_ptr failure) NUNA_EXCLUDES(mutex_);
  /// Whether any operation has failed. Without a lock, for signal handlers.
  bool any_failed() const { return any_failed_.load(std::memory_order_acquire); }
  /// The failure of operation `value`, or null. Meaningful once the value is reached.
  std::exception_ptr failure(std::uint64_t value) const NUNA_EXCLUDES(mutex_);

 private:
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  void want(std::uint64_t value);

  Doorbell& bell_;
  const bool driven_;
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> wanted_{kNothing};  // the smallest value that a sleeper waits for
  std::atomic<bool> any_failed_{false};
  mutable Mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::exception_ptr>> failures_ NUNA_GUARDED_BY(mutex_);
};

/// One operation on a timeline. Copyable; valid as long as the timeline lives. A default one is complete.
/// `order_only`: whoever comes after it only waits for it; its failure is not theirs.
struct Ticket {
  Timeline* line = nullptr;
  std::uint64_t value = 0;
  bool order_only = false;

  bool done() const { return line == nullptr || line->reached(value); }
  void wait() const {
    if (line != nullptr) line->wait(value);
  }
  std::exception_ptr failure() const {
    return line == nullptr || order_only ? nullptr : line->failure(value);
  }
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

}  // namespace nuna::base
