#pragma once
// Locks that the compiler knows: std::mutex with clang's thread-safety annotations.
//
// std::mutex rather than absl::Mutex, because Debian's Abseil is built without ThreadSanitizer and would hide
// its happens-before edges.

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define NUNA_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define NUNA_THREAD_ANNOTATION(x)
#endif
#define NUNA_GUARDED_BY(x) NUNA_THREAD_ANNOTATION(guarded_by(x))
#define NUNA_REQUIRES(...) NUNA_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define NUNA_EXCLUDES(...) NUNA_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace nuna::base {

class NUNA_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() NUNA_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() NUNA_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  bool try_lock() NUNA_THREAD_ANNOTATION(try_acquire_capability(true)) { return mutex_.try_lock(); }
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class NUNA_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) NUNA_THREAD_ANNOTATION(acquire_capability(mutex))
      : lock_(mutex.native()) {}
  ~MutexLock() NUNA_THREAD_ANNOTATION(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  /// Sleeps until notified; the lock is held again afterwards. Wake-ups may be spurious: loop on the condition.
  void wait(std::condition_variable& condition) { condition.wait(lock_); }
  template <class Rep, class Period>
  void wait_for(std::condition_variable& condition, std::chrono::duration<Rep, Period> at_most) {
    condition.wait_for(lock_, at_most);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace nuna::base
