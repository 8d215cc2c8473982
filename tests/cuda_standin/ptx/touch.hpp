#pragma once
// From an address in a space to the bytes behind it.

#include <cuda.h>

#include "ptx/machine.hpp"

namespace standin::ptx {

enum class Where { kGlobal, kGeneric, kShared, kLocal, kParameters, kFrame };

/// The space of ".shared", ".shared::cta", ...; generic without one. Parameters are split by `frame`.
Where where_of(std::string_view space, bool frame);

inline std::uint8_t* failed(Thread& t, CUresult result, const char* what, std::uint64_t address,
                            const Instruction& i) {
  char text[96];
  std::snprintf(text, sizeof text, "%s at 0x%llx", what, static_cast<unsigned long long>(address));
  t.fail(result, text, i);
  return nullptr;
}

/// Null, and the thread has failed, if those bytes may not be touched.
template <Where Space>
std::uint8_t* touch(Thread& t, const Instruction& i, std::uint64_t address, std::uint64_t size, bool write) {
  if (address % size != 0) return failed(t, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned access", address, i);
  if constexpr (Space == Where::kGlobal) {
    Block::Recent& recent = t.block->recents[i.recent];
    if (address >= recent.begin && address < recent.end && size <= recent.end - address &&
        (recent.writable || !write))
      return recent.bytes + (address - recent.begin);
    std::uint8_t* found = t.block->look_up(address, size, write, recent);
    return found != nullptr
               ? found
               : failed(t, CUDA_ERROR_ILLEGAL_ADDRESS, write ? "illegal write" : "illegal read", address, i);
  } else if constexpr (Space == Where::kGeneric) {
    const std::uint64_t offset = address & 0xffffffffffffffu;
    switch (address >> 56) {
      case kSharedWindow >> 56:
        return touch<Where::kShared>(t, i, offset, size, write);
      case kLocalWindow >> 56:
        return touch<Where::kLocal>(t, i, offset, size, write);
      case kParameterWindow >> 56:
        return touch<Where::kParameters>(t, i, offset, size, write);
      default:
        return touch<Where::kGlobal>(t, i, address, size, write);
    }
  } else {
    std::uint8_t* base = nullptr;
    std::uint64_t end = 0;
    if constexpr (Space == Where::kShared) base = t.block->shared.data(), end = t.block->shared.size();
    if constexpr (Space == Where::kLocal) base = t.local.data(), end = t.local.size();
    if constexpr (Space == Where::kFrame) base = t.frame_bytes(), end = t.local.size() - t.frame().local_base;
    if constexpr (Space == Where::kParameters) {
      base = const_cast<std::uint8_t*>(t.block->parameters);
      end = write ? 0 : t.block->parameter_bytes;
    }
    // Addresses within a block have 32 bits; what lies above is a register's sign.
    address &= 0xffffffffu;
    if (address < end && size <= end - address) return base + address;
    return failed(t, CUDA_ERROR_ILLEGAL_ADDRESS, "access outside the block's memory", address, i);
  }
}

template <class Choose>
Handler for_space(Where space, Choose choose) {
  switch (space) {
    case Where::kGlobal:
      return choose.template operator()<Where::kGlobal>();
    case Where::kGeneric:
      return choose.template operator()<Where::kGeneric>();
    case Where::kShared:
      return choose.template operator()<Where::kShared>();
    case Where::kLocal:
      return choose.template operator()<Where::kLocal>();
    case Where::kParameters:
      return choose.template operator()<Where::kParameters>();
    case Where::kFrame:
      return choose.template operator()<Where::kFrame>();
  }
  return nullptr;
}

}  // namespace standin::ptx
