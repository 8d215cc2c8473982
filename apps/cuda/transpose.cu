// The transpose of a matrix, through a 32 x 32 tile in shared memory: rows are read, and rows are written. The tile has
// one column more than it needs, which keeps its columns in different banks.

#include "check.hpp"

constexpr int kTile = 32;
constexpr int kRows = 8;  // of a block's threads: each moves four elements

__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += kRows)
    if (x < columns && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];

  __syncthreads();

  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += kRows)
    if (x < rows && y + k < columns) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 2, "[rows] [columns]    (each 1 to 16384)");
  const int rows = arguments.number(1, 1000, 1, 16384);
  const int columns = arguments.number(2, 700, 1, 16384);
  const std::size_t count = std::size_t(rows) * columns, bytes = count * sizeof(float);
  const std::vector<float> in = random_values(count, 1);

  float *device_in, *device_out;
  CHECK_CUDA(cudaMalloc(&device_in, bytes));
  CHECK_CUDA(cudaMalloc(&device_out, bytes));
  CHECK_CUDA(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice));

  const dim3 threads(kTile, kRows);
  const dim3 blocks((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose<<<blocks, threads>>>(device_in, device_out, rows, columns);
  CHECK_CUDA(cudaGetLastError());

  std::vector<float> out(count);
  CHECK_CUDA(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_in));
  CHECK_CUDA(cudaFree(device_out));

  int wrong = 0;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      wrong += out[std::size_t(x) * rows + y] != in[std::size_t(y) * columns + x];
  return report(wrong == 0, "transpose of %d x %d, %d wrong", rows, columns, wrong);
}
