#pragma once
// The process's trace: one recorder for all Contexts, written to NUNA_TRACE's file whenever a Context ends. Of several MPI
// processes each writes a file of its own; when MPI ends, rank 0 makes one of them all (decision 0016).

#include <memory>

#include "trace/recorder.hpp"

#ifdef NUNA_WITH_MPI
#include "cluster/mpi/farewell.hpp"
#endif

namespace nuna::api {

/// Null unless NUNA_TRACE is set. Any thread.
std::shared_ptr<trace::Recorder> trace_recorder();
/// The file of rank 0 is NUNA_TRACE's, that of rank 1 "trace.rank1.json" beside it. Before the first Context of the process.
void name_trace_of_rank(int rank);
/// Writes what was recorded so far; a failure is one warning. Nothing once the traces were merged. Any thread.
void write_trace() noexcept;

#ifdef NUNA_WITH_MPI
/// Whether there is a trace that nobody has promised to merge yet.
bool wants_to_merge_traces();
/// When MPI ends, rank 0 writes one file with the tracks of all processes, and the others remove theirs. If that cannot be,
/// one warning says why, and the files stay as they are.
void merge_traces_at_the_end(std::unique_ptr<cluster::mpi::Farewell> farewell);
#endif

}  // namespace nuna::api
