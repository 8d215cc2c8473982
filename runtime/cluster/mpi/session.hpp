#pragma once
// MPI in this process: who started it, who initialises it, who ends it (D10).
//
// Without a launcher MPI is not touched: a lone MPI_Init costs a third of a second. A program that has initialised MPI
// keeps it, and ends it; else the first Context that needs MPI initialises it with MPI_THREAD_MULTIPLE, and it is
// finalised when the process exits - unless a rank was lost, when MPI_Finalize would wait for it for ever. Where a program
// asked for less, only its own threads call MPI.

#include <mpi.h>

#include <functional>

#include "cluster/communicator.hpp"

namespace nuna::cluster::mpi {

/// Whether an MPI launcher (mpirun, mpiexec, srun) started this process: from its environment.
bool launched();

/// One warning when the launcher started several processes and MPI knows of one: program and launcher are of two MPIs, and
/// every process would do the whole work.
void warn_about_strange_launcher();

/// Makes sure that MPI is initialised. Throws Error (unsupported) when it was finalised already, and when it may be called
/// by the main thread only, which this one is not.
void require();
/// Which threads may call MPI.
Driver driver();
/// Whether MPI may be called.
bool usable();

/// From now on the process ends without MPI_Finalize: a peer is lost, or ranks have diverged.
void give_up();
bool given_up();

/// Calls `last` once: when MPI ends, after everything was drained; or when the process ends without MPI_Finalize, with false.
void at_the_end(std::function<void(bool together)> last);

/// Calls `drain` when somebody finalises MPI while the returned number is not forgotten yet.
int before_finalize(std::function<void()> drain);
void forget(int number);

}  // namespace nuna::cluster::mpi
