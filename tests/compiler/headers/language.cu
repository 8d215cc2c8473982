// Compiled in both passes by run.sh; names every function of its topic at least once, and runs nothing.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>
__managed__ int mm = 3;
__constant__ float cc[10];
__device__ int gg;
extern __shared__ float dyn[];
template <int N>
__global__ void __launch_bounds__(N) tk(float* p) {
  __shared__ float s[N];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[N - 1 - threadIdx.x] + dyn[0] + cc[3];
}
__global__ void k(int* a, unsigned* b, float* f, double* d, unsigned long long* u) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dim3 q = threadIdx, q2(blockIdx);
  uint3 t = threadIdx, t2 = blockDim;
  uint3 t3(gridDim);
  if (i >= warpSize) return;
  assert(i != 3);
  atomicAdd(a, 1);
  atomicAdd(b, 1u);
  atomicAdd(f, 2.f);
  atomicAdd(d, 2.0);
  atomicAdd(u, 3ull);
  atomicInc(b, 5u);
  atomicDec(b, 5);
  atomicCAS(a, 1, 2);
  atomicExch(f, 3.f);
  atomicMin(a, 3);
  atomicMax(u, 3ull);
  atomicAdd_system(a, 1);
  atomicSub(a, 1);
  a[i] = __shfl_down_sync(0xffffffff, a[i], 3);
  f[i] = __shfl_xor_sync(~0u, f[i], 4, 8);
  d[i] = __shfl_sync(~0u, d[i], 1);
  b[i] =
      __ballot_sync(~0u, a[i]) + __activemask() + __match_any_sync(~0u, a[i]) + __reduce_add_sync(~0u, b[i]);
  mm += q.x + q2.y + t.z + t2.x + t3.y;
  gg = std::max(a[1], a[2]);
  if (__syncthreads_count(i > 3) > 4 || __syncthreads_or(i) || __any_sync(~0u, i)) printf("x %d\n", i);
  if (clock64() == 3) __trap();
  __threadfence();
  auto l = [=] __device__(int x) { return x + i; };
  a[i] += l(3);
  int* z = new int[3];
  delete[] z;
  void* m = malloc(3);
  free(m);
  memcpy(a, b, 8);
}
int main() {
  float* p = 0;
  tk<64><<<1, 64, 10>>>(p);
  k<<<dim3(1, 2), 3>>>(0, 0, 0, 0, 0);
  mm = 4;
  printf("%d\n", mm);
  assert(p);
  clock();
  std::cout << std::max(3, 4);
  const float* input = 0;  // whose pointer nvcc's templates take, too
  cudaMalloc(&input, 64);
}
