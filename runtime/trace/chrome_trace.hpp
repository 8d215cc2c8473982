#pragma once
// Writes a trace as Chrome trace-event JSON, which https://ui.perfetto.dev and chrome://tracing open.
//
// Every rank is a process ("rank 0"), every track a thread, listed by rank, then kind, then name; tracks of
// equal rank, kind and name share one row. Spans are complete events with bytes, launch and box as arguments,
// in microseconds with nanoseconds as fractions. The viewers want the spans of a thread nested; of spans that
// overlap in part, the later one moves to a second row of the same name with "(2)" behind it, and so on. A
// send's flow arrow leaves at its begin and arrives in the last nanosecond of its receive.
//
// Threads: any; the set must not change meanwhile. Memory: 16 bytes for each event of the fullest row; no
// document is built. The format: "Trace Event Format", Google, 2016.

#include <filesystem>
#include <functional>
#include <string_view>

#include "trace/events.hpp"

namespace nuna::trace {

/// Takes the text of a trace piece by piece, in order.
using Sink = std::function<void(std::string_view)>;

/// Hands the JSON text to `sink`. What the sink throws passes through.
void write_chrome_trace(const EventSet& set, const Sink& sink);

/// Writes the JSON text to a file that is whole or absent: the text goes to a temporary file beside it, which
/// takes the place of `file` at the end. On failure an older `file` stays as it was. A path that names no
/// regular file (a pipe, a terminal) is written to directly. Throws nuna::Error (input_output) with path and
/// reason.
void write_chrome_trace(const EventSet& set, const std::filesystem::path& file);

}  // namespace nuna::trace
