// Runs on a CPU device: __nv_atomic_* of nvcc 12.8, and floats of 8 bits in kernels. Built by nunacc.
#include <cuda_fp8.h>

#include <cstdio>

__global__ void count(int* sum, unsigned long long* most, float* total, volatile unsigned* bits,
                      double* pair) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __nv_atomic_add(sum, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_sub(sum, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(most, i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_fetch_add(total, 0.5, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_or(bits, 1u << (i & 31), __NV_ATOMIC_SEQ_CST);
  double seen, wanted;
  __nv_atomic_load(pair, &seen, __NV_ATOMIC_ACQUIRE);
  do {
    wanted = seen + 1;
  } while (!__nv_atomic_compare_exchange(pair, &seen, &wanted, true, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE));
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void once(int* at, int* results) {
  int expected = 5, value = 9;
  __nv_atomic_store_n(at, 5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  results[0] =
      __nv_atomic_compare_exchange_n(at, &expected, 6, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
  results[1] = __nv_atomic_exchange_n(at, 8, __NV_ATOMIC_RELAXED);
  __nv_atomic_exchange(at, &value, results + 2, __NV_ATOMIC_RELAXED);
  results[3] = __nv_atomic_load_n(at, __NV_ATOMIC_RELAXED);
  results[4] =
      __nv_atomic_fetch_and(at, 1, __NV_ATOMIC_RELAXED) + __nv_atomic_fetch_xor(at, 3, __NV_ATOMIC_RELAXED);
  value = -4;
  __nv_atomic_store(at, &value, __NV_ATOMIC_RELAXED);
  results[5] = __nv_atomic_fetch_min(at, -7, __NV_ATOMIC_RELAXED);
}

__global__ void narrow(const float* from, __nv_fp8_e4m3* to, __nv_fp8x4_e5m2* four) {
  to[threadIdx.x] = __nv_fp8_e4m3(from[threadIdx.x]);
  if (threadIdx.x == 0) *four = __nv_fp8x4_e5m2(make_float4(from[0], from[1], from[2], from[3]));
}

int main() {
  struct Shared {
    unsigned long long most;
    double pair;
    int sum;
    float total;
    unsigned bits;
    int at, results[6];
    float from[64];
    __nv_fp8_e4m3 to[64];
    __nv_fp8x4_e5m2 four;
  }* s;
  cudaMallocManaged(&s, sizeof *s);
  memset((void*)s, 0, sizeof *s);
  for (int i = 0; i < 64; ++i) s->from[i] = (float)i * 10;
  count<<<10, 100>>>(&s->sum, &s->most, &s->total, &s->bits, &s->pair);
  once<<<1, 1>>>(&s->at, s->results);
  narrow<<<1, 64>>>(s->from, s->to, &s->four);
  bool well = cudaDeviceSynchronize() == cudaSuccess;
  well &= s->sum == 1000 && s->most == 999 && s->total == 500 && s->bits == ~0u && s->pair == 1000;
  const int wanted[6] = {1, 6, 8, 9, 9 + 1, -4};
  for (int i = 0; i < 6; ++i) well &= s->results[i] == wanted[i];
  well &= s->at == -7;
  for (int i = 0; i < 64; ++i) well &= s->to[i].__x == __nv_fp8_e4m3(s->from[i]).__x;
  well &= (float)s->to[63] == 448 && ((float4)s->four).w == 32;
  std::puts(well ? "PASS" : "FAIL");
  return !well;
}
