#pragma once
// Which grid of blocks runs a box of threads. Pure.

#include <array>

#include "nuna/box.hpp"
#include "nuna/instance.hpp"

namespace nuna::device::cuda {

/// As CUDA counts: x, the fastest axis, first.
struct LaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// Of kernels by thread; what they are compiled for (nuna/cuda_entry.hpp), so that each thread may use many registers.
inline constexpr Index kMostThreadsPerBlock = 256;

/// For a kernel by thread, which takes its index from block and thread and strides by the grid where the box is larger.
/// The launch's own block is taken where it has 64 to 256 threads; else one of 256 is made, as long along x as the
/// box is, up to 64.
LaunchShape shape_of_threads(const Box& threads, const detail::BlockGrid& blocks);

/// For a kernel by block: one grid axis counts the blocks that meet the box; 0 if they are more than one can count.
LaunchShape shape_of_blocks(const Box& threads, const detail::BlockGrid& blocks);

}  // namespace nuna::device::cuda
