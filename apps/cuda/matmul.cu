// C = A B of square matrices. A block computes a 16 x 16 tile of C, and walks along a row of tiles of A and a column of
// tiles of B that it keeps in shared memory, so that each element is read from memory once a tile.

#include "check.hpp"

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;

  float sum = 0.0f;
  for (int start = 0; start < n; start += kTile) {
    const int across = start + threadIdx.x, down = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < n && across < n ? a[row * n + across] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = down < n && column < n ? b[down * n + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

static std::vector<float> multiplied(const std::vector<float>& a, const std::vector<float>& b, int n) {
  std::vector<float> c(std::size_t(n) * n, 0.0f);
  for (int row = 0; row < n; ++row)
    for (int k = 0; k < n; ++k)
      for (int column = 0; column < n; ++column) c[row * n + column] += a[row * n + k] * b[k * n + column];
  return c;
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 1, "[side of the matrices, 1 to 4096]");
  const int n = arguments.number(1, 512, 1, 4096);
  const std::size_t count = std::size_t(n) * n, bytes = count * sizeof(float);
  const std::vector<float> a = random_values(count, 1), b = random_values(count, 2);

  float *device_a, *device_b, *device_c;
  CHECK_CUDA(cudaMalloc(&device_a, bytes));
  CHECK_CUDA(cudaMalloc(&device_b, bytes));
  CHECK_CUDA(cudaMalloc(&device_c, bytes));
  CHECK_CUDA(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  cudaEvent_t begin, end;
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  const dim3 threads(kTile, kTile);
  const dim3 blocks((n + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  CHECK_CUDA(cudaEventRecord(begin));
  multiply<<<blocks, threads>>>(device_a, device_b, device_c, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventRecord(end));
  CHECK_CUDA(cudaEventSynchronize(end));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));

  std::vector<float> c(count);
  CHECK_CUDA(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaEventDestroy(begin));
  CHECK_CUDA(cudaEventDestroy(end));
  CHECK_CUDA(cudaFree(device_a));
  CHECK_CUDA(cudaFree(device_b));
  CHECK_CUDA(cudaFree(device_c));

  const double error = largest_error(c, multiplied(a, b, n));
  return report(error < 1e-5, "matmul %d x %d in %.3f ms, largest error %.1e", n, n, milliseconds, error);
}
