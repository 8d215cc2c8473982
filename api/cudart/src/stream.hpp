#pragma once
// Streams, events, and what a stream does with an operation: into the lane, or into the graph that it is being captured to.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_runtime_api.h"
#include "graph.hpp"
#include "lane.hpp"

namespace nuna::cudart {

/// A graph in the making.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  const void* origin = nullptr;  ///< the stream that it began on
  std::uint64_t id = 0;
  bool broken = false;
};
using CaptureRef = std::shared_ptr<Capture>;

class Stream {
 public:
  enum class Which { made, legacy, per_thread };
  Stream(Which which, unsigned int flags, int priority);

  /// The operation follows those submitted before. Throws Refused.
  void submit(cudaGraphNodeType type, ActionRef action);
  /// Waits for what was submitted. Refuses while the stream is captured.
  void synchronize();
  bool done();
  Ticket last() const { return last_.load(); }
  Which which() const { return which_; }
  unsigned int flags() const { return flags_; }
  int priority() const { return priority_; }
  std::uint64_t id() const { return id_; }

  void begin_capture(cudaStreamCaptureMode mode);
  std::shared_ptr<Graph> end_capture();
  /// What the stream is captured to, and what its next operation comes after. Null when it is not.
  CaptureRef capture(std::vector<Node*>* after = nullptr) const;
  /// The next operation also comes after these, of a capture that the stream joins if it is in none.
  void join(const CaptureRef& capture, const std::vector<Node*>& after);
  /// Fails with cudaErrorStreamCaptureUnsupported, and spoils the capture, while there is one.
  void refuse_in_capture();

 private:
  const Which which_;
  const unsigned int flags_;
  const int priority_;
  const std::uint64_t id_;
  std::atomic<Ticket> last_{0};
  std::atomic<bool> captured_{false};
  void leave_ended_capture();

  mutable std::mutex mutex_;
  CaptureRef capture_;  // guarded by mutex_, as is frontier_
  std::vector<Node*> frontier_;
};

/// A stream by its handle; 0 and 1 are the legacy default stream, 2 that of the thread. Throws Refused
/// (cudaErrorInvalidResourceHandle).
std::shared_ptr<Stream> stream_of(cudaStream_t handle);

/// One recording of an event.
struct Record {
  std::atomic<std::int64_t> nanoseconds{0};
  std::atomic<bool> done{false};
};

class Event {
 public:
  explicit Event(unsigned int event_flags) : flags(event_flags) {}
  const unsigned int flags;

  void record(Stream& stream);
  /// Whether the newest recording is over, or there is none.
  bool done() const;
  void synchronize() const;
  /// An operation that records it each time that it is run.
  ActionRef record_in_graph();
  void await(Stream& stream) const;
  /// Throws Refused as cudaEventElapsedTime does.
  float milliseconds_until(const Event& end) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Record> record_;
  Ticket ticket_ = 0;
  CaptureRef capture_;  // the recording is part of one
  std::vector<Node*> captured_after_;
};

std::shared_ptr<Event> event_of(cudaEvent_t handle);

/// Stamps a recording with the time at which it is run.
ActionRef record_action(std::shared_ptr<Record> record);
/// Calls a function of the program.
ActionRef host_action(cudaHostFn_t function, void* data);

}  // namespace nuna::cudart
