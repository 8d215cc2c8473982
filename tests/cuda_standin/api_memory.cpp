// cuMemAlloc and what can be asked of a pointer.

#include "allocate.hpp"

using standin::current_context;
using standin::Range;
using standin::RangeKind;
using standin::state;

namespace standin {
namespace {

constexpr std::size_t kPage = 4096;

// A page without memory stands between two allocations, so that to run over an end is always seen.
std::size_t addresses_for(std::size_t size_bytes) { return (size_bytes + kPage - 1) / kPage * kPage + kPage; }

}  // namespace

std::shared_ptr<Block> take_memory(int device, std::size_t size_bytes, bool shareable) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  Card& card = *state().cards[static_cast<std::size_t>(device)];
  const std::size_t most = state().settings.memory_bytes;
  if (size_bytes > most || card.used_bytes > most - size_bytes) return nullptr;
  return Block::create(device, size_bytes, shareable, &card.used_bytes);
}

std::uint64_t allocate(Context& context, std::size_t size_bytes, bool owned) {
  Range range;
  range.block = take_memory(context.device, size_bytes, false);
  if (range.block == nullptr) return 0;
  range.begin = state().memory.reserve(addresses_for(size_bytes), kPage, 0);
  if (range.begin == 0) return 0;
  range.end = range.begin + size_bytes;
  range.device = context.device;
  range.bytes = range.block->bytes();
  range.owned = owned;
  range.context = context.handle();
  range.readers = range.writers = std::uint64_t{1} << context.device;
  const auto begin = range.begin;
  state().memory.insert(std::move(range));
  return begin;
}

void release_addresses(const Range& range) {
  state().memory.unreserve(range.begin, addresses_for(range.end - range.begin));
}

}  // namespace standin

STANDIN_API cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  STANDIN_ENTER(kContext);
  if (free_bytes == nullptr || total_bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto& card = *state().cards[static_cast<std::size_t>(current_context()->device)];
  *total_bytes = state().settings.memory_bytes;
  *free_bytes = *total_bytes - card.used_bytes;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemAlloc_v2(CUdeviceptr* address, size_t size_bytes) {
  STANDIN_ENTER(kContext);
  if (address == nullptr || size_bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = standin::allocate(*current_context(), size_bytes);
  return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

STANDIN_API cuMemFree_v2(CUdeviceptr address) {
  STANDIN_ENTER(kContext);
  if (address == 0) return CUDA_SUCCESS;
  const auto range = state().memory.find(address);
  if (range == nullptr || range->begin != address || range->kind != RangeKind::kAllocated || range->owned)
    return CUDA_ERROR_INVALID_VALUE;
  if (auto* owner = standin::context_of(range->context)) owner->synchronise();  // as the real one does
  if (!state().memory.remove(address, range->end - range->begin, range->kind))
    return CUDA_ERROR_INVALID_VALUE;
  standin::release_addresses(*range);
  return CUDA_SUCCESS;
}

STANDIN_API cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size_bytes, CUdeviceptr address) {
  STANDIN_ENTER(kContext);
  const auto range = state().memory.find(address);
  if (range == nullptr || range->kind == RangeKind::kHost) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = range->begin;
  if (size_bytes != nullptr) *size_bytes = range->end - range->begin;
  return CUDA_SUCCESS;
}

namespace {

template <class T>
CUresult put(void* to, T value) {
  *static_cast<T*>(to) = value;
  return CUDA_SUCCESS;
}

CUresult pointer_attribute(void* to, CUpointer_attribute attribute, const Range& range,
                           std::uint64_t address) {
  const bool host = range.kind == RangeKind::kHost;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(to, range.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(to, static_cast<unsigned>(host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(to, static_cast<CUdeviceptr>(address));
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return host ? put(to, reinterpret_cast<void*>(address)) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(to, static_cast<unsigned long long>(range.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(to, 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(to, range.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(to, static_cast<CUdeviceptr>(range.begin));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(to, static_cast<size_t>(range.end - range.begin));
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(to, 1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put(to, range.block != nullptr && range.block->shareable()
                         ? std::uint64_t{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}
                         : std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put(to, state().settings.rdma && !host ? 1u : 0u);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

std::size_t size_of(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return 8;
    default:
      return 4;
  }
}

}  // namespace

STANDIN_API cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  STANDIN_ENTER(kContext);
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto range = state().memory.find(address);
  return range == nullptr ? CUDA_ERROR_INVALID_VALUE : pointer_attribute(value, attribute, *range, address);
}

STANDIN_API cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                   CUdeviceptr address) {
  STANDIN_ENTER(kContext);
  if (attributes == nullptr || values == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto range = state().memory.find(address);
  for (unsigned i = 0; i < count; ++i) {
    // Of a pointer that it does not know, and of what a pointer has not, the driver says nothing: zeros.
    if (range != nullptr && pointer_attribute(values[i], attributes[i], *range, address) == CUDA_SUCCESS)
      continue;
    std::fill_n(static_cast<char*>(values[i]), size_of(attributes[i]), '\0');
    if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) put(values[i], -2);
  }
  return CUDA_SUCCESS;
}
