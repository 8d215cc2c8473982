#pragma once
// The process's trace: one recorder for all Contexts, written to NUNA_TRACE's file whenever a Context ends.

#include <memory>

#include "trace/recorder.hpp"

namespace nuna::api {

/// Null unless NUNA_TRACE is set. Any thread.
std::shared_ptr<trace::Recorder> trace_recorder();
/// Of several processes, each writes a file of its own: rank 0 NUNA_TRACE's, rank 1 "trace.rank1.json" beside it. Before the
/// first Context of the process.
void name_trace_of_rank(int rank);
/// Writes what was recorded so far; a failure is one warning. Any thread.
void write_trace() noexcept;

}  // namespace nuna::api
