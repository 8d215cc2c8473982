#pragma once
// The worker threads of the device while they run operations: one leads, the others help it with kernels.
//
// A crew lives as long as the Nuna launch that brings the threads together (lane.hpp). The leader hands out *jobs*, each of
// which is a number of tiles that threads take one by one; a helper that comes late finds fewer tiles, or none.

#include <atomic>
#include <cstdint>

#include "gate.hpp"

namespace nuna::cudart {

/// Tiles [0, tiles), taken in order.
class Job {
 public:
  explicit Job(std::uint64_t tiles) : tiles_(tiles) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// By each thread that takes part; returns when no tile is left.
  virtual void work() = 0;

 protected:
  /// The next tile, or tiles() when there is none.
  std::uint64_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t tiles() const { return tiles_; }
  /// No further tile is taken.
  void stop() { next_.store(tiles_, std::memory_order_relaxed); }

 private:
  const std::uint64_t tiles_;
  std::atomic<std::uint64_t> next_{0};
};

class Crew {
 public:
  explicit Crew(int threads) : threads_(threads) {}

  int threads() const { return threads_; }
  /// By the leader: returns when the job is done, with help unless `alone`.
  void perform(Job& job, bool alone);
  /// By a helper: returns when the leader has ended.
  void help();
  /// By the leader: no job follows.
  void end();

 private:
  const int threads_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> number_{0};  // of jobs with help
  std::atomic<Job*> job_{nullptr};
  std::atomic<int> inside_{0};  // helpers that may be using job_
  Gate start_;
  Gate finish_;
};

}  // namespace nuna::cudart
