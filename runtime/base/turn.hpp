#pragma once
// Turn: the lock by which the threads of one rank take turns, and which a thread gives up while it waits for long.
//
// Recursive, because calls make calls. A std::mutex below: the compiler cannot follow a lock whose depth is counted.

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

namespace nuna::base {

class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void lock() {
    if (!held_by(std::this_thread::get_id())) {
      mutex_.lock();
      owner_.store(std::this_thread::get_id(), std::memory_order_release);
    }
    ++depth_;
  }
  bool try_lock() {
    if (!held_by(std::this_thread::get_id())) {
      if (!mutex_.try_lock()) return false;
      owner_.store(std::this_thread::get_id(), std::memory_order_release);
    }
    ++depth_;
    return true;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_.store({}, std::memory_order_release);
    mutex_.unlock();
  }

  /// The thread whose turn it is; a default id if nobody's. Any thread may ask, of others it may be true no longer.
  std::thread::id owner() const { return owner_.load(std::memory_order_acquire); }
  bool held_by(std::thread::id thread) const { return owner() == thread; }

  /// Calls `f` while others may have their turn, however often the caller has locked; then it is the caller's again, also
  /// if `f` throws. So what was read before may have changed. A caller that does not hold the lock only calls `f`.
  template <class F>
  decltype(auto) outside(F&& f) {
    const Gap gap(*this);
    return std::forward<F>(f)();
  }

 private:
  class Gap {
   public:
    explicit Gap(Turn& turn)
        : turn_(turn), depth_(turn.held_by(std::this_thread::get_id()) ? turn.depth_ : 0) {
      if (depth_ == 0) return;
      turn_.depth_ = 1;
      turn_.unlock();
    }
    ~Gap() {
      if (depth_ == 0) return;
      turn_.lock();
      turn_.depth_ = depth_;
    }
    Gap(const Gap&) = delete;
    Gap& operator=(const Gap&) = delete;

   private:
    Turn& turn_;
    int depth_;
  };

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;  // of the owner
};

}  // namespace nuna::base
