// Host memory that the cards may use: registered, or given by the driver.

#include <sys/mman.h>

#include "state.hpp"

using standin::current_context;
using standin::Range;
using standin::RangeKind;
using standin::state;

namespace {

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// Are there pages behind all of it?
bool mapped(void* pointer, std::size_t size_bytes) {
  const std::uint64_t begin = number(pointer) / 4096 * 4096;
  return msync(reinterpret_cast<void*>(begin), number(pointer) + size_bytes - begin, MS_ASYNC) == 0;
}

bool insert(void* pointer, std::size_t size_bytes, unsigned flags, bool owned) {
  Range range;
  range.begin = number(pointer);
  range.end = range.begin + size_bytes;
  range.kind = RangeKind::kHost;
  range.device = current_context()->device;
  range.bytes = static_cast<std::uint8_t*>(pointer);
  range.context = current_context()->handle();
  range.readers = ~std::uint64_t{0};
  range.writers = (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0 ? 0 : ~std::uint64_t{0};
  range.flags = flags;
  range.owned = owned;
  return state().memory.insert(std::move(range));
}

/// The registered range that starts there.
std::shared_ptr<const Range> host_range(const void* pointer, bool owned) {
  auto range = state().memory.find(number(pointer));
  if (range == nullptr || range->kind != RangeKind::kHost || range->begin != number(pointer)) return nullptr;
  return range->owned == owned ? range : nullptr;
}

}  // namespace

STANDIN_API cuMemHostRegister_v2(void* pointer, size_t size_bytes, unsigned flags) {
  STANDIN_ENTER(kContext);
  if (pointer == nullptr || size_bytes == 0 || flags > 0xf) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const auto other = state().memory.first_within(number(pointer), size_bytes);
  if (other != nullptr && other->kind == RangeKind::kHost) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  if (other != nullptr || state().memory.reserved(number(pointer), 1) || !mapped(pointer, size_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return insert(pointer, size_bytes, flags, false) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

STANDIN_API cuMemHostUnregister(void* pointer) {
  STANDIN_ENTER(kContext);
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto range = host_range(pointer, false);
  if (range == nullptr) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  state().memory.remove(range->begin, range->end - range->begin, RangeKind::kHost);
  return CUDA_SUCCESS;
}

STANDIN_API cuMemHostAlloc(void** pointer, size_t size_bytes, unsigned flags) {
  STANDIN_ENTER(kContext);
  if (pointer == nullptr || size_bytes == 0 || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  void* made = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  insert(made, size_bytes, flags & 3, true);
  *pointer = made;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemAllocHost_v2(void** pointer, size_t size_bytes) {
  return cuMemHostAlloc(pointer, size_bytes, 0);
}

STANDIN_API cuMemFreeHost(void* pointer) {
  STANDIN_ENTER(kContext);
  const auto range = host_range(pointer, true);
  if (range == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (auto* owner = standin::context_of(range->context)) owner->synchronise();
  state().memory.remove(range->begin, range->end - range->begin, RangeKind::kHost);
  munmap(pointer, range->end - range->begin);
  return CUDA_SUCCESS;
}

STANDIN_API cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  STANDIN_ENTER(kContext);
  if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto range = state().memory.find(number(pointer));
  if (range == nullptr || range->kind != RangeKind::kHost) return CUDA_ERROR_INVALID_VALUE;
  *address = number(pointer);
  return CUDA_SUCCESS;
}

STANDIN_API cuMemHostGetFlags(unsigned* flags, void* pointer) {
  STANDIN_ENTER(kContext);
  const auto range = state().memory.find(number(pointer));
  if (flags == nullptr || range == nullptr || range->kind != RangeKind::kHost)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = range->flags;
  return CUDA_SUCCESS;
}
