#include "stream.hpp"

#include <algorithm>

#include "call.hpp"
#include "device.hpp"
#include "handles.hpp"

namespace nuna::cudart {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1);
}

// One FIFO orders all streams, so the default stream's rules hold by themselves.
Stream& legacy_stream() {
  static auto* const only =
      new std::shared_ptr<Stream>(std::make_shared<Stream>(Stream::Which::legacy, 0u, 0));
  return **only;
}

std::shared_ptr<Stream> unowned(Stream& stream) { return {std::shared_ptr<Stream>(), &stream}; }

class RecordAction final : public Action {
 public:
  explicit RecordAction(std::shared_ptr<Record> record) : record_(std::move(record)) {}
  std::string name() const override { return "the record of an event"; }
  bool always() const override { return true; }
  void run(Crew&) const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    record_->nanoseconds.store(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    record_->done.store(true);
  }

 private:
  const std::shared_ptr<Record> record_;
};

class HostAction final : public Action {
 public:
  HostAction(cudaHostFn_t function, void* data) : function_(function), data_(data) {}
  std::string name() const override { return "a host function"; }
  void run(Crew&) const override {
    Device::agree_on_failures();
    if (sticky_error() != cudaSuccess) return;
    const InHostFunction here;
    function_(data_);
  }

 private:
  const cudaHostFn_t function_;
  void* const data_;
};

}  // namespace

ActionRef record_action(std::shared_ptr<Record> record) {
  return std::make_shared<RecordAction>(std::move(record));
}
ActionRef host_action(cudaHostFn_t function, void* data) {
  return std::make_shared<HostAction>(function, data);
}

Stream::Stream(Which which, unsigned int flags, int priority)
    : which_(which), flags_(flags), priority_(priority), id_(next_id()) {}

void Stream::submit(cudaGraphNodeType type, ActionRef action) {
  if (captured_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    leave_ended_capture();
    if (capture_ != nullptr) {
      require(!capture_->broken, cudaErrorStreamCaptureInvalidated);
      frontier_ = {capture_->graph->add(type, std::move(action), frontier_)};
      return;
    }
  }
  const Ticket ticket = Device::get().lane().push(std::move(action));
  Ticket last = last_.load();
  while (last < ticket && !last_.compare_exchange_weak(last, ticket)) {
  }
}

void Stream::synchronize() {
  refuse_in_capture();
  Device* const device = Device::if_there();
  if (device == nullptr) return;
  // The legacy stream's work comes after that of others.
  device->wait(which_ == Which::legacy ? device->lane().last() : last());
  require(sticky_error() == cudaSuccess, sticky_error());
}

bool Stream::done() {
  refuse_in_capture();
  Device* const device = Device::if_there();
  if (device != nullptr && device->replicated()) device->wait(last());  // ranks would see different moments
  return device == nullptr || device->lane().done(last());
}

// A stream that has joined a capture is in it until the stream that began it ends it.
void Stream::leave_ended_capture() {
  if (capture_ == nullptr || capture_->graph != nullptr) return;
  capture_ = nullptr;
  frontier_.clear();
  captured_.store(false, std::memory_order_release);
}

void Stream::refuse_in_capture() {
  if (!captured_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  leave_ended_capture();
  if (capture_ == nullptr) return;
  capture_->broken = true;
  throw Refused{cudaErrorStreamCaptureUnsupported};
}

void Stream::begin_capture(cudaStreamCaptureMode) {
  require(which_ != Which::legacy, cudaErrorStreamCaptureUnsupported);
  const std::lock_guard lock(mutex_);
  leave_ended_capture();
  require(capture_ == nullptr, cudaErrorIllegalState);
  capture_ = std::make_shared<Capture>();
  capture_->origin = this;
  capture_->id = next_id();
  frontier_.clear();
  captured_.store(true, std::memory_order_release);
}

std::shared_ptr<Graph> Stream::end_capture() {
  const std::lock_guard lock(mutex_);
  require(capture_ != nullptr, cudaErrorIllegalState);
  require(capture_->origin == this, cudaErrorStreamCaptureUnmatched);
  const CaptureRef capture = std::move(capture_);
  capture_ = nullptr;
  frontier_.clear();
  captured_.store(false, std::memory_order_release);
  require(!capture->broken, cudaErrorStreamCaptureInvalidated);
  auto graph = std::move(capture->graph);
  capture->graph = nullptr;  // streams that joined are captured no more
  return graph;
}

CaptureRef Stream::capture(std::vector<Node*>* after) const {
  if (!captured_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (capture_ == nullptr || capture_->graph == nullptr) return nullptr;
  if (after != nullptr) *after = frontier_;
  return capture_;
}

void Stream::join(const CaptureRef& capture, const std::vector<Node*>& after) {
  const std::lock_guard lock(mutex_);
  leave_ended_capture();
  require(capture_ == nullptr || capture_ == capture, cudaErrorStreamCaptureMerge);
  if (capture_ == nullptr) {
    require(which_ != Which::legacy, cudaErrorStreamCaptureImplicit);
    capture_ = capture;
    frontier_.clear();
    captured_.store(true, std::memory_order_release);
  }
  for (Node* node : after) {
    if (std::find(frontier_.begin(), frontier_.end(), node) == frontier_.end()) frontier_.push_back(node);
  }
}

std::shared_ptr<Stream> stream_of(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return unowned(legacy_stream());
  if (handle == cudaStreamPerThread) {
    static thread_local const auto mine = std::make_shared<Stream>(Stream::Which::per_thread, 0u, 0);
    return mine;
  }
  auto stream = handles<Stream>().find(handle);
  require(stream != nullptr, cudaErrorInvalidResourceHandle);
  return stream;
}

std::shared_ptr<Event> event_of(cudaEvent_t handle) {
  auto event = handles<Event>().find(handle);
  require(event != nullptr, cudaErrorInvalidResourceHandle);
  return event;
}

void Event::record(Stream& stream) {
  std::vector<Node*> after;
  if (CaptureRef capture = stream.capture(&after)) {
    const std::lock_guard lock(mutex_);
    capture_ = std::move(capture);
    captured_after_ = std::move(after);
    return;
  }
  auto record = std::make_shared<Record>();
  stream.submit(cudaGraphNodeTypeEventRecord, record_action(record));
  const std::lock_guard lock(mutex_);
  record_ = std::move(record);
  ticket_ = stream.last();
  capture_ = nullptr;
  captured_after_.clear();
}

ActionRef Event::record_in_graph() {
  const std::lock_guard lock(mutex_);
  record_ = std::make_shared<Record>();
  ticket_ = 0;
  return record_action(record_);
}

bool Event::done() const {
  std::shared_ptr<Record> record;
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    require(capture_ == nullptr || capture_->graph == nullptr, cudaErrorCapturedEvent);
    record = record_;
    ticket = ticket_;
  }
  if (Device* device = Device::if_there(); device != nullptr && device->replicated()) device->wait(ticket);
  return record == nullptr || record->done.load();
}

void Event::synchronize() const {
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    require(capture_ == nullptr || capture_->graph == nullptr, cudaErrorCapturedEvent);
    ticket = ticket_;
  }
  if (Device* device = Device::if_there()) device->wait(ticket);
  require(sticky_error() == cudaSuccess, sticky_error());
}

// What is recorded came into the lane before what the stream is given from now on.
void Event::await(Stream& stream) const {
  CaptureRef capture;
  std::vector<Node*> after;
  {
    const std::lock_guard lock(mutex_);
    capture = capture_;
    after = captured_after_;
  }
  if (capture != nullptr && capture->graph != nullptr) return stream.join(capture, after);
  require(stream.capture() == nullptr || record_ == nullptr, cudaErrorStreamCaptureIsolation);
}

float Event::milliseconds_until(const Event& end) const {
  require(((flags | end.flags) & cudaEventDisableTiming) == 0, cudaErrorInvalidResourceHandle);
  const auto record_of = [](const Event& event) {
    const std::lock_guard lock(event.mutex_);
    return event.record_;
  };
  const auto first = record_of(*this);
  const auto second = record_of(end);
  require(first != nullptr && second != nullptr, cudaErrorInvalidResourceHandle);
  require(first->done.load() && second->done.load(), cudaErrorNotReady);
  const auto nanoseconds = static_cast<double>(second->nanoseconds.load() - first->nanoseconds.load());
  return static_cast<float>(Device::get().agreed(nanoseconds) * 1e-6);
}

}  // namespace nuna::cudart
