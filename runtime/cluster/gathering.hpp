#pragma once
// The allgather of an in-process cluster: rounds in which every rank lays down its bytes and takes
// everybody's.
//
// Threads: one call per rank at a time (checked). A round ends when all ranks have arrived, or for all of
// them with an Error: diverged when an envelope differs, carries a failure, or a missing rank has left;
// stalled when a missing rank showed no sign of life for kPatience times the stall limit (stall_watch.hpp); after the
// limit itself there is a warning. A round that failed keeps its Error
// for the ranks that come late.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "cluster/communicator.hpp"
#include "cluster/members.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {

class Gathering {
 public:
  Gathering(Members& members, std::chrono::nanoseconds stall);

  std::vector<std::vector<std::byte>> allgather(base::RankId rank, const Envelope& envelope,
                                                std::span<const std::byte> bytes) NUNA_EXCLUDES(mutex_);
  /// Lets those who wait look again at who has left. After Members::leave.
  void wake() NUNA_EXCLUDES(mutex_);

 private:
  struct Entry {
    bool arrived = false;
    Envelope envelope;
    std::vector<std::byte> bytes;
  };
  // An Error's parts: copies of an Error would share their text between the threads that throw it.
  struct Failure {
    ErrorCode code;
    std::string text;
  };
  struct Round {
    std::vector<Entry> entries;  // by rank
    int arrived = 0;
    bool complete = false;
    std::optional<Failure> failure;
  };

  std::shared_ptr<Round> arrive(base::RankId rank, Entry entry) NUNA_REQUIRES(mutex_);
  void wait(base::RankId rank, Round& round, base::MutexLock& lock) NUNA_REQUIRES(mutex_);
  std::optional<Failure> departure(base::RankId rank, const Round& round) const;
  std::optional<Failure> difference(base::RankId rank, base::RankId missing) const;
  std::string stall(base::RankId rank, const Round& round, std::chrono::nanoseconds waited) const;
  static std::optional<Failure> verdict(const Round& round);

  Members& members_;
  const std::chrono::nanoseconds stall_;
  base::Mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Round> current_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace nuna::cluster
