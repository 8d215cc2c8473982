// C++ that knows CUDA's runtime only.
#include <cuda_runtime.h>
#include <nvToolsExt.h>

#include <cstdio>

int main() {
  nvtxRangePushA("all");
  int devices = 0;
  int version = 0;
  float* memory = nullptr;
  const float4 value = make_float4(1, 2, 3, 4);
  const bool works = cudaGetDeviceCount(&devices) == cudaSuccess && devices == 1 &&
                     cudaRuntimeGetVersion(&version) == cudaSuccess && version == CUDART_VERSION &&
                     cudaMalloc(&memory, sizeof value) == cudaSuccess &&
                     cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice) == cudaSuccess;
  nvtxRangePop();
  std::puts(works ? "PASS" : "FAIL");
  return works ? 0 : 1;
}
