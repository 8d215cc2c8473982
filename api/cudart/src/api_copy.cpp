// Copies and fills of memory.

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "images.hpp"
#include "transfer.hpp"

using namespace nuna::cudart;

namespace {

cudaError_t check_devices(int to, int from) {
  return to == 0 && from == 0 ? cudaSuccess : remember(cudaErrorInvalidDevice);
}

// `count` bytes of a variable, from `offset` on.
template <class Work>
cudaError_t with_symbol(const void* symbol, size_t count, size_t offset, Work work) {
  void* address = nullptr;
  const cudaError_t error = device_call([&] {
    const Variable variable = Images::of_process().variable(symbol);
    require(offset <= variable.bytes && count <= variable.bytes - offset, cudaErrorInvalidValue);
    address = static_cast<char*>(variable.address) + offset;
  });
  return error == cudaSuccess ? work(address) : error;
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, const cudaStream_t* stream) {
  Copy copy;
  const cudaError_t error = device_call([&] {
    require(p != nullptr, cudaErrorInvalidValue);
    copy = copy_of(*p);
  });
  return error == cudaSuccess ? copy_call(copy, p->kind, stream) : error;
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, const cudaStream_t* stream) {
  if (p == nullptr) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = check_devices(p->dstDevice, p->srcDevice)) return error;
  const cudaMemcpy3DParms parameters{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                     p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return copy_3d(&parameters, stream);
}

Fill linear_fill(void* to, int value, size_t count) {
  return {{static_cast<std::byte*>(to), count, count}, {count, 1, 1}, static_cast<std::uint32_t>(value), 1};
}
Fill pitched_fill(void* to, size_t pitch, int value, size_t width, size_t height) {
  return {{static_cast<std::byte*>(to), pitch, pitch * height},
          {width, height, 1},
          static_cast<std::uint32_t>(value),
          1};
}
Fill extent_fill(const cudaPitchedPtr& to, int value, const cudaExtent& extent) {
  return {{static_cast<std::byte*>(to.ptr), to.pitch, to.pitch * to.ysize},
          {extent.width, extent.height, extent.depth},
          static_cast<std::uint32_t>(value),
          1};
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return copy_call(linear_copy(dst, src, count), kind, nullptr);
}
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_call(linear_copy(dst, src, count), kind, &stream);
}
cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
  if (const cudaError_t error = check_devices(dstDevice, srcDevice)) return error;
  return copy_call(linear_copy(dst, src, count), cudaMemcpyDeviceToDevice, nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
                                cudaStream_t stream) {
  if (const cudaError_t error = check_devices(dstDevice, srcDevice)) return error;
  return copy_call(linear_copy(dst, src, count), cudaMemcpyDeviceToDevice, &stream);
}
cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return copy_call(pitched_copy(dst, dpitch, src, spitch, width, height), kind, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_call(pitched_copy(dst, dpitch, src, spitch, width, height), kind, &stream);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d(p, nullptr); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) { return copy_3d(p, &stream); }
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return copy_3d_peer(p, nullptr); }
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copy_3d_peer(p, &stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return with_symbol(symbol, count, offset, [&](void* at) { return cudaMemcpy(at, src, count, kind); });
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return with_symbol(symbol, count, offset,
                     [&](void* at) { return cudaMemcpyAsync(at, src, count, kind, stream); });
}
cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  return with_symbol(symbol, count, offset, [&](void* at) { return cudaMemcpy(dst, at, count, kind); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return with_symbol(symbol, count, offset,
                     [&](void* at) { return cudaMemcpyAsync(dst, at, count, kind, stream); });
}
cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol) {
  return device_call([&] {
    require(devPtr != nullptr, cudaErrorInvalidValue);
    *devPtr = Images::of_process().variable(symbol).address;
  });
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return device_call([&] {
    require(size != nullptr, cudaErrorInvalidValue);
    *size = Images::of_process().variable(symbol).bytes;
  });
}

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
  return fill_call(linear_fill(devPtr, value, count), nullptr);
}
cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return fill_call(linear_fill(devPtr, value, count), &stream);
}
cudaError_t cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height) {
  return fill_call(pitched_fill(devPtr, pitch, value, width, height), nullptr);
}
cudaError_t cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill_call(pitched_fill(devPtr, pitch, value, width, height), &stream);
}
cudaError_t cudaMemset3D(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) {
  return fill_call(extent_fill(pitchedDevPtr, value, extent), nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill_call(extent_fill(pitchedDevPtr, value, extent), &stream);
}

NUNA_PER_THREAD_DEFAULT(cudaMemcpy);
NUNA_PER_THREAD(cudaMemcpyAsync);
NUNA_PER_THREAD(cudaMemcpyPeerAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpy2D);
NUNA_PER_THREAD(cudaMemcpy2DAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpy3D);
NUNA_PER_THREAD(cudaMemcpy3DAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpy3DPeer);
NUNA_PER_THREAD(cudaMemcpy3DPeerAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpyToSymbol);
NUNA_PER_THREAD(cudaMemcpyToSymbolAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpyFromSymbol);
NUNA_PER_THREAD(cudaMemcpyFromSymbolAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemset);
NUNA_PER_THREAD(cudaMemsetAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemset2D);
NUNA_PER_THREAD(cudaMemset2DAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemset3D);
NUNA_PER_THREAD(cudaMemset3DAsync);
}
