// A program as nvcc builds it, linked with the runtime shim instead of libcudart: kernels, a template, variables,
// dynamic shared memory. Ends with the number of the first check that fails.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter;

template <class T>
__global__ void reverse(T* values, int count) {
  extern __shared__ unsigned char bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const int i = static_cast<int>(threadIdx.x);
  shared[i] = values[i];
  __syncthreads();
  if (i < count) values[i] = shared[count - 1 - i] + static_cast<T>(table[i % 4]);
  atomicAdd(&counter, 1);
}

__global__ void fail(int* at) { at[1 << 20] = 1; }

namespace {

int check(bool holds) {
  static int number = 0;
  ++number;
  if (!holds) std::printf("check %d failed\n", number);
  return holds ? 0 : number;
}
#define CHECK(condition) \
  if (const int failed = check(condition)) return failed

template <class T>
int reverses() {
  T* values = nullptr;
  std::vector<T> host(32);
  for (int i = 0; i < 32; ++i) host[static_cast<std::size_t>(i)] = static_cast<T>(i * 10);
  CHECK(cudaMalloc(reinterpret_cast<void**>(&values), sizeof(T) * 32) == cudaSuccess);
  CHECK(cudaMemcpy(values, host.data(), sizeof(T) * 32, cudaMemcpyHostToDevice) == cudaSuccess);
  reverse<T><<<1, 32, sizeof(T) * 32>>>(values, 32);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMemcpy(host.data(), values, sizeof(T) * 32, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 32; ++i)
    CHECK(host[static_cast<std::size_t>(i)] == static_cast<T>((31 - i) * 10 + i % 4 + 1));
  CHECK(cudaFree(values) == cudaSuccess);
  return 0;
}

}  // namespace

int main() {
  if (const int failed = reverses<int>()) return failed;
  if (const int failed = reverses<double>()) return failed;
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(count == 64);
  CHECK(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(count == 0);
  cudaFunction_t function = nullptr;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&reverse<int>)) == cudaSuccess);
  CHECK(function != nullptr);
  reverse<int><<<0, 32>>>(nullptr, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  fail<<<1, 1>>>(nullptr);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(std::strcmp(cudaGetErrorName(cudaGetLastError()), "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
  return 0;
}
