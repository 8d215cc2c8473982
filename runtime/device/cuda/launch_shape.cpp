#include "device/cuda/launch_shape.hpp"

#include <algorithm>
#include <cstddef>

namespace nuna::device::cuda {
namespace {

constexpr std::array<Index, 3> kMostGrid{(Index{1} << 31) - 1, 65'535, 65'535};
constexpr std::array<Index, 3> kMostBlock{1024, 1024, 64};
constexpr Index kFewestThreads = 64;
constexpr Index kUsualThreads = 256;
constexpr Index kUsualAlongX = 64;

Index power_of_two_from(Index n) {
  Index p = 1;
  while (p < n) p *= 2;
  return p;
}

// The box's sizes, x first.
std::array<Index, 3> sizes_of(const Box& threads) {
  std::array<Index, 3> sizes{1, 1, 1};
  for (int a = 0; a < threads.dims; ++a)
    sizes[static_cast<std::size_t>(threads.dims - 1 - a)] = threads[a].size();
  return sizes;
}

bool fits(const std::array<Index, 3>& block) {
  Index count = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (block[a] > kMostBlock[a]) return false;
    count *= block[a];
  }
  return kFewestThreads <= count && count <= kMostThreadsPerBlock;
}

std::array<Index, 3> usual_block(const std::array<Index, 3>& sizes) {
  std::array<Index, 3> block{};
  const bool one_row = sizes[1] == 1 && sizes[2] == 1;
  block[0] = std::min(power_of_two_from(sizes[0]), one_row ? kUsualThreads : kUsualAlongX);
  block[1] = std::min(power_of_two_from(sizes[1]), kUsualThreads / block[0]);
  block[2] = std::min({power_of_two_from(sizes[2]), kUsualThreads / (block[0] * block[1]), kMostBlock[2]});
  return block;
}

std::array<Index, 3> block_of(const Box& threads, const detail::BlockGrid& blocks) {
  std::array<Index, 3> block{1, 1, 1};
  for (int a = 0; a < threads.dims; ++a)
    block[static_cast<std::size_t>(threads.dims - 1 - a)] = blocks.size[static_cast<std::size_t>(a)];
  return block;
}

}  // namespace

LaunchShape shape_of_threads(const Box& threads, const detail::BlockGrid& blocks) {
  const std::array<Index, 3> sizes = sizes_of(threads);
  std::array<Index, 3> block = block_of(threads, blocks);
  if (!fits(block)) block = usual_block(sizes);
  LaunchShape shape;
  for (std::size_t a = 0; a < 3; ++a) {
    shape.block[a] = static_cast<unsigned>(block[a]);
    shape.grid[a] =
        static_cast<unsigned>(std::clamp<Index>((sizes[a] + block[a] - 1) / block[a], 1, kMostGrid[a]));
  }
  return shape;
}

LaunchShape shape_of_blocks(const Box& threads, const detail::BlockGrid& blocks) {
  LaunchShape shape;
  const std::array<Index, 3> block = block_of(threads, blocks);
  Index count = 1;
  for (int a = 0; a < threads.dims; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const Index first = (threads[a].begin - blocks.origin[axis]) / blocks.size[axis];
    const Index last = (threads[a].end - 1 - blocks.origin[axis]) / blocks.size[axis];
    count *= last - first + 1;
  }
  for (std::size_t a = 0; a < 3; ++a) shape.block[a] = static_cast<unsigned>(block[a]);
  shape.grid[0] = count <= kMostGrid[0] ? static_cast<unsigned>(count) : 0;
  return shape;
}

}  // namespace nuna::device::cuda
