// Gravity between all pairs of bodies, by steps in time. A block moves 256 bodies through all the others, which it takes
// into shared memory 256 at a time.

#include "check.hpp"

constexpr int kBlock = 256;
constexpr float kSoftening = 1e-2f;
constexpr float kStep = 1e-3f;

__device__ float3 attracted(float3 sum, float4 own, float4 other) {
  const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
  const float strength = other.w * inverse * inverse * inverse;
  return make_float3(sum.x + dx * strength, sum.y + dy * strength, sum.z + dz * strength);
}

/// x, y, z, and the mass in w.
__global__ void step(const float4* before, float4* after, float4* velocity, int n) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 own = i < n ? before[i] : make_float4(0, 0, 0, 0);
  float3 force = make_float3(0, 0, 0);
  for (int start = 0; start < n; start += kBlock) {
    const int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? before[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) force = attracted(force, own, tile[k]);
    __syncthreads();
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += force.x * kStep;
  v.y += force.y * kStep;
  v.z += force.z * kStep;
  velocity[i] = v;
  after[i] = make_float4(own.x + v.x * kStep, own.y + v.y * kStep, own.z + v.z * kStep, own.w);
}

static void step_on_cpu(const std::vector<float4>& before, std::vector<float4>& after,
                        std::vector<float4>& velocity) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    double x = 0, y = 0, z = 0;
    for (const float4& other : before) {
      const double dx = other.x - before[i].x, dy = other.y - before[i].y, dz = other.z - before[i].z;
      const double squared = dx * dx + dy * dy + dz * dz + kSoftening;
      const double strength = other.w / (squared * std::sqrt(squared));
      x += dx * strength, y += dy * strength, z += dz * strength;
    }
    float4& v = velocity[i];
    v.x += float(x) * kStep, v.y += float(y) * kStep, v.z += float(z) * kStep;
    after[i] = {before[i].x + v.x * kStep, before[i].y + v.y * kStep, before[i].z + v.z * kStep, before[i].w};
  }
}

static std::vector<float> flat(const std::vector<float4>& bodies) {
  std::vector<float> values;
  for (const float4& body : bodies) values.insert(values.end(), {body.x, body.y, body.z});
  return values;
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 2, "[bodies, 1 to 65536] [steps, 1 to 1000]");
  const int n = arguments.number(1, 4096, 1, 65536);
  const int steps = arguments.number(2, 2, 1, 1000);
  const std::size_t bytes = n * sizeof(float4);
  const std::vector<float> values = random_values(std::size_t(n) * 4, 1);
  std::vector<float4> bodies(n), velocity(n, float4{0, 0, 0, 0}), found(n), found_velocity(n);
  for (int i = 0; i < n; ++i)
    bodies[i] = {values[4 * i], values[4 * i + 1], values[4 * i + 2], (0.5f + values[4 * i + 3]) / n};

  float4 *before, *after, *speed;
  CHECK_CUDA(cudaMalloc(&before, bytes));
  CHECK_CUDA(cudaMalloc(&after, bytes));
  CHECK_CUDA(cudaMalloc(&speed, bytes));
  CHECK_CUDA(cudaMemcpy(before, bodies.data(), bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(speed, 0, bytes));
  for (int done = 0; done < steps; ++done) {
    step<<<(n + kBlock - 1) / kBlock, kBlock>>>(before, after, speed, n);
    CHECK_CUDA(cudaGetLastError());
    std::swap(before, after);
  }
  CHECK_CUDA(cudaMemcpy(found.data(), before, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(found_velocity.data(), speed, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(before));
  CHECK_CUDA(cudaFree(after));
  CHECK_CUDA(cudaFree(speed));

  std::vector<float4> next(n);
  for (int done = 0; done < steps; ++done) {
    step_on_cpu(bodies, next, velocity);
    std::swap(bodies, next);
  }
  // The velocities are small: they are compared in units of a step's.
  std::vector<float> ours = flat(found_velocity), expected = flat(velocity);
  for (float& value : ours) value /= kStep * steps;
  for (float& value : expected) value /= kStep * steps;
  const double error = std::fmax(largest_error(flat(found), flat(bodies)), largest_error(ours, expected));
  return report(error < 1e-4, "nbody of %d bodies, %d steps, largest error %.1e", n, steps, error);
}
