// Runs on a CPU device: warps, tiles, atomics, textures, random numbers and what kernels say. Built by nunacc.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>

#include <cstdio>

namespace cg = cooperative_groups;

__device__ int failed;
__constant__ float numbers[4];
#define CHECK(condition) \
  if (!(condition))      \
  atomicAdd(&failed, 1), printf("line %d, thread %d: %s\n", __LINE__, (int)threadIdx.x, #condition)

__global__ void __launch_bounds__(64) warps() {
  const int i = threadIdx.x, lane = i % 32, base = i - lane, eight = i / 8 * 8;
  CHECK(__shfl_sync(~0u, i, 3) == base + 3 && __shfl_sync(~0u, i, 9, 8) == eight + 1);
  CHECK(__shfl_up_sync(~0u, i, 2) == (lane < 2 ? i : i - 2));
  CHECK(__shfl_down_sync(~0u, i, 5, 16) == (i % 16 + 5 < 16 ? i + 5 : i));
  CHECK(__shfl_xor_sync(~0u, 0.5 * i, 7) == 0.5 * (i ^ 7) &&
        (float)__shfl_xor_sync(~0u, half(i), 1) == (float)(i ^ 1));
  CHECK(__ballot_sync(~0u, i & 1) == 0xaaaaaaaau && __any_sync(~0u, i == 40) == (i >= 32) &&
        __all_sync(~0u, i < 40) == (i < 32));
  CHECK(__match_any_sync(~0u, lane % 4) == 0x11111111u << lane % 4);
  int same;
  CHECK(__match_all_sync(~0u, base, &same) == ~0u && same);
  CHECK(__reduce_add_sync(~0u, lane) == 496 && __reduce_max_sync(~0u, i) == base + 31 &&
        __reduce_min_sync(~0u, -lane) == -31);
  CHECK(__syncthreads_count(i % 5 == 0) == 13 && __syncthreads_and(i < 64) && !__syncthreads_or(i == 70));
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  CHECK(cg::reduce(tile, i, cg::plus<int>()) == 8 * eight + 28 &&
        cg::reduce(tile, i, cg::less<int>()) == eight);
  CHECK(cg::inclusive_scan(tile, 1) == i % 8 + 1 && cg::exclusive_scan(tile, 1) == i % 8);
  CHECK(tile.ballot(i & 2) == 0xccu && tile.shfl(i, 2) == eight + 2 && (int)tile.meta_group_rank() == i / 8);
  const double2 pair = tile.shfl(make_double2(i, -i), 0);
  CHECK(pair.x == eight && pair.y == -eight);
  if (i % 4 == 0) {
    auto some = cg::coalesced_threads();
    CHECK(some.size() == 8 && (int)some.thread_rank() == lane / 4 && some.shfl(i, 1) == base + 4 &&
          some.ballot(lane < 8) == 3);
  }
}

__global__ void memory(unsigned* u, float* f, double* d, half2* h, cudaTextureObject_t texture,
                       cudaTextureObject_t image) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(u, 1u), atomicMax(u + 1, i), atomicInc(u + 2, 9u), atomicXor(u + 3, i), atomicMin(u + 4, i);
  atomicAdd(f, 0.5f), atomicAdd(d, 0.25), atomicAdd(h, __floats2half2_rn(1, 2));
  int* owned = new int[4];
  owned[3] = (int)i;
  CHECK(owned[3] == (int)i);
  delete[] owned;
  if (i != 0) return;
  CHECK(tex1Dfetch<float>(texture, 2) == numbers[2] && tex1Dfetch<float>(texture, 4) == 0);
  CHECK(tex2D<float>(image, 0.5f, 0.5f) == 1 && tex2D<float>(image, 1, 0.5f) == 1.5f &&
        tex2D<float>(image, 1, 1) == 2.5f);
  CHECK(tex2D<float>(image, -5, 0.5f) == 1 && tex2D<float>(image, 9, 9) == 4);
  curandState state;
  curand_init(1234, 0, 0, &state);
  CHECK(curand(&state) == 624778773u);  // 0.1455
  float s, c;
  sincosf(1, &s, &c);
  CHECK(fabsf(s * s + c * c - 1) < 1e-6f && sinpif(0.5f) == 1 && norm3df(3, 0, 4) == 5 &&
        std::pow(2.0f, 3) == 8);
}

__global__ void asserts(int x) { assert(x < 3); }

int main() {
  const float values[4] = {1, 2, 3, 4};
  unsigned* u;
  float *f, *linear;
  double* d;
  half2* h;
  cudaMallocManaged(&u, 64), cudaMallocManaged(&f, 64), cudaMallocManaged(&d, 64), cudaMallocManaged(&h, 64);
  memset(u, 0, 64), memset(f, 0, 64), memset(d, 0, 64), memset(h, 0, 64);
  u[4] = 99;
  cudaMemcpyToSymbol(numbers, values, sizeof(values));
  cudaMalloc(&linear, sizeof(values));
  cudaMemcpy(linear, values, sizeof(values), cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = linear;
  resource.res.linear.sizeInBytes = sizeof(values);
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0, image = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  cudaArray_t array;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &channels, 2, 2);
  cudaMemcpy2DToArray(array, 0, 0, values, 8, 8, 2, cudaMemcpyHostToDevice);
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  description.filterMode = cudaFilterModeLinear;
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  cudaCreateTextureObject(&image, &resource, &description, nullptr);

  warps<<<2, 64>>>();
  memory<<<10, 100>>>(u, f, d, h, texture, image);
  int bad = cudaDeviceSynchronize() != cudaSuccess, counted = 1;
  cudaMemcpyFromSymbol(&counted, failed, sizeof(int));
  bad |= counted != 0;
  if (u[0] != 1000 || u[1] != 999 || u[2] != 0 || u[3] != 0 || u[4] != 0 || f[0] != 500 || d[0] != 250 ||
      (float)h->x != 1000 || (float)h->y != 2000)
    bad = 1, std::printf("atomics\n");
  asserts<<<1, 5>>>(4);
  if (cudaDeviceSynchronize() != cudaErrorAssert) bad = 1, std::printf("assert\n");
  std::printf(bad ? "FAIL\n" : "PASS\n");
  return bad;
}
