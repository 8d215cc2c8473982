// Many kernels in one file, which nunacc makes in parts: they share a device variable and a device function, and one file is in the
// program twice, under two names. -DNAME=one -DBY=3: int one(int kernel) runs a kernel, and returns what the last thread found.

#include <array>
#include <utility>

#include <cuda_runtime.h>

namespace {

__device__ int offset;

__device__ int runs;
__global__ void count_run() { ++runs; }  // stands before the host's use of the variable

__noinline__ __device__ int add(int a, int b) { return a + b + offset; }

template <int Kernel>
__global__ void sum_block(int* to) {
  __shared__ int shared[256];
  const int t = int(threadIdx.x);
  shared[t] = t * BY + Kernel;
  __syncthreads();
  for (int by = 128; by >= 32; by /= 2) {
    if (t < by) shared[t] += shared[t + by];
    __syncthreads();
  }
  int sum = shared[t % 32];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  to[t] = add(sum, Kernel);
}

template <int... Kernels>
constexpr std::array<void (*)(int*), sizeof...(Kernels)> all_of(std::integer_sequence<int, Kernels...>) {
  return {sum_block<Kernels>...};
}

}  // namespace

int NAME(int kernel) {
  const auto kernels = all_of(std::make_integer_sequence<int, 40>());
  int* found = nullptr;
  const int by = 1000 * BY;
  if (cudaMemcpyToSymbol(offset, &by, sizeof by) != cudaSuccess) return -1;
  if (cudaMallocManaged(&found, 256 * sizeof(int)) != cudaSuccess) return -1;
  kernels[kernel % 40]<<<1, 256>>>(found);
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  int before = 0, after = 0;
  if (cudaMemcpyFromSymbol(&before, runs, sizeof before) != cudaSuccess) return -1;
  count_run<<<1, 1>>>();
  if (cudaMemcpyFromSymbol(&after, runs, sizeof after) != cudaSuccess || after != before + 1) return -1;
  const int last = found[255];
  cudaFree(found);
  return last;
}
