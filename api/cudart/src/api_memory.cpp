// Memory.

#include <cstring>

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "limits.hpp"
#include "stream.hpp"

using namespace nuna::cudart;

namespace {

using Kind = Allocation::Kind;

void allocate(void** pointer, size_t bytes, Kind kind, unsigned int flags = 0) {
  require(pointer != nullptr, cudaErrorInvalidValue);
  *pointer = nullptr;
  *pointer = Device::get().memory().allocate(bytes, kind, flags);
}

// Frees wait for what runs, as CUDA's do. At exit everything is gone already.
cudaError_t free_memory(void* pointer, std::initializer_list<Kind> kinds) {
  if (pointer == nullptr) return sticky_error() == cudaSuccess ? cudaSuccess : remember(sticky_error());
  if (Device::ended()) return cudaErrorCudartUnloading;
  return device_call([&] {
    Device& device = Device::get();
    device.synchronize();
    const Turns::Turn turn = device.memory().begin_change("a free");
    require(device.memory().free(pointer, kinds), cudaErrorInvalidValue);
    device.memory().trim(device.memory().limit_bytes() / 8);
  });
}

size_t pitch_of(size_t width) {
  return (width + limits::kPitchAlignment - 1) / limits::kPitchAlignment * limits::kPitchAlignment;
}

bool is_device(Kind kind) { return kind == Kind::device || kind == Kind::managed; }

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** devPtr, size_t size) {
  return device_call([&] { allocate(devPtr, size, Kind::device); });
}

// With one host device there is one memory for both sides, so managed memory is the device's. (See memory.hpp.)
cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) {
  return device_call([&] {
    require(size > 0 && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost), cudaErrorInvalidValue);
    allocate(devPtr, size, Kind::managed, flags);
  });
}

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) {
  return device_call([&] {
    require(devPtr != nullptr && pitch != nullptr, cudaErrorInvalidValue);
    require(width <= limits::kMostPitchBytes, cudaErrorInvalidValue);
    const size_t row = pitch_of(width);
    require(height == 0 || row <= SIZE_MAX / height, cudaErrorMemoryAllocation);
    allocate(devPtr, row * height, Kind::device);
    *pitch = row;
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitchedDevPtr, cudaExtent extent) {
  return device_call([&] {
    require(pitchedDevPtr != nullptr && extent.width <= limits::kMostPitchBytes, cudaErrorInvalidValue);
    const size_t row = pitch_of(extent.width);
    const size_t rows = extent.height * extent.depth;
    require(rows == 0 || row <= SIZE_MAX / rows, cudaErrorMemoryAllocation);
    *pitchedDevPtr = {nullptr, row, extent.width, extent.height};
    allocate(&pitchedDevPtr->ptr, row * rows, Kind::device);
  });
}

cudaError_t cudaFree(void* devPtr) {
  if (devPtr == nullptr && !Device::ended())
    return device_call([] { Device::get(); });  // the usual way to start CUDA
  return free_memory(devPtr, {Kind::device, Kind::managed});
}

cudaError_t cudaMallocHost(void** ptr, size_t size) { return cudaHostAlloc(ptr, size, cudaHostAllocDefault); }

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int flags) {
  return device_call([&] {
    constexpr unsigned int kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    require((flags & ~kKnown) == 0, cudaErrorInvalidValue);
    allocate(pHost, size, Kind::pinned, flags | cudaHostAllocMapped);
  });
}

cudaError_t cudaFreeHost(void* ptr) { return free_memory(ptr, {Kind::pinned}); }

cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned int flags) {
  return device_call([&] {
    require(ptr != nullptr && size > 0 && flags <= 0xf, cudaErrorInvalidValue);
    Device::get().memory().add_registered(ptr, size, flags);
  });
}

cudaError_t cudaHostUnregister(void* ptr) {
  return device_call([&] {
    require(ptr != nullptr, cudaErrorInvalidValue);
    require(Device::get().memory().free(ptr, {Kind::registered}), cudaErrorHostMemoryNotRegistered);
  });
}

cudaError_t cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
  return device_call([&] {
    require(pDevice != nullptr && pHost != nullptr && flags == 0, cudaErrorInvalidValue);
    const auto found = Device::get().memory().find(pHost);
    require(found && (found->kind == Kind::pinned || found->kind == Kind::registered), cudaErrorInvalidValue);
    *pDevice = pHost;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* pFlags, void* pHost) {
  return device_call([&] {
    require(pFlags != nullptr && pHost != nullptr, cudaErrorInvalidValue);
    const auto found = Device::get().memory().find(pHost);
    require(found && found->kind == Kind::pinned, cudaErrorInvalidValue);
    *pFlags = found->flags;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
  return device_call([&] {
    require(attributes != nullptr && ptr != nullptr, cudaErrorInvalidValue);
    *attributes = {};
    const auto found = Device::get().memory().find(ptr);
    attributes->type = !found                        ? cudaMemoryTypeUnregistered
                       : found->kind == Kind::device ? cudaMemoryTypeDevice
                       : is_device(found->kind)      ? cudaMemoryTypeManaged
                                                     : cudaMemoryTypeHost;
    attributes->device = found ? 0 : cudaInvalidDeviceId;
    void* const both = const_cast<void*>(ptr);
    attributes->devicePointer = found ? both : nullptr;
    attributes->hostPointer = found && found->kind == Kind::device ? nullptr : both;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return device_call([&] {
    Memory& memory = Device::get().memory();
    if (total != nullptr) *total = memory.limit_bytes();
    if (free != nullptr) *free = memory.limit_bytes() - memory.used_bytes();
  });
}

// There is one memory, so advice has nothing to decide, and prefetching nothing to move.
cudaError_t cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise, int device) {
  return device_call([&] {
    require(devPtr != nullptr && count > 0, cudaErrorInvalidValue);
    require(device == 0 || device == cudaCpuDeviceId, cudaErrorInvalidDevice);
  });
}
cudaError_t cudaMemAdvise_v2(const void* devPtr, size_t count, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location) {
  return cudaMemAdvise(devPtr, count, advice, location.type == cudaMemLocationTypeDevice ? location.id : -1);
}
cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, int dstDevice, cudaStream_t stream) {
  return device_call([&] {
    require(devPtr != nullptr && count > 0, cudaErrorInvalidValue);
    require(dstDevice == 0 || dstDevice == cudaCpuDeviceId, cudaErrorInvalidDevice);
    stream_of(stream);
  });
}
cudaError_t cudaMemPrefetchAsync_v2(const void* devPtr, size_t count, struct cudaMemLocation location,
                                    unsigned int, cudaStream_t stream) {
  return cudaMemPrefetchAsync(devPtr, count, location.type == cudaMemLocationTypeDevice ? location.id : -1,
                              stream);
}
cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataSize, enum cudaMemRangeAttribute attribute,
                                     const void* devPtr, size_t count) {
  return device_call([&] {
    require(data != nullptr && dataSize >= sizeof(int) && devPtr != nullptr && count > 0,
            cudaErrorInvalidValue);
    const int value = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
    for (size_t at = 0; at + sizeof value <= dataSize; at += sizeof value)
      std::memcpy(static_cast<char*>(data) + at, &value, sizeof value);
  });
}
cudaError_t cudaMemRangeGetAttributes(void** data, size_t* dataSizes, enum cudaMemRangeAttribute* attributes,
                                      size_t numAttributes, const void* devPtr, size_t count) {
  if (data == nullptr || dataSizes == nullptr || attributes == nullptr)
    return remember(cudaErrorInvalidValue);
  for (size_t i = 0; i < numAttributes; ++i) {
    const cudaError_t error = cudaMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

NUNA_PER_THREAD(cudaMemPrefetchAsync);
}
