// A 7-point stencil in three dimensions. A block owns a tile of 32 x 8 columns and walks up along z: the plane it is in
// lies in shared memory with a ring around it, the cells below and above in each thread's registers.

#include "check.hpp"

constexpr int kTileX = 32;
constexpr int kTileY = 8;
constexpr float kCentre = 0.4f;
constexpr float kNeighbour = 0.1f;

/// The cells at the border stay as they are.
__global__ void relax(const float* in, float* out, int n) {
  __shared__ float plane[kTileY + 2][kTileX + 2];
  const int x = blockIdx.x * kTileX + threadIdx.x, y = blockIdx.y * kTileY + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool exists = x < n && y < n;
  const bool inner = x > 0 && x < n - 1 && y > 0 && y < n - 1;
  const std::size_t layer = std::size_t(n) * n, column = std::size_t(y) * n + x;

  float below = 0.0f, here = exists ? in[column] : 0.0f, above = exists && n > 1 ? in[column + layer] : 0.0f;
  if (exists) out[column] = here;
  for (int z = 1; z < n - 1; ++z) {
    below = here;
    here = above;
    if (exists) above = in[column + (z + 1) * layer];

    __syncthreads();  // the plane below has been used
    plane[ty][tx] = here;
    const float* at = in + z * layer + column;
    if (inner) {
      if (threadIdx.x == 0) plane[ty][0] = at[-1];
      if (threadIdx.x == kTileX - 1) plane[ty][kTileX + 1] = at[1];
      if (threadIdx.y == 0) plane[0][tx] = at[-n];
      if (threadIdx.y == kTileY - 1) plane[kTileY + 1][tx] = at[n];
    }
    __syncthreads();

    if (inner)
      here = kCentre * here + kNeighbour * (below + above + plane[ty - 1][tx] + plane[ty + 1][tx] +
                                            plane[ty][tx - 1] + plane[ty][tx + 1]);
    if (exists) out[z * layer + column] = here;
    here = plane[ty][tx];
  }
  if (exists && n > 1) out[(n - 1) * layer + column] = above;
}

static std::vector<float> relaxed(std::vector<float> before, int n, int steps) {
  std::vector<float> after = before;
  const int layer = n * n;
  for (int done = 0; done < steps; ++done) {
    for (int z = 1; z < n - 1; ++z)
      for (int y = 1; y < n - 1; ++y)
        for (int x = 1; x < n - 1; ++x) {
          const float* at = &before[std::size_t(z) * layer + y * n + x];
          after[std::size_t(z) * layer + y * n + x] =
              kCentre * at[0] + kNeighbour * (at[-layer] + at[layer] + at[-n] + at[n] + at[-1] + at[1]);
        }
    before.swap(after);
  }
  return before;
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 2, "[side of the cube, 1 to 800] [steps, 0 to 10000]");
  const int n = arguments.number(1, 100, 1, 800);
  const int steps = arguments.number(2, 6, 0, 10000);
  const std::size_t count = std::size_t(n) * n * n, bytes = count * sizeof(float);
  const std::vector<float> start = random_values(count, 1);

  float *before, *after;
  CHECK_CUDA(cudaMalloc(&before, bytes));
  CHECK_CUDA(cudaMalloc(&after, bytes));
  CHECK_CUDA(cudaMemcpy(before, start.data(), bytes, cudaMemcpyHostToDevice));

  const dim3 threads(kTileX, kTileY);
  const dim3 blocks((n + kTileX - 1) / kTileX, (n + kTileY - 1) / kTileY);
  for (int done = 0; done < steps; ++done) {
    relax<<<blocks, threads>>>(before, after, n);
    CHECK_CUDA(cudaGetLastError());
    std::swap(before, after);
  }

  std::vector<float> found(count);
  CHECK_CUDA(cudaMemcpy(found.data(), before, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(before));
  CHECK_CUDA(cudaFree(after));

  const double error = largest_error(found, relaxed(start, n, steps));
  return report(error < 1e-5, "stencil3d of %d^3 cells, %d steps, largest error %.1e", n, steps, error);
}
