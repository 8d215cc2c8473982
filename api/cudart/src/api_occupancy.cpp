// Occupancy: how many blocks a multiprocessor of such limits would hold. A worker thread runs one block at a time, whatever
// this says; programs use it to size their grids, and cooperative launches may have as many blocks.

#include <algorithm>

#include "call.hpp"
#include "images.hpp"
#include "limits.hpp"
#include "occupancy.hpp"

using namespace nuna::cudart;

int nuna::cudart::blocks_per_multiprocessor(const Function& function, int block_size,
                                            std::size_t dynamic_bytes) {
  require(block_size > 0, cudaErrorInvalidValue);
  const auto threads = static_cast<std::uint32_t>(block_size);
  if (threads > std::min(limits::kThreadsPerBlock, function.kernel->max_threads_per_block)) return 0;
  const std::uint32_t rounded = (threads + 31) / 32 * 32;
  std::size_t blocks =
      std::min(limits::kBlocksPerMultiprocessor, limits::kThreadsPerMultiprocessor / rounded);
  const std::size_t shared = function.kernel->static_shared_bytes + dynamic_bytes;
  if (shared > limits::kMostSharedBytes) return 0;
  if (shared > 0) blocks = std::min(blocks, limits::kMultiprocessorShared / shared);
  return static_cast<int>(blocks);
}

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                          size_t dynamicSMemSize) {
  return device_call([&] {
    require(numBlocks != nullptr, cudaErrorInvalidValue);
    *numBlocks = blocks_per_multiprocessor(Images::of_process().function(func), blockSize, dynamicSMemSize);
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                   int blockSize, size_t dynamicSMemSize,
                                                                   unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize, dynamicSMemSize);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func,
                                                      int numBlocks, int blockSize) {
  return device_call([&] {
    require(dynamicSmemSize != nullptr && numBlocks > 0 && blockSize > 0, cudaErrorInvalidValue);
    const std::size_t fixed = Images::of_process().function(func).kernel->static_shared_bytes;
    const std::size_t each = std::min(limits::kMostSharedBytes,
                                      limits::kMultiprocessorShared / static_cast<std::size_t>(numBlocks));
    *dynamicSmemSize = each > fixed ? each - fixed : 0;
  });
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func,
                                                 const cudaLaunchConfig_t*) {
  return device_call([&] {
    require(clusterSize != nullptr, cudaErrorInvalidValue);
    Images::of_process().function(func);
    *clusterSize = 1;
  });
}
cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, const void* func, const cudaLaunchConfig_t*) {
  return device_call([&] {
    require(numClusters != nullptr, cudaErrorInvalidValue);
    Images::of_process().function(func);
    *numClusters = 0;
  });
}
}
