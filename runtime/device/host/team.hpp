#pragma once
// A team of threads that runs the parts of one operation at once: fork, join.
//
// Part 0 belongs to the calling thread (the leader), part k to helper k, as in a static schedule, so a thread
// finds its rows in its own cache again. A helper that has not come when the leader is through with part 0
// (it was asleep, or its core has other work) loses its part to the leader: waking somebody never makes a
// small operation slower than running it alone.
//
// Threads: run() from one thread at a time. Helpers spin for a moment after an operation, then sleep.

#include <absl/functional/function_ref.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/timeline.hpp"

namespace nuna::device::host {

class Team {
 public:
  static constexpr int kMaxThreads = 1 << 12;
  using Work = absl::FunctionRef<void(int part)>;

  /// `threads` counts the leader. Helpers and a waiting leader spin for `spin` before they sleep.
  Team(int threads, std::chrono::nanoseconds spin, const std::string& name);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls work(part) once for every part in [0, parts), 0 <= parts <= threads(), and returns when all
  /// returned. When some threw, the others still run, and the exception that came first is thrown here.
  void run(int parts, Work work);

 private:
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> claimed{0};  ///< the newest job whose part of this number somebody took
  };

  void serve(int part);
  bool claim(int part, std::uint64_t job);
  void perform(int part);

  std::unique_ptr<Seat[]> seats_;
  const Work* work_ = nullptr;  // of the running job; stable while one of its parts is unfinished
  std::exception_ptr failure_;  // likewise
  std::atomic<bool> failed_{false};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<std::uint64_t> job_{
      0};  // number of the job in the high bits, its parts in the low 16
  alignas(64) std::atomic<int> unfinished_{0};
  base::Doorbell start_;
  base::Doorbell finish_;
  std::vector<std::thread> helpers_;
};

}  // namespace nuna::device::host
