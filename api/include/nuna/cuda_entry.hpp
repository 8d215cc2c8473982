#pragma once
// Entries: the functions that a CUDA device is started at, one for each kernel and its arguments. Read by nvcc only, which
// includes the CUDA runtime's header by itself; for any other compiler this header is empty.
//
// A kernel by thread is started with blocks of any shape and as many as one likes: x is the fastest axis of the domain, y the
// one before it, z the slowest, and a thread goes on to the next index a grid's size away. A kernel by block is started with
// its own blocks, x the fastest axis, numbered by blockIdx.x alone, row by row among those that hold some of the threads.

#if defined(__CUDACC__)

#include <array>
#include <cstddef>
#include <utility>

#include "nuna/block.hpp"
#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/instance.hpp"
#include "nuna/kernel.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

inline const bool kCudaKernelsNoted = (note_cuda_kernels(), true);

/// A kernel by thread is started with at most so many in a block, which leaves each up to 255 registers.
inline constexpr int kMostThreadsOfEntry = 256;

/// The views of a launch; at least one, so that it is not empty.
template <std::size_t N>
struct ViewArray {
  InstanceView at[N > 0 ? N : 1];
};

template <class Closure, class First, std::size_t... I>
__device__ __forceinline__ void call_kernel(const Closure& closure, const InstanceView* views, First first,
                                            std::index_sequence<I...>) {
  closure.kernel(first, closure.template argument<I>(views)...);
}

template <class Closure>
__global__ void __launch_bounds__(kMostThreadsOfEntry)
    thread_entry(const Closure closure, const ViewArray<Closure::kViews> views, const Box threads) {
  const int dims = threads.dims;
  const Interval fast = dims == 1 ? threads.axis[0] : dims == 2 ? threads.axis[1] : threads.axis[2];
  const Interval middle = dims == 2 ? threads.axis[0] : dims == 3 ? threads.axis[1] : Interval{0, 1};
  const Interval slow = dims == 3 ? threads.axis[0] : Interval{0, 1};
  const Index first_x = fast.begin + Index{blockIdx.x} * blockDim.x + threadIdx.x;
  const Index first_y = middle.begin + Index{blockIdx.y} * blockDim.y + threadIdx.y;
  const Index first_z = slow.begin + Index{blockIdx.z} * blockDim.z + threadIdx.z;
  for (Index z = first_z; z < slow.end; z += Index{gridDim.z} * blockDim.z) {
    for (Index y = first_y; y < middle.end; y += Index{gridDim.y} * blockDim.y) {
      for (Index x = first_x; x < fast.end; x += Index{gridDim.x} * blockDim.x) {
        const Thread thread(dims == 1   ? x
                            : dims == 2 ? y
                                        : z,
                            dims == 1   ? 0
                            : dims == 2 ? x
                                        : y,
                            dims == 3 ? x : 0);
        call_kernel(closure, views.at, thread, Closure::kIndices);
      }
    }
  }
}

template <class Closure, class Block, class Shared, std::size_t... I>
__device__ __forceinline__ void call_block_kernel(const Closure& closure, const InstanceView* views,
                                                  const Block& block, Shared& shared,
                                                  std::index_sequence<I...>) {
  closure.kernel(block, shared, closure.template argument<I>(views)...);
}

template <class Closure>
__global__ void __launch_bounds__(Closure::Function::Block::size())
    block_entry(const Closure closure, const ViewArray<Closure::kViews> views, const Box threads,
                const BlockGrid blocks) {
  using Block = typename Closure::Function::Block;
  using Shared = typename SharedOf<typename Closure::Function>::type;
  std::array<Index, kMaxDims> origin{};
  unsigned left = blockIdx.x;
  for (int a = kMaxDims - 1; a >= 0; --a) {
    const Interval along = blocks.meeting(a, threads.axis[a]);
    const auto count = static_cast<unsigned>(along.size());
    origin[a] = blocks.begin(a, along.begin + left % count);
    left /= count;
  }
  const Block block(origin, threads);
  if constexpr (std::is_void<Shared>::value) {
    call_kernel(closure, views.at, block, Closure::kIndices);
  } else {
    __shared__ Shared shared;
    call_block_kernel(closure, views.at, block, shared, Closure::kIndices);
  }
}

template <class Closure>
struct CudaEntry {
  static constexpr std::size_t kParameterBytes =
      sizeof(Closure) + sizeof(ViewArray<Closure::kViews>) + sizeof(Box) + sizeof(BlockGrid);
  static_assert(
      kParameterBytes <= 4000,
      "a kernel and its arguments have at most 4,000 bytes on a CUDA device: put tables into a buffer");

  static int find(void** function) {
    const void* symbol = nullptr;
    if constexpr (Closure::kForm == Form::blocks) {
      symbol = reinterpret_cast<const void*>(&block_entry<Closure>);
    } else {
      symbol = reinterpret_cast<const void*>(&thread_entry<Closure>);
    }
    cudaFunction_t found = nullptr;
    const cudaError_t error = cudaGetFuncBySymbol(&found, symbol);
    *function = found;
    return static_cast<int>(error);
  }
  static const char* error_text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

  static constexpr CudaKernel kKernel{&find, &error_text, nullptr};
};

}  // namespace detail
}  // namespace v0
}  // namespace nuna

#endif
