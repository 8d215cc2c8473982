// Memory in the order of a stream, and pools: all of them are the device's one memory.

#include <cstring>

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "handles.hpp"
#include "stream.hpp"

using namespace nuna::cudart;

namespace {

struct Pool {
  std::atomic<std::uint64_t> threshold{0};
};

cudaMemPool_t default_pool() {
  static Pool* const only = handles<Pool>().add(std::make_shared<Pool>());
  return reinterpret_cast<cudaMemPool_t>(only);
}
std::shared_ptr<Pool> pool_of(cudaMemPool_t handle) {
  auto pool = handles<Pool>().find(handle);
  require(pool != nullptr, cudaErrorInvalidValue);
  return pool;
}

// The memory is reused once the stream has come here.
class FreeAction final : public Action {
 public:
  FreeAction(Memory& memory, const void* pointer) : memory_(memory), pointer_(pointer) {}
  void run(Crew&) const override { memory_.free_later(pointer_); }
  std::string name() const override { return "an asynchronous free"; }
  bool always() const override { return true; }

 private:
  Memory& memory_;
  const void* const pointer_;
};

// What streams will have freed may make room.
void* allocate_patiently(Device& device, std::size_t bytes) {
  try {
    return device.memory().allocate(bytes, Allocation::Kind::device);
  } catch (const Refused&) {
    device.synchronize();
    return device.memory().allocate(bytes, Allocation::Kind::device);
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t stream) {
  return device_call([&] {
    require(devPtr != nullptr, cudaErrorInvalidValue);
    require(stream_of(stream)->capture() == nullptr, cudaErrorStreamCaptureUnsupported);
    *devPtr = allocate_patiently(Device::get(), size);
  });
}
cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t stream) {
  if (devPtr == nullptr) return cudaSuccess;
  if (Device::ended()) return cudaErrorCudartUnloading;
  return device_call([&] {
    Memory& memory = Device::get().memory();
    const auto found = memory.find(devPtr);
    require(found && found->first == reinterpret_cast<std::uintptr_t>(devPtr), cudaErrorInvalidValue);
    require(found->kind == Allocation::Kind::device || found->kind == Allocation::Kind::managed,
            cudaErrorInvalidValue);
    stream_of(stream)->submit(cudaGraphNodeTypeMemFree, std::make_shared<FreeAction>(memory, devPtr));
  });
}
cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  if (handles<Pool>().find(memPool) == nullptr) return remember(cudaErrorInvalidValue);
  return cudaMallocAsync(ptr, size, stream);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool, const cudaMemPoolProps* poolProps) {
  return device_call([&] {
    require(memPool != nullptr && poolProps != nullptr, cudaErrorInvalidValue);
    *memPool = reinterpret_cast<cudaMemPool_t>(handles<Pool>().add(std::make_shared<Pool>()));
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) {
  return plain_call([&] {
    require(memPool != default_pool(), cudaErrorInvalidValue);
    require(handles<Pool>().remove(memPool) != nullptr, cudaErrorInvalidValue);
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
  return device_call([&] {
    pool_of(memPool);
    Device::get().memory().trim(minBytesToKeep);
  });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return device_call([&] {
    require(value != nullptr, cudaErrorInvalidValue);
    const auto pool = pool_of(memPool);
    std::uint64_t threshold = 0;
    if (attr != cudaMemPoolAttrReleaseThreshold) return;
    std::memcpy(&threshold, value, sizeof threshold);
    pool->threshold = threshold;
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return device_call([&] {
    require(value != nullptr, cudaErrorInvalidValue);
    const auto pool = pool_of(memPool);
    if (attr <= cudaMemPoolReuseAllowInternalDependencies) {
      const int enabled = 1;
      std::memcpy(value, &enabled, sizeof enabled);
      return;
    }
    Memory& memory = Device::get().memory();
    const bool high = attr == cudaMemPoolAttrUsedMemHigh || attr == cudaMemPoolAttrReservedMemHigh;
    const std::uint64_t bytes = attr == cudaMemPoolAttrReleaseThreshold ? pool->threshold.load()
                                : high                                  ? memory.most_used_bytes()
                                                                        : memory.used_bytes();
    std::memcpy(value, &bytes, sizeof bytes);
  });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc* descList, size_t count) {
  return device_call([&] {
    require(descList != nullptr || count == 0, cudaErrorInvalidValue);
    pool_of(memPool);
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t memPool,
                                 cudaMemLocation* location) {
  return device_call([&] {
    require(flags != nullptr && location != nullptr, cudaErrorInvalidValue);
    pool_of(memPool);
    *flags = cudaMemAccessFlagsProtReadWrite;
  });
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
  return device_call([&] {
    require(memPool != nullptr, cudaErrorInvalidValue);
    require(device == 0, cudaErrorInvalidDevice);
    *memPool = default_pool();
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
  return cudaDeviceGetDefaultMemPool(memPool, device);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
  return device_call([&] {
    require(device == 0, cudaErrorInvalidDevice);
    pool_of(memPool);
  });
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return device == 0 ? cudaSuccess : remember(cudaErrorInvalidDevice);
}

NUNA_PER_THREAD(cudaMallocAsync);
NUNA_PER_THREAD(cudaFreeAsync);
NUNA_PER_THREAD(cudaMallocFromPoolAsync);
}
