// The kernels whose speed is compared with peer_loops.cpp: plain CUDA, timed by events.

#include <cuda_runtime.h>

#include "workloads.hpp"

using namespace workloads;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < n; start += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void nbody(const float4* before, float4* after, float4* velocity, int n) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = before[i];
  float x = 0, y = 0, z = 0;
  for (int start = 0; start < n; start += blockDim.x) {
    tile[threadIdx.x] = before[start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < int(blockDim.x); ++k) {
      const float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
      const float strength = tile[k].w * inverse * inverse * inverse;
      x += dx * strength;
      y += dy * strength;
      z += dz * strength;
    }
    __syncthreads();
  }
  float4 v = velocity[i];
  v.x += x * kTimeStep;
  v.y += y * kTimeStep;
  v.z += z * kTimeStep;
  velocity[i] = v;
  after[i] = make_float4(own.x + v.x * kTimeStep, own.y + v.y * kTimeStep, own.z + v.z * kTimeStep, own.w);
}

/// kPyramid steps on a tile that shrinks by a ring with each, as Rodinia's.
__global__ void hotspot(const float* before, const float* power, float* after, int side) {
  __shared__ float tile[kTile][kTile];
  __shared__ float heat[kTile][kTile];
  constexpr int kInner = kTile - 2 * kPyramid;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = int(blockIdx.x) * kInner + tx - kPyramid, y = int(blockIdx.y) * kInner + ty - kPyramid;
  const bool inside = x >= 0 && x < side && y >= 0 && y < side;
  if (inside) {
    tile[ty][tx] = before[y * side + x];
    heat[ty][tx] = power[y * side + x];
  }
  __syncthreads();
  const int north = y > 0 ? ty - 1 : ty, south = y < side - 1 ? ty + 1 : ty;
  const int west = x > 0 ? tx - 1 : tx, east = x < side - 1 ? tx + 1 : tx;
  for (int done = 1; done <= kPyramid; ++done) {
    const bool known = tx >= done && tx < kTile - done && ty >= done && ty < kTile - done;
    float next = 0.0f;
    if (inside && known) {
      const float here = tile[ty][tx];
      next = here + kPower * heat[ty][tx] + kAlongY * (tile[south][tx] + tile[north][tx] - 2.0f * here) +
             kAlongX * (tile[ty][east] + tile[ty][west] - 2.0f * here) + kAir * (kAmbient - here);
    }
    __syncthreads();
    if (inside && known) tile[ty][tx] = next;
    __syncthreads();
  }
  const bool own = tx >= kPyramid && tx < kTile - kPyramid && ty >= kPyramid && ty < kTile - kPyramid;
  if (inside && own) after[y * side + x] = tile[ty][tx];
}

__global__ void stencil(const float* before, const float* power, float* after, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
  const int i = y * side + x;
  after[i] = before[i] +
             0.1f * (before[i - 1] + before[i + 1] + before[i - side] + before[i + side] - 4.0f * before[i]) +
             power[i];
}

__global__ void vecadd(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void empty() {}

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Device memory that holds these values.
class Array {
 public:
  explicit Array(const std::vector<float>& values) : count_(values.size()) {
    check(cudaMalloc(&first_, count_ * sizeof(float)), "cudaMalloc");
    check(cudaMemcpy(first_, values.data(), count_ * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(first_); }
  float* get() const { return first_; }
  float4* bodies() const { return reinterpret_cast<float4*>(first_); }
  double sum() const {
    std::vector<float> values(count_);
    check(cudaMemcpy(values.data(), first_, count_ * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return sum_of(values.data(), count_);
  }

 private:
  float* first_ = nullptr;
  std::size_t count_;
};

/// Prints the median time of a repetition; launch() launches it once.
template <typename Launch>
static void measure(const Options& options, const char* name, int launches, const Array* result,
                    Launch launch) {
  if (!options.wants(name)) return;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> samples;
  for (int done = -1; done < options.repetitions; ++done) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    for (int i = 0; i < launches; ++i) launch();
    check(cudaGetLastError(), name);
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), name);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (done >= 0) samples.push_back(double(milliseconds) / launches);
  }
  print_line(name, options.threads, median(samples), result ? result->sum() : 0);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

static void measure_grids(const Options& options) {
  const std::size_t cells = std::size_t(kGrid) * kGrid;
  const Array before(values(cells, 5, 320, 20)), power(values(cells, 6, 0, 0.01f)), after(values(cells, 7));
  const dim3 threads(kTile, kTile);
  constexpr int kInner = kTile - 2 * kPyramid;
  const dim3 tiles((kGrid + kInner - 1) / kInner, (kGrid + kInner - 1) / kInner);
  measure(options, "hotspot", 1, &after,
          [&] { hotspot<<<tiles, threads>>>(before.get(), power.get(), after.get(), kGrid); });
  const dim3 blocks((kGrid + 31) / 32, (kGrid + 7) / 8);
  measure(options, "stencil", 1, &after,
          [&] { stencil<<<blocks, dim3(32, 8)>>>(before.get(), power.get(), after.get(), kGrid); });
}

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  if (options.wants("matmul")) {
    const std::size_t count = std::size_t(kMatrix) * kMatrix;
    const Array a(values(count, 1)), b(values(count, 2)), c(values(count, 3));
    const dim3 threads(kTile, kTile), blocks(kMatrix / kTile, kMatrix / kTile);
    measure(options, "matmul", 1, &c,
            [&] { matmul<<<blocks, threads>>>(a.get(), b.get(), c.get(), kMatrix); });
  }
  if (options.wants("nbody")) {
    const Array before(bodies()), after(bodies()),
        velocity(std::vector<float>(std::size_t(kBodies) * 4, 0.0f));
    measure(options, "nbody", 1, &after, [&] {
      nbody<<<kBodies / 256, 256, 256 * sizeof(float4)>>>(before.bodies(), after.bodies(), velocity.bodies(),
                                                          kBodies);
    });
  }
  if (options.wants("hotspot") || options.wants("stencil")) measure_grids(options);
  if (options.wants("vecadd")) {
    const Array a(values(kVector, 1)), b(values(kVector, 2)), c(values(kVector, 3));
    measure(options, "vecadd", 1, &c,
            [&] { vecadd<<<(kVector + 255) / 256, 256>>>(a.get(), b.get(), c.get(), kVector); });
  }
  measure(options, "empty", kEmptyLaunches, nullptr, [] { empty<<<1, 1>>>(); });
  measure(options, "empty_and_wait", kEmptyLaunches, nullptr, [] {
    empty<<<1, 1>>>();
    cudaDeviceSynchronize();
  });
  return 0;
}
