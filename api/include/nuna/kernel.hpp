#pragma once
// Kernels by thread: how ordinary C++ callables become launches. (By block: nuna/block.hpp; by part: docs/kernels.md.)
//
// A barrier-free kernel is a callable that takes a Thread, then one View per buffer argument and the plain
// arguments, in the order in which they were given to Context::launch. It is called once per thread of the domain, in any
// order, on several cores at once. On the CPU the fastest axis becomes the inner loop, which the compiler vectorises;
// the block's extent along the middle axis of a 3-D launch is the height of the cache tile.

#include <array>
#include <cstddef>
#include <type_traits>
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

/// How the inner loops hold a kernel: as a copy, which no store of the kernel's can change, unless copying is not trivial.
template <class Kernel>
using HeldKernel = std::conditional_t<std::is_trivially_copyable<Kernel>::value, const Kernel, const Kernel&>;

/// Calls kernel(Thread, arguments...) along the last of N axes for each of `rows` of the axis before it, at `i` of the
/// first of three. Not inlined: beside other loops the compiler runs out of registers for the addresses of wide
/// stencils. Arguments are copied, so that it keeps views in registers.
template <int N, class Kernel, class... Arguments>
__attribute__((noinline)) void run_rows(Index i, const Interval rows, const Interval along,
                                        const Kernel& shared_kernel, const Arguments&... shared_arguments) {
  const auto run = [&](HeldKernel<Kernel> kernel, const Arguments... arguments)
                       __attribute__((always_inline)) {
                         for (Index j = rows.begin; j < rows.end; ++j) {
                           NUNA_INDEPENDENT_ITERATIONS
                           for (Index k = along.begin; k < along.end; ++k) {
                             if constexpr (N == 1) kernel(Thread(k, 0, 0), arguments...);
                             if constexpr (N == 2) kernel(Thread(j, k, 0), arguments...);
                             if constexpr (N == 3) kernel(Thread(i, j, k), arguments...);
                           }
                         }
                       };
  run(shared_kernel, shared_arguments...);
}

/// Calls kernel(Thread, arguments...) for every thread of the box.
template <class Kernel, class... Arguments>
inline void run_threads(const Box& threads, const BlockGrid& blocks, const Kernel& kernel,
                        const Arguments&... arguments) {
  const Interval x0 = threads.axis[0];
  const Interval x1 = threads.axis[1];
  if (threads.dims == 1) return run_rows<1>(0, Interval{0, 1}, x0, kernel, arguments...);
  if (threads.dims == 2) return run_rows<2>(0, x0, x1, kernel, arguments...);
  const Index tile = blocks.size[1];
  for (Index begin = x1.begin; begin < x1.end; begin += tile) {
    const Interval rows = x1.intersect({begin, begin + tile});
    for (Index i = x0.begin; i < x0.end; ++i) run_rows<3>(i, rows, threads.axis[2], kernel, arguments...);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace nuna
