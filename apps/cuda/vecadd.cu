// The first CUDA program: one thread adds one pair of numbers.

#include "check.hpp"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 1, "[elements, 1 to 100000000]");
  const int n = arguments.number(1, 1 << 20, 1, 100000000);
  const std::size_t bytes = n * sizeof(float);
  const std::vector<float> a = random_values(n, 1), b = random_values(n, 2);

  float *device_a, *device_b, *device_c;
  CHECK_CUDA(cudaMalloc(&device_a, bytes));
  CHECK_CUDA(cudaMalloc(&device_b, bytes));
  CHECK_CUDA(cudaMalloc(&device_c, bytes));
  CHECK_CUDA(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  const int threads = 256;
  add<<<(n + threads - 1) / threads, threads>>>(device_a, device_b, device_c, n);
  CHECK_CUDA(cudaGetLastError());

  std::vector<float> c(n);
  CHECK_CUDA(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_a));
  CHECK_CUDA(cudaFree(device_b));
  CHECK_CUDA(cudaFree(device_c));

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  return report(wrong == 0, "vecadd of %d elements, %d wrong", n, wrong);
}
