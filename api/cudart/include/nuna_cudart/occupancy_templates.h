#pragma once
// Occupancy of kernels by name. Part of runtime_templates.h.

template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T func, int blockSize,
                                                                 size_t dynamicSMemSize) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, reinterpret_cast<const void*>(func),
                                                       blockSize, dynamicSMemSize);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T func,
                                                                          int blockSize,
                                                                          size_t dynamicSMemSize,
                                                                          unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize, flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, T* func, int numBlocks,
                                                             int blockSize) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, reinterpret_cast<const void*>(func),
                                                   numBlocks, blockSize);
}

// The size of block, a multiple of a warp, that keeps most threads on a multiprocessor; of equal ones the largest.
template <class SharedBytes, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* minGridSize, int* blockSize, T func, SharedBytes blockSizeToDynamicSMemSize, int blockSizeLimit = 0,
    unsigned int = 0) {
  if (minGridSize == nullptr || blockSize == nullptr) return cudaErrorInvalidValue;
  cudaFuncAttributes attributes;
  const void* const function = reinterpret_cast<const void*>(func);
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, function)) return error;
  int multiprocessors = 0;
  if (const cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0))
    return error;
  int most = attributes.maxThreadsPerBlock;
  if (blockSizeLimit > 0 && blockSizeLimit < most) most = blockSizeLimit;
  int best_threads = 0;
  for (int aligned = (most + 31) / 32 * 32; aligned > 0; aligned -= 32) {
    const int threads = aligned < most ? aligned : most;
    int blocks = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, threads, static_cast<size_t>(blockSizeToDynamicSMemSize(threads)));
    if (error != cudaSuccess) return error;
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    *blockSize = threads;
    *minGridSize = blocks * multiprocessors;
  }
  return best_threads > 0 ? cudaSuccess : cudaErrorInvalidConfiguration;
}
template <class SharedBytes, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                                  SharedBytes blockSizeToDynamicSMemSize,
                                                                  int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func,
                                                                 blockSizeToDynamicSMemSize, blockSizeLimit);
}
namespace nuna_cudart {
struct SameSharedBytes {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};
}  // namespace nuna_cudart
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func,
                                                      size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minGridSize, blockSize, func, nuna_cudart::SameSharedBytes{dynamicSMemSize}, blockSizeLimit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                               size_t dynamicSMemSize = 0,
                                                               int blockSizeLimit = 0, unsigned int = 0) {
  return cudaOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, T* func,
                                                        const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxPotentialClusterSize(clusterSize, reinterpret_cast<const void*>(func), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, T* func,
                                                  const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxActiveClusters(numClusters, reinterpret_cast<const void*>(func), config);
}
