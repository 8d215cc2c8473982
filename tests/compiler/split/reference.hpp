#pragma once
// CUDA for kernels whose threads can run one after the other, with g++: what the programs must leave.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__
#define __noinline__

using std::max;
using std::min;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
struct double2 {
  double x, y;
};
struct int2 {
  int x, y;
};
struct int4 {
  int x, y, z, w;
};
struct uchar4 {
  unsigned char x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }

static dim3 gridDim, blockDim, blockIdx, threadIdx;

inline unsigned __brev(unsigned value) {
  unsigned turned = 0;
  for (int i = 0; i < 32; ++i) turned |= (value >> i & 1u) << (31 - i);
  return turned;
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __mul24(int a, int b) {
  const auto low = [](int v) {
    return static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(v) << 8) >> 8);
  };
  return static_cast<int>(low(a) * low(b));
}
template <class T, class U, class F>
T changed(T* at, U by, F f) {
  const T before = *at;
  *at = f(before, static_cast<T>(by));
  return before;
}
template <class T, class U>
T atomicAdd(T* at, U by) {
  return changed(at, by, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T, class U>
T atomicMax(T* at, U by) {
  return changed(at, by, [](T a, T b) { return max(a, b); });
}
template <class T, class U>
T atomicXor(T* at, U by) {
  return changed(at, by, [](T a, T b) { return static_cast<T>(a ^ b); });
}

enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
template <class T>
cudaError_t cudaMalloc(T** made, std::size_t bytes) {
  *made = static_cast<T*>(std::malloc(bytes));
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes) {
  std::memcpy(&symbol, from, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes) {
  std::memcpy(to, &symbol, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return ""; }

template <class F>
void each_of(dim3 size, dim3& index, F f) {
  for (index.z = 0; index.z < size.z; ++index.z)
    for (index.y = 0; index.y < size.y; ++index.y)
      for (index.x = 0; index.x < size.x; ++index.x) f();
}

#define LAUNCH(kernel, grid, block, dynamic_bytes, ...)                                              \
  do {                                                                                               \
    gridDim = grid;                                                                                  \
    blockDim = block;                                                                                \
    each_of(gridDim, blockIdx, [&] { each_of(blockDim, threadIdx, [&] { kernel(__VA_ARGS__); }); }); \
  } while (false)
