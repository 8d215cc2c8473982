// Addresses and memory apart: reserve, create, map, set access, share.

#include <unistd.h>

#include <bit>

#include "allocate.hpp"

using standin::Block;
using standin::kGranularity;
using standin::Range;
using standin::RangeKind;
using standin::state;
using standin::valid_device;

namespace {

bool whole(std::uint64_t bytes) { return bytes % kGranularity == 0; }

CUresult check_supported() { return state().settings.vmm ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED; }

CUresult check(const CUmemAllocationProp* prop) {
  if (prop == nullptr || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(prop->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  if (prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE) return CUDA_SUCCESS;
  if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return state().settings.handles ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUmemGenericAllocationHandle new_handle(std::shared_ptr<Block> block) {
  std::lock_guard lock(state().mutex);
  const auto handle = state().next_handle++;
  state().handles[handle] = {std::move(block), 1};
  return handle;
}

std::shared_ptr<Block> block_of(CUmemGenericAllocationHandle handle) {
  std::lock_guard lock(state().mutex);
  const auto found = state().handles.find(handle);
  return found == state().handles.end() ? nullptr : found->second.block;
}

}  // namespace

#define STANDIN_ENTER_VMM \
  STANDIN_ENTER(kDriver); \
  if (const CUresult supported = check_supported(); supported != CUDA_SUCCESS) return supported

STANDIN_API cuMemAddressReserve(CUdeviceptr* address, size_t size_bytes, size_t alignment, CUdeviceptr wish,
                                unsigned long long flags) {
  STANDIN_ENTER_VMM;
  if (address == nullptr || size_bytes == 0 || !whole(size_bytes) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (alignment != 0 && !std::has_single_bit(alignment)) return CUDA_ERROR_INVALID_VALUE;
  *address = state().memory.reserve(size_bytes, std::max(alignment, kGranularity),
                                    state().settings.hint ? wish : CUdeviceptr{0});
  return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

STANDIN_API cuMemAddressFree(CUdeviceptr address, size_t size_bytes) {
  STANDIN_ENTER_VMM;
  return state().memory.unreserve(address, size_bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

STANDIN_API cuMemGetAllocationGranularity(size_t* size_bytes, const CUmemAllocationProp* prop,
                                          CUmemAllocationGranularity_flags) {
  STANDIN_ENTER_VMM;
  if (size_bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = check(prop); wrong != CUDA_SUCCESS) return wrong;
  *size_bytes = kGranularity;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size_bytes,
                        const CUmemAllocationProp* prop, unsigned long long flags) {
  STANDIN_ENTER_VMM;
  if (handle == nullptr || size_bytes == 0 || !whole(size_bytes) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = check(prop); wrong != CUDA_SUCCESS) return wrong;
  const bool shareable = prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
  auto block = standin::take_memory(prop->location.id, size_bytes, shareable);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = new_handle(std::move(block));
  return CUDA_SUCCESS;
}

STANDIN_API cuMemRelease(CUmemGenericAllocationHandle handle) {
  STANDIN_ENTER_VMM;
  std::lock_guard lock(state().mutex);
  const auto found = state().handles.find(handle);
  if (found == state().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.references == 0) state().handles.erase(found);
  return CUDA_SUCCESS;
}

STANDIN_API cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  STANDIN_ENTER_VMM;
  const auto range = state().memory.find(reinterpret_cast<std::uint64_t>(address));
  if (handle == nullptr || range == nullptr || range->kind != RangeKind::kMapped)
    return CUDA_ERROR_INVALID_VALUE;
  {
    std::lock_guard lock(state().mutex);
    for (auto& [number, each] : state().handles)
      if (each.block == range->block) {
        ++each.references;
        *handle = number;
        return CUDA_SUCCESS;
      }
  }
  *handle = new_handle(range->block);
  return CUDA_SUCCESS;
}

STANDIN_API cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                   CUmemGenericAllocationHandle handle) {
  STANDIN_ENTER_VMM;
  const auto block = block_of(handle);
  if (prop == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *prop = {};
  prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop->location.id = block->device();
  if (block->shareable()) prop->requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemMap(CUdeviceptr address, size_t size_bytes, size_t offset,
                     CUmemGenericAllocationHandle handle, unsigned long long flags) {
  STANDIN_ENTER_VMM;
  const auto block = block_of(handle);
  if (block == nullptr || size_bytes == 0 || !whole(address) || !whole(size_bytes) || offset != 0 ||
      flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (size_bytes > block->size_bytes() || !state().memory.reserved(address, size_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  Range range;
  range.begin = address;
  range.end = address + size_bytes;
  range.kind = RangeKind::kMapped;
  range.device = block->device();
  range.bytes = block->bytes();
  range.block = block;
  return state().memory.insert(std::move(range)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

STANDIN_API cuMemUnmap(CUdeviceptr address, size_t size_bytes) {
  STANDIN_ENTER_VMM;
  return state().memory.remove(address, size_bytes, RangeKind::kMapped) ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
}

STANDIN_API cuMemSetAccess(CUdeviceptr address, size_t size_bytes, const CUmemAccessDesc* descriptions,
                           size_t count) {
  STANDIN_ENTER_VMM;
  if (descriptions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const auto& each = descriptions[i];
    if (each.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(each.location.id)) return CUDA_ERROR_INVALID_DEVICE;
    const auto range = state().memory.find(address);
    const bool foreign = range != nullptr && range->device != each.location.id;
    const bool none = each.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (foreign && !none && !state().settings.peer) return CUDA_ERROR_INVALID_DEVICE;
    if (!state().memory.set_access(address, size_bytes, each.location.id, !none,
                                   each.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

STANDIN_API cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  STANDIN_ENTER_VMM;
  const auto range = state().memory.find(address);
  if (flags == nullptr || location == nullptr || range == nullptr || range->kind != RangeKind::kMapped ||
      location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(location->id)) return CUDA_ERROR_INVALID_DEVICE;
  const std::uint64_t bit = std::uint64_t{1} << location->id;
  *flags = (range->writers & bit) != 0   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : (range->readers & bit) != 0 ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                         : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemExportToShareableHandle(void* to, CUmemGenericAllocationHandle handle,
                                         CUmemAllocationHandleType type, unsigned long long flags) {
  STANDIN_ENTER_VMM;
  const auto block = block_of(handle);
  if (to == nullptr || block == nullptr || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  if (!block->shareable()) return CUDA_ERROR_INVALID_VALUE;
  const int descriptor = block->export_descriptor();
  if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int*>(to) = descriptor;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* from,
                                           CUmemAllocationHandleType type) {
  STANDIN_ENTER_VMM;
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  if (!state().settings.handles) return CUDA_ERROR_NOT_SUPPORTED;
  auto block = Block::import(static_cast<int>(reinterpret_cast<std::intptr_t>(from)));
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(block->device())) return CUDA_ERROR_INVALID_DEVICE;
  *handle = new_handle(std::move(block));
  return CUDA_SUCCESS;
}
