#pragma once
// A cluster inside one process: N ranks as threads. For tests, and for programs run with `--ranks R` without
// MPI.
//
//   run_ranks(4, [](base::RankId rank, std::unique_ptr<Communicator> communicator) { ... });
//
// It keeps every promise of communicator.hpp and adds:
//  - A message that finds its receive posted is copied once, inside send(); an early one is kept in a
//  recycled buffer.
//  - A send waits when more than 64 MiB of its receiver's messages have not been taken.
//  - Receives from one peer are matched in the order of posting, whichever is tested first.
//  - Destroying a Communicator is leaving. What it sent before can still be received; after that, test()
//  throws Error
//    (diverged) "rank 1 left after <its last call> ...", and so do allgather() and sends to it.
//  - A message whose envelope carries a failure may have any size; its bytes are then unspecified.
//  - test() never calls a silent peer a stall: only the caller knows whether the peer should have sent by now
//    (status_of, stall_watch.hpp). allgather() does, when a missing rank gives no sign of life (a message, an
//    arrival, or publish(), also of an unchanged status) for the stall limit; the ranks that come late get
//    the same Error.
//
// Ownership: communicators and receives keep the shared state alive; the cluster object may go first. A bell
// must outlive its communicator, or be replaced by set_bell(nullptr).

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "cluster/communicator.hpp"
#include "cluster/stall_watch.hpp"

namespace nuna::cluster {

class InProcessCluster {
 public:
  explicit InProcessCluster(int ranks, std::chrono::nanoseconds stall = kDefaultStall);
  ~InProcessCluster();
  InProcessCluster(const InProcessCluster&) = delete;
  InProcessCluster& operator=(const InProcessCluster&) = delete;

  int size() const;
  /// The communicator of `rank`; once per rank, from any thread. A rank that has not joined yet counts as
  /// silent.
  std::unique_ptr<Communicator> join(base::RankId rank);

  /// 1 for the first rank that left, then 2 and so on; 0 for one that is still here.
  std::uint64_t left_as(base::RankId rank) const;
  /// How often a message needed a new buffer: stands still in a steady exchange.
  std::size_t buffer_allocations() const;

 private:
  class Hub;
  class Member;
  class PendingReceive;
  class PendingSend;
  std::shared_ptr<Hub> hub_;
};

using RankBody = std::function<void(base::RankId, std::unique_ptr<Communicator>)>;

/// Runs `body` for every rank on a thread of its own and returns when all have ended. A body that throws
/// leaves the cluster, so the others get errors instead of waiting; when all have ended, the cause
/// is rethrown: the exception of the rank that left first, those after Error (diverged, stalled), which tell of others.
void run_ranks(int ranks, const RankBody& body, std::chrono::nanoseconds stall = kDefaultStall);

}  // namespace nuna::cluster
