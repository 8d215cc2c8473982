// A kernel whose blocks wait for each other runs on the first rank, by a thread for each block: threads of the library, which other
// ranks do not have to make.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kBlocks = 2, kThreads = 64;

__global__ void shift(int* numbers, int rounds) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int size = kBlocks * kThreads, i = int(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    const int next = numbers[(i + 1) % size];
    grid.sync();
    numbers[i] = next + 1;
    grid.sync();
  }
}

int main() {
  int numbers[kBlocks * kThreads], rounds = 10;
  for (int i = 0; i < kBlocks * kThreads; ++i) numbers[i] = i;
  int* on_device = nullptr;
  cudaMalloc(&on_device, sizeof numbers);
  cudaMemcpy(on_device, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  void* arguments[] = {&on_device, &rounds};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(shift), kBlocks, kThreads, arguments, 0, nullptr);
  cudaMemcpy(numbers, on_device, sizeof numbers, cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  std::printf("%s:", cudaGetErrorString(cudaGetLastError()));
  for (const int number : numbers) std::printf(" %d", number);
  std::printf("\n");
  return 0;
}
