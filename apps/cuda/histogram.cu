// How often each byte occurs. A block counts into shared memory with atomics, and adds what it counted to the result.

#include "check.hpp"

constexpr int kBins = 256;

__global__ void count(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned own[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    if (own[bin] != 0) atomicAdd(&bins[bin], own[bin]);
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 1, "[bytes, 1 to 400000000]");
  const int n = arguments.number(1, 1 << 22, 1, 400000000);
  std::vector<unsigned char> data(n);
  unsigned seed = 1;
  for (unsigned char& byte : data) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>((seed >> 24) & (seed >> 16));  // some values are frequent
  }

  unsigned char* device_data;
  unsigned* device_bins;
  CHECK_CUDA(cudaMalloc(&device_data, n));
  CHECK_CUDA(cudaMalloc(&device_bins, kBins * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(device_data, data.data(), n, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(device_bins, 0, kBins * sizeof(unsigned)));

  count<<<64, 256>>>(device_data, n, device_bins);
  CHECK_CUDA(cudaGetLastError());

  std::vector<unsigned> bins(kBins), expected(kBins, 0);
  CHECK_CUDA(cudaMemcpy(bins.data(), device_bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_data));
  CHECK_CUDA(cudaFree(device_bins));

  for (unsigned char byte : data) ++expected[byte];
  int wrong = 0;
  for (int bin = 0; bin < kBins; ++bin) wrong += bins[bin] != expected[bin];
  return report(wrong == 0, "histogram of %d bytes, %d of %d bins wrong", n, wrong, kBins);
}
