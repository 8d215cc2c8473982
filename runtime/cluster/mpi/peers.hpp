#pragma once
// What is known of the peers' calls, from their answers (control.hpp).
//
// Asked by a thread of its own, which sleeps unless there is somebody to ask: a question takes as long as the network
// does, and who wonders must go on moving messages. Once a second it looks whether somebody has been inside one call of MPI
// for long: if a peer is gone then, the call may never return (Open MPI's TCP transport locks itself), and the process is
// ended with a line that says so.
//
// Threads: any.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "cluster/mpi/control.hpp"

namespace nuna::cluster::mpi {

class Peers {
 public:
  /// `stall`: silence that somebody will speak of (NUNA_STALL).
  Peers(int me, std::vector<Address> addresses, std::uint64_t context, std::chrono::nanoseconds stall);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// The latest answer; has the peer asked when somebody has been wondering for a second, and then once a second; more
  /// often if a stall is shorter than two.
  std::optional<Answer> answer_of(int rank) NUNA_EXCLUDES(mutex_);
  /// Asks and waits for the answer, half a second at most.
  std::optional<Answer> ask_now(int rank) const;
  /// From the latest answer, without wishing for another.
  Status status_of(int rank) const NUNA_EXCLUDES(mutex_);
  /// See Communicator::watch.
  void watch(const std::atomic<std::int64_t>* busy_since) NUNA_EXCLUDES(mutex_);
  int process_of(int rank) const { return addresses_[static_cast<std::size_t>(rank)].process; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Known {
    Time since;     // when the present wait began
    Time wondered;  // when somebody last wondered
    Time asked;
    bool wanted = false;
    std::optional<Answer> answer;
  };

  void work() NUNA_EXCLUDES(mutex_);
  std::optional<std::size_t> next_wanted() NUNA_EXCLUDES(mutex_);
  bool stuck() const NUNA_REQUIRES(mutex_);
  void end_if_lost() const;

  const int me_;
  const std::vector<Address> addresses_;
  const std::uint64_t context_;
  const std::chrono::nanoseconds ask_after_;
  mutable base::Mutex mutex_;
  std::condition_variable wake_;
  std::vector<Known> known_ NUNA_GUARDED_BY(mutex_);
  const std::atomic<std::int64_t>* busy_since_ NUNA_GUARDED_BY(mutex_) = nullptr;
  bool stop_ NUNA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nuna::cluster::mpi
