#pragma once
// Which host thread of the program calls, in words that are true on every rank: who made it, and as which of its maker's threads.
//
// The system's ids of threads differ between ranks, and so does the order in which threads begin. What each thread does is the same:
// the third thread that the main thread makes is the third on all ranks. A thread that a callback makes is that of the callback, and
// callbacks run in one order (lane.hpp). pthread_create, which all threads come from, is the library's (nuna_cudart.map) for that.

#include <array>
#include <cstdint>

namespace nuna::cudart {

/// The calling thread's own; nobody else sees it.
class HostThread {
 public:
  /// Those that nobody is known to have made get a number by their first call, which may differ between ranks.
  static HostThread& here() noexcept;
  /// Whether the program has made a thread on this rank, be it one that never calls.
  static bool any_made() noexcept;

  bool is_main() const { return path_ == kMain; }
  /// The place of its next call that ranks order: no other call of any thread has it, and all ranks give it the same.
  std::uint64_t next_place() noexcept;
  std::uint64_t calls() const { return calls_; }
  /// "main thread", "thread 2.1": the first that the second of the main thread's has made; "thread c5.1": of the fifth callback.
  const char* name() const { return name_.data(); }
  /// The next that it makes.
  HostThread child() noexcept;

 private:
  friend class InCallback;
  static constexpr std::uint64_t kMain = 1;
  static HostThread of_callback(std::uint64_t number) noexcept;

  std::uint64_t path_ = 0;  ///< a hash; 0: not known yet
  std::uint64_t calls_ = 0;
  std::uint64_t children_ = 0;
  std::array<char, 64> name_{};

  friend struct ThreadStart;
};

/// While one lives, its thread does the library's work: threads that it makes are no threads of the program.
class InLibrary {
 public:
  InLibrary() noexcept;
  ~InLibrary();
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;
};

/// While one lives, its thread runs a callback of the program, the next in the lane's order.
class InCallback {
 public:
  InCallback() noexcept;
  ~InCallback();
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  const HostThread before_;
  const int depth_;
};

}  // namespace nuna::cudart
