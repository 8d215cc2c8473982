// The cards and what they say of themselves.

#include <cstdio>
#include <cstring>

#include "state.hpp"

using standin::state;
using standin::valid_device;

namespace {

int attribute_of(CUdevice_attribute attribute, CUdevice device) {
  const auto& settings = state().settings;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 227 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 228 << 10;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1 << 10;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 64 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1'980'000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 3'201'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 6144;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 60 << 20;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 3;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
      return 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return 0x10 + device;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      return 0;
    case CU_DEVICE_ATTRIBUTE_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return -1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return settings.capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return settings.capability % 10;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      return settings.vmm ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
      return settings.vmm && settings.handles ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
      return settings.rdma ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:
      return settings.rdma ? CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST : 0;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING:
      return settings.rdma ? CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES : 0;
    default:
      return 0;
  }
}

}  // namespace

STANDIN_API cuDeviceGetCount(int* count) {
  STANDIN_ENTER(kDriver);
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = state().settings.devices;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGet(CUdevice* device, int ordinal) {
  STANDIN_ENTER(kDriver);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetName(char* name, int length, CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "Stand-in card");
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::memcpy(uuid->bytes, "nuna stand-in  ", sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

#undef cuDeviceGetUuid
STANDIN_API cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

STANDIN_API cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                0x10u + static_cast<unsigned>(device));
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (value == nullptr || attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_of(attribute, device);
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceTotalMem_v2(size_t* size_bytes, CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (size_bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *size_bytes = state().settings.memory_bytes;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  STANDIN_ENTER(kDriver);
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device) || !valid_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer && state().settings.peer ? 1 : 0;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                                    CUdevice target) {
  STANDIN_ENTER(kDriver);
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(source) || !valid_device(target) || source == target) return CUDA_ERROR_INVALID_DEVICE;
  const bool reach = state().settings.peer;
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = reach ? 1 : 0;
      return CUDA_SUCCESS;
    default:
      *value = 0;
      return CUDA_SUCCESS;
  }
}
