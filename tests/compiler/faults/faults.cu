// Kernels that a GPU stops, one by its number. Prints the error of the launch, whether it stays, and whether the device works behind
// cudaDeviceReset.

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

__device__ int deep(int n, int* to) {
  int kept[200];
  for (int i = 0; i < 200; ++i) kept[i] = n + i;
  const int below = n == 0 ? 0 : deep(n - 1, to);
  to[0] = kept[below % 200];
  return kept[(below + n) % 200] + 1;
}

__global__ void misdo(int what, int* data, long far, int zero) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  if (blockIdx.x != 5 || blockIdx.y != 2) return;
  if (what == 0) *reinterpret_cast<int*>(far) = i;  // null
  if (what == 1) data[far] = i;                     // far away
  if (what == 2) data[i] = data[far];
  if (what == 3) data[i] = reinterpret_cast<int*>(0x123456789abcdef0 + far)[i];  // can be no address
  if (what == 4) data[i] = i / zero;
  if (what == 5) data[i] = deep(1 << 30, data);
  if (what == 9) data[i + (1 << 24)] = i;  // behind what is allocated, which nobody has used
  if (what == 7) memcpy(data, data + far, far > 0 ? 64 : 4096 + i);
  if (what == 8) printf("%s", reinterpret_cast<const char*>(data + far));
  if (what == 10) __trap();
  if (what == 6) data[i] = reinterpret_cast<int (*)(int)>(far)(i);
}

__global__ void twice(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

int main(int, char** arguments) {
  const int what = std::atoi(arguments[1]);
  const long far = what == 0 ? 24 : what == 6 ? 64 : -(1L << 42);
  constexpr int kCount = 64 * 128;
  int* data = nullptr;
  cudaMalloc(&data, kCount * sizeof(int));
  misdo<<<dim3(64, 3), 128>>>(what, data, far, what > 100);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  misdo<<<64, 128>>>(-1, data, far, 1);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceReset()));

  int* managed = nullptr;
  cudaMallocManaged(&managed, kCount * sizeof(int));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kCount; ++i) managed[i] = i;
    twice<<<64, 128>>>(managed, kCount);
    cudaDeviceSynchronize();
    for (int i = 0; i < kCount; ++i) {
      if (managed[i] != 2 * i) return std::printf("%d is %d\n", i, managed[i]), 1;
    }
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
