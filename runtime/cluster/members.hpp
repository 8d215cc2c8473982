#pragma once
// The notice board of an in-process cluster: who joined, who left, what each rank last published, whose bell
// to ring.
//
// Threads: any thread may call anything. A rank's last messages are sent before it leaves, so a reader that
// sees left() and then finds no message knows that none will come.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "cluster/communicator.hpp"
#include "cluster/history.hpp"

namespace nuna::cluster {

class Members {
 public:
  explicit Members(int ranks);

  int size() const { return static_cast<int>(seats_.size()); }
  /// Panics for a rank outside the cluster and for one that joined before.
  void join(base::RankId rank);
  /// Tells everybody. The second time does nothing.
  void leave(base::RankId rank);
  bool left(base::RankId rank) const { return seat(rank).left_as.load(std::memory_order_acquire) != 0; }
  /// 1 for the first rank that left, then 2 and so on; 0 for one that is still here.
  std::uint64_t left_as(base::RankId rank) const {
    return seat(rank).left_as.load(std::memory_order_acquire);
  }

  /// A sign of life; a new call is remembered.
  void publish(base::RankId rank, const Status& status);
  Status status_of(base::RankId rank) const;
  /// The first difference between the calls of two ranks, as a text.
  std::optional<std::string> difference(base::RankId mine, base::RankId theirs) const;

  void note_sent(base::RankId rank, std::uint64_t sequence) {
    seat(rank).sent.store(sequence, std::memory_order_relaxed);
  }
  /// Counts a sign of life: the rank sent, or arrived somewhere.
  void sign(base::RankId rank) { seat(rank).signs.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t signs(base::RankId rank) const { return seat(rank).signs.load(std::memory_order_relaxed); }

  /// The bell may be destroyed once another one, or null, was set, or the rank has left.
  void set_bell(base::RankId rank, base::Doorbell* bell);
  void ring(base::RankId rank);
  void ring_others(base::RankId except);

  /// "launch 'heat' at heat.cpp:31", or "its first call".
  std::string last_call(base::RankId rank) const;
  /// "left after launch 'heat' at heat.cpp:31", "left before its first call".
  std::string farewell(base::RankId rank) const;
  /// "rank 1 (last call: launch 'heat' at heat.cpp:31)", "rank 1 (never joined)".
  std::string whereabouts(base::RankId rank) const;

 private:
  struct Seat {
    std::atomic<bool> joined{false};
    std::atomic<std::uint64_t> left_as{0};
    std::atomic<std::uint64_t> signs{0};
    std::atomic<std::uint64_t> sent{0};
    mutable base::Mutex status_mutex;
    Status status NUNA_GUARDED_BY(status_mutex);
    History history NUNA_GUARDED_BY(status_mutex);
    base::Mutex bell_mutex;
    base::Doorbell* bell NUNA_GUARDED_BY(bell_mutex) = nullptr;
  };
  Seat& seat(base::RankId rank) const;

  std::vector<std::unique_ptr<Seat>> seats_;
  std::atomic<std::uint64_t> departures_{0};
};

}  // namespace nuna::cluster
