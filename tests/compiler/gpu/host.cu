// What GPUs are not given: textures, grids that synchronise, memory of the host, structures of pointers in managed memory.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

#include "check.hpp"

__global__ void fetch(cudaTextureObject_t texels, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * tex1Dfetch<int>(texels, n - 1 - i);
}

__global__ void in_turn(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  cooperative_groups::this_grid().sync();
  data[i] += data[n - 1 - i] > i ? 1 : 2;
}

struct Nested {
  int* values;
  int count;
  Nested* next;
};
__global__ void walk(Nested* list) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (Nested* each = list; each != nullptr; each = each->next) {
    if (i < each->count) each->values[i] += each->count;
  }
}

__global__ void on_host_memory(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = 3 * i;
}

int sum(const int* data, int n) {
  CHECK(cudaDeviceSynchronize());
  int all = 0;
  for (int i = 0; i < n; ++i) all = all * 31 + data[i];
  return all;
}

int main() {
  constexpr int n = 1024;
  int *from = nullptr, *to = nullptr;
  CHECK(cudaMallocManaged(&from, n * sizeof(int)));
  CHECK(cudaMallocManaged(&to, n * sizeof(int)));
  for (int i = 0; i < n; ++i) from[i] = i * i;
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = from;
  memory.res.linear.desc = cudaCreateChannelDesc<int>();
  memory.res.linear.sizeInBytes = n * sizeof(int);
  cudaTextureDesc how{};
  cudaTextureObject_t texels = 0;
  CHECK(cudaCreateTextureObject(&texels, &memory, &how, nullptr));
  fetch<<<8, 128>>>(texels, to, n);
  std::printf("fetch %d\n", sum(to, n));
  CHECK(cudaDestroyTextureObject(texels));

  int count = n;
  void* arguments[] = {&to, &count};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(in_turn), dim3(2), dim3(n / 2), arguments, 0,
                                    nullptr));
  std::printf("in_turn %d\n", sum(to, n));

  Nested* list = nullptr;
  CHECK(cudaMallocManaged(&list, 2 * sizeof(Nested)));
  list[0] = {from, n, &list[1]};
  list[1] = {to, n / 2, nullptr};
  walk<<<8, 128>>>(list);
  std::printf("walk %d %d\n", sum(from, n), sum(to, n));

  int* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  on_host_memory<<<8, 128>>>(pinned, n);
  std::printf("on_host_memory %d\n", sum(pinned, n));
  return 0;
}
