#pragma once
// Region: strided bytes of some memory. Includes nothing that device code could not.

#include <array>
#include <cstddef>

#include "nuna/box.hpp"

namespace nuna::device {

/// From this size on a copy is more than a cache holds.
inline constexpr Index kPassingBytes = Index{4} << 20;

/// A strided region: counts[0] x counts[1] x counts[2] runs of run_bytes contiguous bytes.
struct Region {
  std::byte* first = nullptr;
  std::array<Index, 3> counts{1, 1, 1};
  std::array<Index, 3> stride_bytes{};
  Index run_bytes = 0;
  bool passing = false;  ///< as target: part of more than a cache holds, so that nobody reads it soon

  Index bytes() const { return counts[0] * counts[1] * counts[2] * run_bytes; }
  /// Whether it is one run of bytes.
  bool contiguous() const {
    Index inner = run_bytes;
    for (std::size_t a = 3; a-- > 0;) {
      if (counts[a] > 1 && stride_bytes[a] != inner) return false;
      inner *= counts[a];
    }
    return true;
  }
};

}  // namespace nuna::device
