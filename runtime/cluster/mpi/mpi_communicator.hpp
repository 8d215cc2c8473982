#pragma once
// The communicator whose ranks are MPI processes (D5, D10).
//
//   const auto communicator = make_mpi(MPI_COMM_WORLD);
//
// It works on duplicates of the user's communicator, so its messages never meet the user's. Planned messages carry a hash
// of the calls up to theirs as their tag; so a rank that made other calls matches nothing, and what is wrong is found by
// asking (control.hpp), which also finds processes that have died. Messages above 1 GiB travel in pieces. A message that
// carries a failure is empty, and the failure's text follows under a tag of its own.
//
// Threads: as MPI was initialised (driver()). Progress: only inside test() and allgather().

#include <mpi.h>

#include <memory>

#include "cluster/communicator.hpp"
#include "cluster/mpi/farewell.hpp"
#include "cluster/stall_watch.hpp"

namespace nuna::cluster::mpi {

struct MpiConfig {
  std::chrono::nanoseconds stall = kDefaultStall;
  std::size_t piece_bytes = std::size_t{1} << 30;  ///< of large messages
  bool farewell = false;                           ///< this rank wants one: see take_farewell()
};

/// Collective over `comm`, which stays the caller's.
class MpiCommunicator : public Communicator {
 public:
  /// Ranks of this node that may run on the same cores as this one, itself included.
  virtual int core_sharers() const = 0;
  /// The same on every rank, different for every communicator of a process.
  virtual std::uint64_t id() const = 0;
  /// Not null, on every rank, when a rank asked for one and the ranks are those of MPI_COMM_WORLD. Once.
  virtual std::unique_ptr<Farewell> take_farewell() = 0;
};
std::unique_ptr<MpiCommunicator> make_mpi(MPI_Comm comm, const MpiConfig& config = {});

}  // namespace nuna::cluster::mpi
