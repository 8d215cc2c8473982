#pragma once
// What one rank tells others about its calls in one Context: a History that several threads share.

#include <atomic>
#include <string>

#include "base/mutex.hpp"
#include "cluster/communicator.hpp"
#include "cluster/history.hpp"

namespace nuna::cluster::mpi {

class Journal {
 public:
  void publish(const Status& status) NUNA_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    history_.note({status.sequence, status.hash, status.last_call});
    left_ = left_ || status.left;
    ++signs_;
  }
  void note_sent(std::uint64_t sequence) {
    std::uint64_t known = sent_.load(std::memory_order_relaxed);
    while (known < sequence && !sent_.compare_exchange_weak(known, sequence, std::memory_order_relaxed)) {
    }
  }
  /// A sign of life without a call.
  void sign() NUNA_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    ++signs_;
  }
  History history() const NUNA_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return history_;
  }
  bool left() const NUNA_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return left_;
  }
  Status status() const NUNA_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    const Called* last = history_.last();
    const std::uint64_t sent = sent_.load(std::memory_order_relaxed);
    return last == nullptr ? Status{0, 0, "", left_, sent, signs_}
                           : Status{last->sequence, last->hash, last->call, left_, sent, signs_};
  }

 private:
  std::atomic<std::uint64_t> sent_{0};
  mutable base::Mutex mutex_;
  History history_ NUNA_GUARDED_BY(mutex_);
  bool left_ NUNA_GUARDED_BY(mutex_) = false;
  std::uint64_t signs_ NUNA_GUARDED_BY(mutex_) = 0;
};

}  // namespace nuna::cluster::mpi
