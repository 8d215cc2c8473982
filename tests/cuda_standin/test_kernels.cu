// Kernels for the stand-in's tests, compiled to PTX.

#include <cassert>

#include "test_functions.hpp"

#define KERNEL(name, Operand, Result, expression)                                               \
  extern "C" __global__ void name(const Operand* a, const Operand* b, Result* out, int count) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);                      \
    if (i < count) out[i] = name##_function::of(a[i], b[i]);                                    \
  }
STANDIN_FUNCTIONS(KERNEL)
#undef KERNEL

extern "C" __global__ void choose(const long* in, long* out, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) out[i] = chosen(static_cast<unsigned>(i), in[i]);
}

extern "C" __global__ void local_array(unsigned* out) {
  out[threadIdx.x] = from_local_array(threadIdx.x * 37u);
}

extern "C" __global__ void closure(const Closure c, double* out) {
  out[threadIdx.x] = of_closure(c, static_cast<int>(threadIdx.x));
}

// 16 x 16 tiles in shared memory.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x),
            y = static_cast<int>(blockIdx.y * 16 + threadIdx.y);
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    a_tile[threadIdx.y][threadIdx.x] = a[y * n + k + static_cast<int>(threadIdx.x)];
    b_tile[threadIdx.y][threadIdx.x] = b[(k + static_cast<int>(threadIdx.y)) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void reduce(const int* in, int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}

// Threads that have ended do not count at a barrier.
extern "C" __global__ void early_exit(int* out) {
  if (threadIdx.x % 3 == 0) return;
  const int count = __syncthreads_count(static_cast<int>(threadIdx.x & 1));
  out[threadIdx.x] = count;
}

extern "C" __global__ void warp(const int* in, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = in[i];
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, static_cast<unsigned>(step));
    if (i % 32 >= step) sum += other;
  }
  out[i] = sum;
  int total = in[i];
  for (int mask = 16; mask > 0; mask /= 2) total += __shfl_xor_sync(0xffffffffu, total, mask);
  out[64 + i] = total;
  out[128 + i] = static_cast<int>(__ballot_sync(0xffffffffu, in[i] % 2 == 0));
  int half = 0;
  if (i % 32 < 16) half = __shfl_down_sync(0x0000ffffu, in[i], 1, 8);
  out[192 + i] = half;
}

extern "C" __global__ void histogram(const unsigned* in, unsigned* counts, double* sum, int* extremes,
                                     int count) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) {
    atomicAdd(&own[in[i] % 16], 1u);
    atomicAdd(sum, static_cast<double>(in[i] % 100));
    atomicMin(&extremes[0], static_cast<int>(in[i]));
    atomicMax(&extremes[1], static_cast<int>(in[i]));
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

// A lock among the threads of a block: those that wait must let its owner run.
extern "C" __global__ void locked(int* lock, int* value) {
  bool done = false;
  while (!done)
    if (atomicCAS(lock, 0, 1) == 0) {
      *static_cast<volatile int*>(value) = *static_cast<volatile int*>(value) + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}

__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ Nest<int, double> called(Nest<double, Table> table, int* at) {
  *at += 1;
  return {static_cast<int>(table.head), table.tail.values[*at]};
}
extern "C" __global__ void calls(unsigned* out, double* values) {
  out[threadIdx.x] = fibonacci(threadIdx.x);
  Nest<double, Table> table{};
  for (int i = 0; i < 300; ++i) table.tail.values[i] = i * 0.5;
  table.head = threadIdx.x;
  int at = static_cast<int>(threadIdx.x);
  const auto got = called(table, &at);
  values[threadIdx.x] = got.head + got.tail + at;
}

__constant__ float weights[4] = {1.5f, -2.0f, 0.25f};
__device__ int counter = 7;
__device__ int* pointer = &counter;
extern "C" __global__ void variables(float* out) {
  out[threadIdx.x] = weights[threadIdx.x % 4];
  atomicAdd(pointer, 1);
}

extern "C" __global__ void saturate(const float* in, int* ints, unsigned char* bytes, long* longs) {
  const unsigned i = threadIdx.x;
  ints[i] = __float2int_rz(in[i]);
  bytes[i] = static_cast<unsigned char>(__float2uint_rn(in[i]));
  longs[i] = __float2ll_rd(in[i]);
}

extern "C" __global__ void rounded(float a, float b, float* out) {
  out[0] = __fadd_rz(a, b), out[1] = __fadd_ru(a, b), out[2] = __fadd_rd(a, b);
  out[3] = __fmul_rz(a, b), out[4] = __fdiv_ru(a, b), out[5] = __fsqrt_rd(a);
  out[6] = __double2float_ru(0.1), out[7] = __int2float_rz(0x7fffffff);
}

extern "C" __global__ void write_at(int* at, long index, int value) { at[index] = value; }
extern "C" __global__ void read_at(const int* at, long index, int* out) { *out = at[index]; }
extern "C" __global__ void trapped() { __trap(); }
extern "C" __global__ void asserted(int x) { assert(x == 42); }
extern "C" __global__ void wait_for(volatile int* flag, volatile int* answer) {
  while (*flag == 0) {
  }
  *answer = *flag + 1;
}
extern "C" __global__ void index_of(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { *out = 1; }
