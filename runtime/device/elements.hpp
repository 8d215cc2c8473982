#pragma once
// Elementwise copies and fills of buffers' boxes: what Context::copy and Context::fill launch, on whatever device. These are
// closures of kernels by thread; device code includes this file, too.

#include <array>
#include <cstddef>

#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/instance.hpp"

namespace nuna::device {

/// One side: where a thread's element lies.
struct ElementSide {
  std::array<int, kMaxDims> axis{};     ///< of the buffer, by launch axis
  std::array<Index, kMaxDims> first{};  ///< of the box, by the buffer's axis

  NUNA_HOST_DEVICE Index stride(const detail::InstanceView& view, int launch_axis) const {
    return view.stride_bytes[static_cast<std::size_t>(axis[static_cast<std::size_t>(launch_axis)])];
  }
  NUNA_HOST_DEVICE char* at(const detail::InstanceView& view, Index i, Index j, Index k, int dims) const {
    char* p = view.origin;
    for (std::size_t a = 0; a < kMaxDims; ++a) p += first[a] * view.stride_bytes[a];
    p += i * stride(view, 0);
    if (dims > 1) p += j * stride(view, 1);
    if (dims > 2) p += k * stride(view, 2);
    return p;
  }
};

struct ElementCopy {
  ElementSide to;
  ElementSide from;
  Index element_bytes = 0;
};

struct ElementFill {
  static constexpr std::size_t kMostBytes = 512;
  ElementSide to;
  Index element_bytes = 0;
  std::array<char, kMostBytes> value{};
};

}  // namespace nuna::device
