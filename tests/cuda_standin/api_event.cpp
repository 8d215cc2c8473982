// Events: markers in streams.

#include <chrono>

#include "state.hpp"

using namespace standin;

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<Marker> marker_of(const std::shared_ptr<Event>& event) {
  std::lock_guard lock(state().mutex);
  return event->marker;
}

CUresult record(CUevent handle, CUstream stream_handle) {
  const auto event = event_of(handle);
  const auto stream = stream_of(stream_handle);
  if (event == nullptr || stream == nullptr || event->context != &stream->context())
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->context().lost() != CUDA_SUCCESS) return stream->context().lost();
  auto marker = std::make_shared<Marker>();
  marker->end = stream->context().submit(*stream, [marker] {
    marker->time_ns = now_ns();
    return CUDA_SUCCESS;
  });
  std::lock_guard lock(state().mutex);
  event->marker = std::move(marker);
  return CUDA_SUCCESS;
}

}  // namespace

STANDIN_API cuEventCreate(CUevent* handle, unsigned flags) {
  STANDIN_ENTER(kContext);
  if (handle == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  auto event = std::make_shared<Event>();
  event->context = current_context();
  event->flags = flags;
  *handle = reinterpret_cast<CUevent>(event.get());
  std::lock_guard lock(state().mutex);
  state().events[*handle] = std::move(event);
  return CUDA_SUCCESS;
}

STANDIN_API cuEventDestroy_v2(CUevent handle) {
  STANDIN_ENTER(kContext);
  std::lock_guard lock(state().mutex);
  return state().events.erase(handle) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

STANDIN_API cuEventRecord(CUevent event, CUstream stream) {
  STANDIN_ENTER(kContext);
  return record(event, stream);
}

STANDIN_API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  STANDIN_ENTER(kContext);
  return flags == 0 ? record(event, stream) : CUDA_ERROR_INVALID_VALUE;
}

STANDIN_API cuEventQuery(CUevent handle) {
  STANDIN_ENTER(kContext);
  const auto event = event_of(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto marker = marker_of(event);
  const bool done = marker == nullptr || marker->end.done();
  if (event->context->lost() != CUDA_SUCCESS) return event->context->lost();
  return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

STANDIN_API cuEventSynchronize(CUevent handle) {
  STANDIN_ENTER(kContext);
  const auto event = event_of(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const auto marker = marker_of(event)) marker->end.wait();
  return event->context->lost();
}

STANDIN_API cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
  STANDIN_ENTER(kContext);
  const auto event = event_of(handle);
  const auto stream = stream_of(stream_handle);
  if (event == nullptr || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  const auto marker = marker_of(event);
  if (marker == nullptr) return CUDA_SUCCESS;
  stream->context().submit(*stream, [point = marker->end] {
    point.wait();
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

STANDIN_API cuEventElapsedTime_v2(float* milliseconds, CUevent begin_handle, CUevent end_handle) {
  STANDIN_ENTER(kContext);
  const auto begin = event_of(begin_handle), end = event_of(end_handle);
  if (begin == nullptr || end == nullptr || begin->context != end->context) return CUDA_ERROR_INVALID_HANDLE;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  const auto first = marker_of(begin), last = marker_of(end);
  if (first == nullptr || last == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!first->end.done() || !last->end.done()) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(last->time_ns - first->time_ns) * 1e-6);
  return CUDA_SUCCESS;
}
#undef cuEventElapsedTime
STANDIN_API cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}
