// How copies are carried out, and what the host may assume when the call returns.

#include "copy.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace standin {
namespace {

/// The bytes at an address of a side, as far as they go in one piece; none if that side may not touch them.
struct Bytes {
  std::uint8_t* at = nullptr;
  std::uint64_t size_bytes = 0;
};

Bytes bytes_at(const Reach& reach, const Side& side, std::uint64_t address, std::uint64_t most, bool write) {
  if (side.host) return {reinterpret_cast<std::uint8_t*>(address), most};
  auto piece = reach.at(address, write);
  if (piece.bytes == nullptr) {
    // What cuMemAlloc gave is copied by the driver also where cards do not reach each other.
    const Range* range = reach.find(address);
    if (range == nullptr || range->kind != RangeKind::kAllocated) return {};
    piece = {range->bytes + (address - range->begin), range->end - address, range};
  }
  return {piece.bytes, std::min(piece.size_bytes, most)};
}

template <class Row>
CUresult for_each_row(const Extent& extent, const Row& row) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    for (std::size_t y = 0; y < extent.height; ++y)
      if (const CUresult result = row(z, y); result != CUDA_SUCCESS) return result;
  return CUDA_SUCCESS;
}

std::uint64_t address_of(const Side& side, std::size_t z, std::size_t y) {
  return side.address + z * side.plane + y * side.pitch;
}

CUresult copy_now(const Side& to, const Side& from, const Extent& extent) {
  const Reach to_reach = state().memory.reach(to.device);
  const Reach from_reach = state().memory.reach(from.device);
  return for_each_row(extent, [&](std::size_t z, std::size_t y) {
    std::uint64_t target = address_of(to, z, y), source = address_of(from, z, y);
    for (std::uint64_t left = extent.width_bytes; left > 0;) {
      const Bytes writes = bytes_at(to_reach, to, target, left, true);
      const Bytes reads = bytes_at(from_reach, from, source, left, false);
      const std::uint64_t size = std::min(writes.size_bytes, reads.size_bytes);
      if (size == 0) return CUDA_ERROR_ILLEGAL_ADDRESS;
      std::memmove(writes.at, reads.at, size);
      target += size, source += size, left -= size;
    }
    return CUDA_SUCCESS;
  });
}

CUresult fill_now(const Side& to, const Extent& extent, std::uint32_t value, std::size_t unit_bytes) {
  const Reach reach = state().memory.reach(to.device);
  return for_each_row(extent, [&](std::size_t z, std::size_t y) {
    std::uint64_t target = address_of(to, z, y);
    for (std::uint64_t left = extent.width_bytes; left > 0;) {
      const Bytes writes = bytes_at(reach, to, target, left, true);
      if (writes.size_bytes == 0 || writes.size_bytes % unit_bytes != 0) return CUDA_ERROR_ILLEGAL_ADDRESS;
      for (std::uint64_t at = 0; at < writes.size_bytes; at += unit_bytes)
        std::memcpy(writes.at + at, &value, unit_bytes);
      target += writes.size_bytes, left -= writes.size_bytes;
    }
    return CUDA_SUCCESS;
  });
}

enum class Pinning { kPageable, kPinned, kPartly };

Pinning pinning_of(const Side& side, const Extent& extent) {
  const std::uint64_t size =
      (extent.depth - 1) * side.plane + (extent.height - 1) * side.pitch + extent.width_bytes;
  const auto range = state().memory.first_within(side.address, size);
  if (range == nullptr) return Pinning::kPageable;
  const bool all =
      range->kind == RangeKind::kHost && range->begin <= side.address && size <= range->end - side.address;
  return all ? Pinning::kPinned : Pinning::kPartly;
}

/// The rows of `from`, packed: `from` becomes them.
std::shared_ptr<std::vector<std::uint8_t>> stage(Side& from, const Extent& extent) {
  auto packed =
      std::make_shared<std::vector<std::uint8_t>>(extent.width_bytes * extent.height * extent.depth);
  Side to{.host = true, .address = reinterpret_cast<std::uint64_t>(packed->data())};
  to.pitch = extent.width_bytes;
  to.plane = to.pitch * extent.height;
  copy_now(to, from, extent);
  from = to;
  return packed;
}

}  // namespace

bool make_side(Sort sort, std::uint64_t address, int device, Side& side) {
  side.address = address;
  side.device = device;
  const auto range = state().memory.find(address);
  const bool card = range != nullptr ? range->kind != RangeKind::kHost : state().memory.reserved(address, 1);
  if (sort == Sort::kHost) {
    side.host = true;
    return !card && address != 0;
  }
  // Registered host memory has an address of the cards, the same.
  side.host = !card;
  return card || (address != 0 && (sort == Sort::kUnified || range != nullptr));
}

CUresult submit_copy(Stream& stream, Side to, Side from, Extent extent, bool wait) {
  if (extent.empty()) return CUDA_SUCCESS;
  const Pinning to_pinning = to.host ? pinning_of(to, extent) : Pinning::kPinned;
  const Pinning from_pinning = from.host ? pinning_of(from, extent) : Pinning::kPinned;
  if (!wait && (to_pinning == Pinning::kPartly || from_pinning == Pinning::kPartly))
    return CUDA_ERROR_INVALID_VALUE;
  // As documented: pageable memory is read before the call returns, and written by then.
  std::shared_ptr<std::vector<std::uint8_t>> staged;
  if (!wait && from_pinning == Pinning::kPageable && !to.host) staged = stage(from, extent);
  if (to_pinning == Pinning::kPageable || (from_pinning == Pinning::kPageable && staged == nullptr))
    wait = true;
  if (!to.host && !from.host) wait = false;  // even the synchronous functions do not wait for the cards
  const auto end = stream.context().submit(stream, [=] {
    (void)staged;
    return copy_now(to, from, extent);
  });
  if (!wait) return CUDA_SUCCESS;
  end.wait();
  return stream.context().lost();
}

CUresult submit_fill(Stream& stream, Side to, Extent extent, std::uint32_t value, std::size_t unit_bytes,
                     bool wait) {
  if (extent.empty()) return CUDA_SUCCESS;
  if (to.address % unit_bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  if (extent.height > 1 && (to.pitch < extent.width_bytes || to.pitch % unit_bytes != 0))
    return CUDA_ERROR_INVALID_VALUE;
  const auto end = stream.context().submit(stream, [=] { return fill_now(to, extent, value, unit_bytes); });
  if (!wait || !to.host) return CUDA_SUCCESS;
  end.wait();
  return stream.context().lost();
}

}  // namespace standin
