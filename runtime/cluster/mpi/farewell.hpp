#pragma once
// Farewell: what every process hands to rank 0 before MPI ends, and how far its clock is ahead of rank 0's (decision 0016).
//
// The end of MPI is the one moment to which all processes come together. There rank 0 asks the others one by one for what it
// wants (take), and they answer (give) until it dismisses them. Of a process that has died the control channel tells; then
// the job has a lost rank, and ends without MPI_Finalize.
//
// Threads: one. Failures: Error (stalled) when the other side has died, Error (input_output) when MPI fails.

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/mpi/control.hpp"
#include "cluster/mpi/messages.hpp"

namespace nuna::cluster::mpi {

class Farewell {
 public:
  /// On a communicator of its own, which lasts until MPI ends. `addresses` of its ranks, which know of `context`.
  Farewell(MPI_Comm comm, std::vector<Address> addresses, std::uint64_t context);
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(addresses_.size()); }

  struct Gift {
    std::vector<std::byte> bytes;
    std::int64_t ahead_ns = 0;  ///< the giver's steady clock before ours
  };
  /// By rank 0: what `from` gives. Throws Error (out_of_memory) when that is more than `most_bytes`.
  Gift take(int from, std::size_t most_bytes);
  /// By rank 0, once and in any case: the others may go. `taken`: what they gave is in good hands.
  void dismiss(bool taken);
  /// By the others: serves rank 0 until it dismisses us; whether what we gave was taken. After an Error the bytes must stay for
  /// good, because MPI may still read them.
  bool give(std::span<const std::byte> bytes);

 private:
  void tell(int to, const void* what, std::size_t bytes);
  void hear(int from, void* what, std::size_t bytes);
  std::int64_t ask(int from, std::int64_t wish);
  void finish(Requests& requests, int peer, bool receives);

  MPI_Comm comm_;
  const std::vector<Address> addresses_;
  const std::uint64_t context_;
  std::vector<bool> lost_;
  int rank_ = 0;
  std::int64_t said_ = 0;  // the number under way
};

}  // namespace nuna::cluster::mpi
