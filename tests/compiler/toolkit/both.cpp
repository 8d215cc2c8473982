#include <cuda_runtime.h>

#include <cstdio>

bool doubled(int* data, int n);

int main() {
  constexpr int kCount = 1000;
  int* data = nullptr;
  bool works = cudaMallocManaged(reinterpret_cast<void**>(&data), kCount * sizeof(int)) == cudaSuccess;
  for (int i = 0; works && i < kCount; ++i) data[i] = i;
  works = works && doubled(data, kCount);
  for (int i = 0; works && i < kCount; ++i) works = data[i] == 2 * i;
  std::puts(works ? "PASS" : "FAIL");
  return works ? 0 : 1;
}
