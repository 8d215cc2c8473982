#pragma once
// Where threads wait for something: they look again and again for a moment, then they sleep.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace nuna::cudart {

/// How long a thread spins before it sleeps. It lends its core to others all the time, because whom it waits for may have no other.
constexpr std::chrono::microseconds kMoment{20};
void spin() noexcept;
void lend_core() noexcept;

/// Any thread. No ring between a waiter's test and its sleep is lost.
class Gate {
 public:
  /// Returns once `done()` holds, which may be called often and with a lock held.
  template <class Done>
  void wait(Done done) {
    if (wait_awake(done)) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    condition_.wait(lock, done);
    sleepers_.fetch_sub(1);
  }
  /// Waits for a moment only; whether `done()` held.
  template <class Done>
  bool wait_awake(Done done, std::chrono::microseconds moment = kMoment) const {
    if (done()) return true;
    const auto end = std::chrono::steady_clock::now() + moment;
    do {
      for (int i = 0; i < 4; ++i) {
        spin();
        if (done()) return true;
      }
      lend_core();
      if (done()) return true;
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }
  /// Sleepers test again. After the change that they wait for, which is a sequentially consistent one.
  void ring() {
    if (sleepers_.load() == 0) return;
    {
      const std::lock_guard lock(mutex_);
    }
    condition_.notify_all();
  }

 private:
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable condition_;
};

}  // namespace nuna::cudart
