#pragma once
// Copies and fills of boxes of bytes: every copy function of the driver is one of them.

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "state.hpp"

namespace standin {

/// Where one side of a copy lies. Rows are `pitch` bytes apart, planes `plane` bytes.
struct Side {
  bool host = false;  // an address of the program; otherwise one of the cards
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t plane = 0;
  int device = 0;  // who reads or writes it
};

struct Extent {
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  bool empty() const { return width_bytes == 0 || height == 0 || depth == 0; }
};

/// Which way a side's address is meant.
enum class Sort { kHost, kDevice, kUnified };

/// The side at an address, which must be of its sort: an address that the cards do not know is pageable host memory.
/// False for a device address that never was one, and for a host address that is a card's.
bool make_side(Sort sort, std::uint64_t address, int device, Side& side);

/// Puts the copy into the stream. With `wait`, the call returns when the host may go on as after a synchronous copy.
CUresult submit_copy(Stream& stream, Side to, Side from, Extent extent, bool wait);

/// Puts a fill into the stream: `unit_bytes` bytes of `value` repeated over the extent.
CUresult submit_fill(Stream& stream, Side to, Extent extent, std::uint32_t value, std::size_t unit_bytes,
                     bool wait);

}  // namespace standin
