// Devices: one, made of the CPU's cores.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "call.hpp"
#include "device.hpp"
#include "graph.hpp"
#include "handles.hpp"
#include "limits.hpp"
#include "properties.hpp"
#include "stream.hpp"
#include "texture.hpp"

using namespace nuna::cudart;

namespace {

constexpr char kPciBusId[] = "0000:00:00.0";
constexpr int kVersion = 12080;

std::atomic<unsigned int> device_flags{cudaDeviceScheduleAuto};

cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : remember(cudaErrorInvalidDevice); }

// Limits of GPUs' memories, which kernels on CPUs do not have: kept, and told.
std::map<cudaLimit, size_t>& device_limits() {
  static auto* const limits = new std::map<cudaLimit, size_t>{{cudaLimitStackSize, 1024},
                                                              {cudaLimitPrintfFifoSize, size_t{1} << 20},
                                                              {cudaLimitMallocHeapSize, 8u << 20},
                                                              {cudaLimitDevRuntimeSyncDepth, 2},
                                                              {cudaLimitDevRuntimePendingLaunchCount, 2048},
                                                              {cudaLimitMaxL2FetchGranularity, 64},
                                                              {cudaLimitPersistingL2CacheSize, 0}};
  return *limits;
}
std::mutex limits_mutex;

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return plain_call([&] {
    require(count != nullptr, cudaErrorInvalidValue);
    *count = 1;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return plain_call([&] {
    require(device != nullptr, cudaErrorInvalidValue);
    *device = 0;
  });
}
cudaError_t cudaSetDevice(int device) { return check_device(device); }
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return check_device(device); }
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return plain_call([&] {
    require(count >= 0 && (devices != nullptr || count == 0), cudaErrorInvalidValue);
    require(std::all_of(devices, devices + count, [](int device) { return device == 0; }),
            cudaErrorInvalidDevice);
  });
}
cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return plain_call([&] {
    require((flags & ~static_cast<unsigned>(cudaDeviceMask)) == 0, cudaErrorInvalidValue);
    device_flags = flags;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return plain_call([&] {
    require(flags != nullptr, cudaErrorInvalidValue);
    *flags = device_flags.load() | cudaDeviceMapHost;
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return plain_call([&] {
    require(prop != nullptr, cudaErrorInvalidValue);
    require(device == 0, cudaErrorInvalidDevice);
    *prop = properties_of(DeviceFacts::told());
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  return plain_call([&] {
    require(value != nullptr, cudaErrorInvalidValue);
    require(device == 0, cudaErrorInvalidDevice);
    *value = attribute_of(properties_of(DeviceFacts::told()), attr);
  });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  return plain_call([&] {
    require(device != nullptr && prop != nullptr, cudaErrorInvalidValue);
    *device = 0;
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  return waiting_call([] {
    Device* const device = Device::ended() ? nullptr : &Device::get();
    if (device != nullptr) device->synchronize();
  });
}

// What the program had from CUDA is gone, the error of a kernel too. Nuna's device and its threads stay for the next call.
cudaError_t cudaDeviceReset(void) {
  if (InHostFunction::here()) return remember(cudaErrorNotPermitted);
  if (Device* device = Device::if_there()) {
    device->wait(device->lane().last());  // ranks agree on what has failed, which then is over
    clear_sticky_error();
    last_error(true);
    return plain_call([&] {
      const Turns::Turn turn = device->memory().begin_change("a reset");
      handles<Stream>().clear();
      handles<Event>().clear();
      handles<Array>().clear();
      device->memory().clear();
    });
  }
  clear_sticky_error();
  last_error(true);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return device_call([&] {
    const std::lock_guard lock(limits_mutex);
    const auto found = device_limits().find(limit);
    require(found != device_limits().end(), cudaErrorUnsupportedLimit);
    found->second = value;
  });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return device_call([&] {
    require(value != nullptr, cudaErrorInvalidValue);
    const std::lock_guard lock(limits_mutex);
    const auto found = device_limits().find(limit);
    require(found != device_limits().end(), cudaErrorUnsupportedLimit);
    *value = found->second;
  });
}

// Hints for hardware.
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config != nullptr) *config = cudaFuncCachePreferNone;
  return config != nullptr ? cudaSuccess : remember(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (config != nullptr) *config = cudaSharedMemBankSizeFourByte;
  return config != nullptr ? cudaSuccess : remember(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                               cudaFlushGPUDirectRDMAWritesScope) {
  return cudaSuccess;
}
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
  return plain_call([&] {
    require(device != nullptr && pciBusId != nullptr, cudaErrorInvalidValue);
    const std::string id = pciBusId;  // with or without the domain
    require(id == kPciBusId || id == kPciBusId + 5 || id == "0:0:0.0", cudaErrorInvalidDevice);
    *device = 0;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return plain_call([&] {
    require(pciBusId != nullptr && len > static_cast<int>(std::strlen(kPciBusId)), cudaErrorInvalidValue);
    require(device == 0, cudaErrorInvalidDevice);
    std::memcpy(pciBusId, kPciBusId, sizeof kPciBusId);
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
  return plain_call([&] {
    require(canAccessPeer != nullptr, cudaErrorInvalidValue);
    require(device == 0 && peerDevice == 0, cudaErrorInvalidDevice);
    *canAccessPeer = 0;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return remember(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
  return remember(peerDevice == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
  return remember(value != nullptr ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* maxWidth, const cudaChannelFormatDesc* desc,
                                                 int device) {
  return plain_call([&] {
    require(maxWidth != nullptr && desc != nullptr, cudaErrorInvalidValue);
    require(device == 0, cudaErrorInvalidDevice);
    *maxWidth = size_t{1} << 28;
  });
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
  if (driverVersion == nullptr) return remember(cudaErrorInvalidValue);
  *driverVersion = kVersion;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) { return cudaDriverGetVersion(runtimeVersion); }

cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
}
