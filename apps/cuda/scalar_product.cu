// The scalar product of two vectors: threads sum over a stride, warps by shuffles, a block through shared memory, and
// the blocks' sums are added atomically.

#include "check.hpp"

constexpr int kBlock = 256;
constexpr int kWarp = 32;

__device__ double summed_over_warp(double value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void scalar_product(const float* a, const float* b, int n, double* result) {
  __shared__ double sums[kBlock / kWarp];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += double(a[i]) * b[i];

  sum = summed_over_warp(sum);
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  for (int half = kBlock / kWarp / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 1, "[elements, 1 to 100000000]");
  const int n = arguments.number(1, 1 << 20, 1, 100000000);
  const std::size_t bytes = n * sizeof(float);
  const std::vector<float> a = random_values(n, 1), b = random_values(n, 2);

  float *device_a, *device_b;
  double* device_result;
  CHECK_CUDA(cudaMalloc(&device_a, bytes));
  CHECK_CUDA(cudaMalloc(&device_b, bytes));
  CHECK_CUDA(cudaMalloc(&device_result, sizeof(double)));
  CHECK_CUDA(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(device_result, 0, sizeof(double)));

  int multiprocessors = 1;
  CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  scalar_product<<<4 * multiprocessors, kBlock>>>(device_a, device_b, n, device_result);
  CHECK_CUDA(cudaGetLastError());

  double result = 0;
  CHECK_CUDA(cudaMemcpy(&result, device_result, sizeof(double), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_a));
  CHECK_CUDA(cudaFree(device_b));
  CHECK_CUDA(cudaFree(device_result));

  double expected = 0;
  for (int i = 0; i < n; ++i) expected += double(a[i]) * b[i];
  const double error = std::fabs(result - expected) / std::fmax(1.0, std::fabs(expected));
  return report(error < 1e-12, "scalar_product of %d elements, %.9g, error %.1e", n, result, error);
}
