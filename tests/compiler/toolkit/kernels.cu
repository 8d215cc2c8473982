#include <cuda_runtime.h>

__global__ void twice(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

bool doubled(int* data, int n) {
  twice<<<(n + 127) / 128, 128>>>(data, n);
  return cudaDeviceSynchronize() == cudaSuccess;
}
