#pragma once
// What a launch hands to a device: where each argument's instance lies, and the function that runs threads.
// Filled by the runtime, read by the launch templates; not for users.

#include <array>

#include "nuna/box.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

/// One buffer's instance in one memory. Element (i, j, k) of the buffer lies at
/// origin + i * stride[0] + j * stride[1] + k * stride[2] bytes, whatever part of the buffer the instance holds;
/// `origin` itself may therefore lie outside the instance.
struct InstanceView {
  char* origin = nullptr;
  std::array<Index, kMaxDims> stride_bytes{};
  Extents extents;  ///< of the whole buffer
};

/// Runs the threads of `threads` (in any order) of the kernel in `closure`, with one view per buffer argument.
/// May throw; may be called from several threads at once for disjoint boxes.
using RunFunction = void (*)(const void* closure, const Box& threads, const InstanceView* views);

}  // namespace detail
}  // namespace v0
}  // namespace nuna
