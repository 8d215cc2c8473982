// Streams and events.

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "handles.hpp"
#include "stream.hpp"

using namespace nuna::cudart;

namespace {

constexpr int kGreatestPriority = -5;

cudaError_t make_stream(cudaStream_t* stream, unsigned int flags, int priority) {
  return device_call([&] {
    require(stream != nullptr && (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) == 0,
            cudaErrorInvalidValue);
    Device::get();
    const int clamped = priority > 0 ? 0 : priority < kGreatestPriority ? kGreatestPriority : priority;
    auto made = std::make_shared<Stream>(Stream::Which::made, flags, clamped);
    *stream = reinterpret_cast<cudaStream_t>(handles<Stream>().add(std::move(made)));
  });
}

// A callback is told how the stream's work went, so it is called also when that failed.
class CallbackAction final : public Action {
 public:
  CallbackAction(cudaStreamCallback_t callback, cudaStream_t stream, void* data)
      : callback_(callback), stream_(stream), data_(data) {}
  std::string name() const override { return "a callback"; }
  bool always() const override { return true; }
  void run(Crew&) const override {
    Device::agree_on_failures();
    const InHostFunction here;
    callback_(stream_, sticky_error(), data_);
  }

 private:
  const cudaStreamCallback_t callback_;
  const cudaStream_t stream_;
  void* const data_;
};

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return make_stream(stream, cudaStreamDefault, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return make_stream(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return make_stream(stream, flags, priority);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  if (leastPriority != nullptr) *leastPriority = 0;
  if (greatestPriority != nullptr) *greatestPriority = kGreatestPriority;
  return cudaSuccess;
}

// Its work goes on.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return plain_call([&] {
    require(stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread,
            cudaErrorInvalidResourceHandle);
    require(handles<Stream>().remove(stream) != nullptr || Device::ended(), cudaErrorInvalidResourceHandle);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return waiting_call([&] { stream_of(stream)->synchronize(); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return device_call([&] { return stream_of(stream)->done() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return device_call([&] {
    require((flags & ~static_cast<unsigned>(cudaEventWaitExternal)) == 0, cudaErrorInvalidValue);
    const auto waits = stream_of(stream);
    event_of(event)->await(*waits);
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                  unsigned int flags) {
  return device_call([&] {
    require(callback != nullptr && flags == 0, cudaErrorInvalidValue);
    const auto of = stream_of(stream);
    of->refuse_in_capture();
    of->submit(cudaGraphNodeTypeHost, std::make_shared<CallbackAction>(callback, stream, userData));
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  return device_call([&] {
    require(fn != nullptr, cudaErrorInvalidValue);
    stream_of(stream)->submit(cudaGraphNodeTypeHost, host_action(fn, userData));
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return device_call([&] {
    require(priority != nullptr, cudaErrorInvalidValue);
    *priority = stream_of(stream)->priority();
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return device_call([&] {
    require(flags != nullptr, cudaErrorInvalidValue);
    *flags = stream_of(stream)->flags();
  });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* streamId) {
  return device_call([&] {
    require(streamId != nullptr, cudaErrorInvalidValue);
    *streamId = stream_of(stream)->id();
  });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return device_call([&] {
    require(device != nullptr, cudaErrorInvalidValue);
    stream_of(stream);
    *device = 0;
  });
}

// Attributes are hints for hardware: accepted, and told as their defaults.
cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
  return device_call([&] {
    stream_of(dst);
    stream_of(src);
  });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr,
                                   cudaLaunchAttributeValue* value) {
  return device_call([&] {
    require(value != nullptr, cudaErrorInvalidValue);
    *value = {};
    if (attr == cudaLaunchAttributePriority) value->priority = stream_of(stream)->priority();
  });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID,
                                   const cudaLaunchAttributeValue* value) {
  return device_call([&] {
    require(value != nullptr, cudaErrorInvalidValue);
    stream_of(stream);
  });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* devPtr, size_t, unsigned int) {
  return device_call([&] {
    require(devPtr != nullptr, cudaErrorInvalidValue);
    stream_of(stream);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return device_call([&] {
    constexpr unsigned int kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    require(event != nullptr && (flags & ~kKnown) == 0, cudaErrorInvalidValue);
    *event = reinterpret_cast<cudaEvent_t>(handles<Event>().add(std::make_shared<Event>(flags)));
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return plain_call([&] {
    require(handles<Event>().remove(event) != nullptr || Device::ended(), cudaErrorInvalidResourceHandle);
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return device_call([&] {
    const auto on = stream_of(stream);
    event_of(event)->record(*on);
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return device_call([&] { return event_of(event)->done() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return waiting_call([&] { event_of(event)->synchronize(); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return device_call([&] {
    require(milliseconds != nullptr, cudaErrorInvalidValue);
    const auto first = event_of(start);
    const float time = first->milliseconds_until(*event_of(end));
    *milliseconds = time;
    return cudaSuccess;
  });
}

NUNA_PER_THREAD(cudaStreamSynchronize);
NUNA_PER_THREAD(cudaStreamQuery);
NUNA_PER_THREAD(cudaStreamWaitEvent);
NUNA_PER_THREAD(cudaStreamAddCallback);
NUNA_PER_THREAD(cudaLaunchHostFunc);
NUNA_PER_THREAD(cudaStreamGetPriority);
NUNA_PER_THREAD(cudaStreamGetFlags);
NUNA_PER_THREAD(cudaStreamGetId);
NUNA_PER_THREAD(cudaStreamGetDevice);
NUNA_PER_THREAD(cudaStreamCopyAttributes);
NUNA_PER_THREAD(cudaStreamGetAttribute);
NUNA_PER_THREAD(cudaStreamSetAttribute);
NUNA_PER_THREAD(cudaStreamAttachMemAsync);
NUNA_PER_THREAD(cudaEventRecord);
NUNA_PER_THREAD(cudaEventRecordWithFlags);
}
