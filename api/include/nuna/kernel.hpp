#pragma once
// Kernels: how ordinary C++ callables become launches.
//
// A barrier-free kernel is a callable that takes a Thread, then one View per buffer argument and the plain
// arguments, in the order in which they were given to Context::launch. It is called once per thread of the domain, in any
// order, on several cores at once. On the CPU the fastest axis becomes the inner loop, which the compiler vectorises;
// the block's extent along the middle axis of a 3-D launch is the height of the cache tile.

#include <array>
#include <cstddef>
#include <utility>

#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/instance.hpp"
#include "nuna/view.hpp"

namespace nuna {
inline namespace v0 {

/// One thread of a launch.
class Thread {
 public:
  NUNA_HOST_DEVICE constexpr Thread(Index i, Index j, Index k) : index_{i, j, k} {}

  /// Global index along the first N launch axes, slowest first: `const auto [y, x] = t.global<2>();`
  template <int N>
  NUNA_HOST_DEVICE constexpr std::array<Index, N> global() const {
    static_assert(N >= 1 && N <= kMaxDims, "launches have 1 to 3 dimensions");
    if constexpr (N == 1) {
      return {index_[0]};
    } else if constexpr (N == 2) {
      return {index_[0], index_[1]};
    } else {
      return {index_[0], index_[1], index_[2]};
    }
  }
  NUNA_HOST_DEVICE constexpr Index global(int axis) const { return index_[axis]; }

 private:
  Index index_[kMaxDims];
};

/// Threads per block along each axis; cuts fall between blocks.
inline constexpr Extents block(Index b0) { return {b0}; }
inline constexpr Extents block(Index b0, Index b1) { return {b0, b1}; }
inline constexpr Extents block(Index b0, Index b1, Index b2) { return {b0, b1, b2}; }

namespace detail {

/// Calls kernel(Thread, arguments...) for every thread of the box. Arguments are taken by value, so that the
/// compiler keeps views in registers.
template <class Kernel, class... Arguments>
inline void run_threads(const Box& threads, const Extents& block, const Kernel kernel,
                        const Arguments... arguments) {
  const Interval x0 = threads.axis[0];
  const Interval x1 = threads.axis[1];
  const Interval x2 = threads.axis[2];
  if (threads.dims == 1) {
    NUNA_INDEPENDENT_ITERATIONS
    for (Index i = x0.begin; i < x0.end; ++i) kernel(Thread(i, 0, 0), arguments...);
    return;
  }
  if (threads.dims == 2) {
    for (Index i = x0.begin; i < x0.end; ++i) {
      NUNA_INDEPENDENT_ITERATIONS
      for (Index j = x1.begin; j < x1.end; ++j) kernel(Thread(i, j, 0), arguments...);
    }
    return;
  }
  const Index tile = block.size[1] > 0 ? block.size[1] : 1;
  for (Index tile_begin = x1.begin; tile_begin < x1.end; tile_begin += tile) {
    const Index tile_end = tile_begin + tile < x1.end ? tile_begin + tile : x1.end;
    for (Index i = x0.begin; i < x0.end; ++i) {
      for (Index j = tile_begin; j < tile_end; ++j) {
        NUNA_INDEPENDENT_ITERATIONS
        for (Index k = x2.begin; k < x2.end; ++k) kernel(Thread(i, j, k), arguments...);
      }
    }
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace nuna
