// A file of many kernels, as templates make them: 60 reductions of a block, for three types, ten sizes of blocks, and counts that are a
// multiple of the block or not. Only what it takes to compile it is of interest (compile_time.py).

#include <cuda_runtime.h>

template <class T, unsigned Size, bool Whole>
__global__ void reduce(const T* from, T* to, unsigned n) {
  __shared__ T shared[Size];
  const unsigned t = threadIdx.x;
  T sum = 0;
  for (unsigned i = blockIdx.x * Size * 2 + t; i < n; i += Size * 2 * gridDim.x) {
    sum += from[i];
    if (Whole || i + Size < n) sum += from[i + Size];
  }
  shared[t] = sum;
  __syncthreads();
  if (Size >= 512 && t < 256) shared[t] = sum = sum + shared[t + 256];
  __syncthreads();
  if (Size >= 256 && t < 128) shared[t] = sum = sum + shared[t + 128];
  __syncthreads();
  if (Size >= 128 && t < 64) shared[t] = sum = sum + shared[t + 64];
  __syncthreads();
  if (t < 32) {
    if (Size >= 64) sum += shared[t + 32];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
  }
  if (t == 0) to[blockIdx.x] = sum;
}

template <class T, unsigned Size>
void launch(const T* from, T* to, unsigned n, unsigned blocks) {
  if (n % (2 * Size) == 0) {
    reduce<T, Size, true><<<blocks, Size>>>(from, to, n);
  } else {
    reduce<T, Size, false><<<blocks, Size>>>(from, to, n);
  }
}

template <class T>
void launch(const T* from, T* to, unsigned n, unsigned blocks, unsigned size) {
  switch (size) {
    case 1024:
      return launch<T, 1024>(from, to, n, blocks);
    case 512:
      return launch<T, 512>(from, to, n, blocks);
    case 384:
      return launch<T, 384>(from, to, n, blocks);
    case 256:
      return launch<T, 256>(from, to, n, blocks);
    case 192:
      return launch<T, 192>(from, to, n, blocks);
    case 128:
      return launch<T, 128>(from, to, n, blocks);
    case 96:
      return launch<T, 96>(from, to, n, blocks);
    case 64:
      return launch<T, 64>(from, to, n, blocks);
    case 48:
      return launch<T, 48>(from, to, n, blocks);
    default:
      return launch<T, 32>(from, to, n, blocks);
  }
}

void reduce(const int* from, int* to, unsigned n, unsigned blocks, unsigned size) {
  launch(from, to, n, blocks, size);
}
void reduce(const float* from, float* to, unsigned n, unsigned blocks, unsigned size) {
  launch(from, to, n, blocks, size);
}
void reduce(const double* from, double* to, unsigned n, unsigned blocks, unsigned size) {
  launch(from, to, n, blocks, size);
}
