// The temperature of a chip, after Rodinia's hotspot: each cell exchanges heat with its four neighbours and the air, and
// is heated by what its part of the chip consumes. A block of 16 x 16 threads takes a tile into shared memory and does
// several steps there; with each, the cells it knows shrink by a ring, so tiles overlap (a pyramid).

#include <algorithm>
#include <fstream>
#include <string>

#include "check.hpp"

constexpr int kBlock = 16;
constexpr int kPyramid = 2;                    // steps of a launch
constexpr int kInner = kBlock - 2 * kPyramid;  // cells a block finishes, each way
constexpr float kAmbient = 80.0f;

/// What a step adds: power, the neighbours along y and x, and the air.
struct Material {
  float step_per_capacity, per_y, per_x, per_air;
};

__host__ __device__ inline float heated(float here, float north, float south, float west, float east,
                                        float power, const Material& m) {
  return here + m.step_per_capacity * (power + (south + north - 2.0f * here) * m.per_y +
                                       (east + west - 2.0f * here) * m.per_x + (kAmbient - here) * m.per_air);
}

__global__ void advance(const float* before, const float* power, float* after, int side, int steps,
                        Material material) {
  __shared__ float tile[kBlock][kBlock];
  __shared__ float heat[kBlock][kBlock];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = int(blockIdx.x) * kInner + tx - kPyramid, y = int(blockIdx.y) * kInner + ty - kPyramid;
  const bool inside = x >= 0 && x < side && y >= 0 && y < side;
  if (inside) {
    tile[ty][tx] = before[y * side + x];
    heat[ty][tx] = power[y * side + x];
  }
  __syncthreads();

  // At the edge of the chip a cell is its own neighbour.
  const int north = y > 0 ? ty - 1 : ty, south = y < side - 1 ? ty + 1 : ty;
  const int west = x > 0 ? tx - 1 : tx, east = x < side - 1 ? tx + 1 : tx;
  for (int done = 1; done <= steps; ++done) {
    const bool known = tx >= done && tx < kBlock - done && ty >= done && ty < kBlock - done;
    float next = 0.0f;
    if (inside && known)
      next = heated(tile[ty][tx], tile[north][tx], tile[south][tx], tile[ty][west], tile[ty][east],
                    heat[ty][tx], material);
    __syncthreads();
    if (inside && known) tile[ty][tx] = next;
    __syncthreads();
  }
  const bool own = tx >= kPyramid && tx < kBlock - kPyramid && ty >= kPyramid && ty < kBlock - kPyramid;
  if (inside && own) after[y * side + x] = tile[ty][tx];
}

/// Of silicon 0.5 mm thick, on a chip of 16 mm, heated by at most 3 MW/m2; a step changes a cell by 1 mK at most,
/// and takes from it half of what it differs from its neighbours and the air at most: longer ones are not stable.
static Material silicon(int side) {
  const double thickness = 0.0005, cell = 0.016 / side, capacity = 0.5 * 1.75e6 * thickness * cell * cell;
  const double conductivity = 100.0, steepest = 3.0e6 / (0.5 * thickness * 1.75e6);
  const double per_side = 2.0 * conductivity * thickness, per_air = conductivity * cell * cell / thickness;
  const double step = std::min(0.001 / steepest, 0.5 * capacity / (4.0 * per_side + per_air));
  return {float(step / capacity), float(per_side), float(per_side), float(per_air)};
}

static std::vector<float> advanced(std::vector<float> before, const std::vector<float>& power, int side,
                                   int steps) {
  const Material material = silicon(side);
  std::vector<float> after(before.size());
  for (int done = 0; done < steps; ++done) {
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int i = y * side + x;
        after[i] = heated(before[i], before[y > 0 ? i - side : i], before[y < side - 1 ? i + side : i],
                          before[x > 0 ? i - 1 : i], before[x < side - 1 ? i + 1 : i], power[i], material);
      }
    before.swap(after);
  }
  return before;
}

/// One number a line, as Rodinia's files are.
static std::vector<float> read(const char* path, std::size_t count) {
  std::ifstream file(path);
  std::vector<float> values(count);
  for (float& value : values)
    if (!(file >> value)) {
      std::fprintf(stderr, "%s: holds no %zu numbers\n", path, count);
      std::exit(1);
    }
  return values;
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 4,
                            "[side, 1 to 16384] [steps, 0 to 100000] [temperatures powers]    (files)");
  const int side = arguments.number(1, 512, 1, 16384);
  const int steps = arguments.number(2, 20, 0, 100000);
  const char *temperatures = arguments.text(3), *powers = arguments.text(4);
  if (temperatures && !powers) arguments.fail();
  const std::size_t count = std::size_t(side) * side, bytes = count * sizeof(float);

  std::vector<float> start = random_values(count, 1), power = random_values(count, 2);
  for (float& value : start) value = 320.0f + 20.0f * value;
  for (float& value : power) value *= 0.01f;
  if (temperatures) {
    start = read(temperatures, count);
    power = read(powers, count);
  }

  float *before, *after, *device_power;
  CHECK_CUDA(cudaMalloc(&before, bytes));
  CHECK_CUDA(cudaMalloc(&after, bytes));
  CHECK_CUDA(cudaMalloc(&device_power, bytes));
  CHECK_CUDA(cudaMemcpy(before, start.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_power, power.data(), bytes, cudaMemcpyHostToDevice));

  const dim3 threads(kBlock, kBlock);
  const dim3 blocks((side + kInner - 1) / kInner, (side + kInner - 1) / kInner);
  for (int done = 0; done < steps; done += kPyramid) {
    const int now = steps - done < kPyramid ? steps - done : kPyramid;
    advance<<<blocks, threads>>>(before, device_power, after, side, now, silicon(side));
    CHECK_CUDA(cudaGetLastError());
    std::swap(before, after);
  }

  std::vector<float> found(count);
  CHECK_CUDA(cudaMemcpy(found.data(), before, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(before));
  CHECK_CUDA(cudaFree(after));
  CHECK_CUDA(cudaFree(device_power));

  const double error = largest_error(found, advanced(start, power, side, steps));
  return report(error < 1e-5, "hotspot of %d x %d cells, %d steps, largest error %.1e", side, side, steps,
                error);
}
