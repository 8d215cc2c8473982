// Streams, host functions, and waiting on a word of memory.

#include <atomic>
#include <thread>

#include "state.hpp"

using standin::current_context;
using standin::state;
using standin::Stream;
using standin::stream_of;

namespace {

CUresult create(CUstream* handle, unsigned flags, int priority) {
  if (handle == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  auto& context = *current_context();
  auto stream = std::make_shared<Stream>(context, flags, std::clamp(priority, -5, 0));
  *handle = reinterpret_cast<CUstream>(stream.get());
  std::lock_guard lock(state().mutex);
  std::lock_guard order(context.order);
  context.streams.insert(stream);
  state().streams[*handle] = std::move(stream);
  return CUDA_SUCCESS;
}

/// The word at an address that a stream's device may write, or null.
std::uint8_t* word(const Stream& stream, CUdeviceptr address, std::uint64_t size_bytes) {
  const auto piece = state().memory.reach(stream.context().device).at(address, true);
  return piece.size_bytes >= size_bytes ? piece.bytes : nullptr;
}

template <class T>
CUresult write_word(CUstream handle, CUdeviceptr address, T value, unsigned flags) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (address % sizeof(T) != 0 || flags > 1 || word(*stream, address, sizeof(T)) == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  stream->context().submit(*stream, [device_stream = stream.get(), address, value] {
    auto* at = reinterpret_cast<T*>(word(*device_stream, address, sizeof(T)));
    if (at == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

template <class T>
bool satisfied(T found, T value, unsigned kind) {
  switch (kind) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<T>>(found - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & value) != 0;
    default:
      return static_cast<T>(~(found | value)) != 0;
  }
}

template <class T>
CUresult wait_word(CUstream handle, CUdeviceptr address, T value, unsigned flags) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (address % sizeof(T) != 0 || flags > 3 || word(*stream, address, sizeof(T)) == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  stream->context().submit(*stream, [device_stream = stream.get(), address, value, flags] {
    while (device_stream->context().lost() == CUDA_SUCCESS) {
      const auto* at = reinterpret_cast<const T*>(word(*device_stream, address, sizeof(T)));
      if (at == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
      if (satisfied(__atomic_load_n(at, __ATOMIC_ACQUIRE), value, flags)) break;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

}  // namespace

STANDIN_API cuStreamCreate(CUstream* handle, unsigned flags) {
  STANDIN_ENTER(kContext);
  return create(handle, flags, 0);
}

STANDIN_API cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
  STANDIN_ENTER(kContext);
  return create(handle, flags, priority);
}

STANDIN_API cuStreamDestroy_v2(CUstream handle) {
  STANDIN_ENTER(kContext);
  std::lock_guard lock(state().mutex);
  const auto found = state().streams.find(handle);
  if (found == state().streams.end()) return CUDA_ERROR_INVALID_HANDLE;
  const auto stream = found->second;
  state().streams.erase(found);
  // It stays among the context's until its work is done: the default stream waits for it as for the others.
  auto& context = stream->context();
  std::lock_guard order(context.order);
  stream->close();
  std::erase_if(context.streams, [](const auto& each) { return each->ended(); });
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamQuery(CUstream handle) {
  STANDIN_ENTER(kContext);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const bool done = stream->last().done();
  if (stream->context().lost() != CUDA_SUCCESS) return stream->context().lost();
  return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

STANDIN_API cuStreamSynchronize(CUstream handle) {
  STANDIN_ENTER(kContext);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream == stream->context().default_stream)
    stream->context().submit(*stream, [] { return CUDA_SUCCESS; }).wait();
  else
    stream->last().wait();
  return stream->context().lost();
}

STANDIN_API cuStreamGetPriority(CUstream handle, int* priority) {
  STANDIN_ENTER(kContext);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority();
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamGetFlags(CUstream handle, unsigned* flags) {
  STANDIN_ENTER(kContext);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags();
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamGetCtx(CUstream handle, CUcontext* context) {
  STANDIN_ENTER(kContext);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = stream->context().handle();
  return CUDA_SUCCESS;
}

STANDIN_API cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  STANDIN_ENTER(kContext);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  stream->context().submit(*stream, [function, data] {
    const standin::HostFunctionScope scope;
    function(data);
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  STANDIN_ENTER(kContext);
  return write_word<std::uint32_t>(stream, address, value, flags);
}

STANDIN_API cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  STANDIN_ENTER(kContext);
  return write_word<std::uint64_t>(stream, address, value, flags);
}

STANDIN_API cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  STANDIN_ENTER(kContext);
  return wait_word<std::uint32_t>(stream, address, value, flags);
}

STANDIN_API cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  STANDIN_ENTER(kContext);
  return wait_word<std::uint64_t>(stream, address, value, flags);
}
