// The copy functions along one line.

#include "copy.hpp"

using namespace standin;

namespace {

CUresult copy_line(CUstream handle, Sort to_sort, std::uint64_t to, int to_device, Sort from_sort,
                   std::uint64_t from, int from_device, std::size_t size_bytes, bool wait) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->context().lost() != CUDA_SUCCESS) return stream->context().lost();
  if (size_bytes == 0) return CUDA_SUCCESS;
  Side target, source;
  const int own = stream->context().device;
  if (!make_side(to_sort, to, to_device < 0 ? own : to_device, target) ||
      !make_side(from_sort, from, from_device < 0 ? own : from_device, source))
    return CUDA_ERROR_INVALID_VALUE;
  return submit_copy(*stream, target, source, {size_bytes}, wait);
}

CUresult copy_line(CUstream stream, Sort to_sort, std::uint64_t to, Sort from_sort, std::uint64_t from,
                   std::size_t size_bytes, bool wait) {
  return copy_line(stream, to_sort, to, -1, from_sort, from, -1, size_bytes, wait);
}

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

CUresult copy_peer(CUstream stream, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                   CUcontext from_context, std::size_t size_bytes, bool wait) {
  const Context* target = context_of(to_context);
  const Context* source = context_of(from_context);
  if (target == nullptr || source == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (target->lost() != CUDA_SUCCESS) return target->lost();
  if (source->lost() != CUDA_SUCCESS) return source->lost();
  return copy_line(stream, Sort::kUnified, to, target->device, Sort::kUnified, from, source->device,
                   size_bytes, wait);
}

}  // namespace

STANDIN_API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  STANDIN_ENTER(kContext);
  return copy_line(nullptr, Sort::kUnified, to, Sort::kUnified, from, size_bytes, true);
}

STANDIN_API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_line(stream, Sort::kUnified, to, Sort::kUnified, from, size_bytes, false);
}

STANDIN_API cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size_bytes) {
  STANDIN_ENTER(kContext);
  return copy_line(nullptr, Sort::kDevice, to, Sort::kHost, number(from), size_bytes, true);
}

STANDIN_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size_bytes, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_line(stream, Sort::kDevice, to, Sort::kHost, number(from), size_bytes, false);
}

STANDIN_API cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size_bytes) {
  STANDIN_ENTER(kContext);
  return copy_line(nullptr, Sort::kHost, number(to), Sort::kDevice, from, size_bytes, true);
}

STANDIN_API cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_line(stream, Sort::kHost, number(to), Sort::kDevice, from, size_bytes, false);
}

STANDIN_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  STANDIN_ENTER(kContext);
  return copy_line(nullptr, Sort::kDevice, to, Sort::kDevice, from, size_bytes, true);
}

STANDIN_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_line(stream, Sort::kDevice, to, Sort::kDevice, from, size_bytes, false);
}

STANDIN_API cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                         size_t size_bytes) {
  STANDIN_ENTER(kContext);
  return copy_peer(nullptr, to, to_context, from, from_context, size_bytes, true);
}

STANDIN_API cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                              size_t size_bytes, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_peer(stream, to, to_context, from, from_context, size_bytes, false);
}
