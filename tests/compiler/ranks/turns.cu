// A kernel that follows pointers in memory runs on the host, between others that are shared out. It touches little of much.
#include <cstdio>
#include <vector>

constexpr int kCount = 4 << 20, kBlock = 256, kBlocks = kCount / kBlock;  // 16 MiB each

__global__ void grow(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}
__global__ void poke(float** rows, int round) { rows[threadIdx.x][round * 100] += 5; }
__global__ void tell(const float* data) { printf("%.0f\n", data[threadIdx.x]); }

int main() {
  std::vector<float*> rows(4);
  for (float*& row : rows) {
    cudaMalloc(reinterpret_cast<void**>(&row), kCount * sizeof(float));
    cudaMemset(row, 0, kCount * sizeof(float));
  }
  float** device_rows = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&device_rows), rows.size() * sizeof(float*));
  cudaMemcpy(device_rows, rows.data(), rows.size() * sizeof(float*), cudaMemcpyHostToDevice);
  for (int round = 0; round < 10; ++round) {
    grow<<<kBlocks, kBlock>>>(rows[0], rows[1], kCount);
    grow<<<kBlocks, kBlock>>>(rows[1], rows[0], kCount);
    poke<<<1, 4>>>(device_rows, round);
    tell<<<1, 2>>>(rows[0]);
  }
  std::vector<float> values(kCount);
  for (const float* row : rows) {
    cudaMemcpy(values.data(), row, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < kCount; ++i) sum += values[i] * (i % 13 + 1);
    std::printf("%.0f\n", sum);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 1;
}
