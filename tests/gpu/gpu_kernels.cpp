#include "gpu/gpu_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "nuna/closure.hpp"
#include "stencil/wave_kernel.hpp"

namespace nuna::gpu {
namespace {

constexpr int kRadius = static_cast<int>(stencil::kRadius);

struct Empty {
  NUNA_KERNEL void operator()(Thread) const {}
};

__global__ void bare_empty() {}

// The arithmetic of stencil::Wave in the order of its sums, over plain pointers and 32-bit indices.
__global__ void bare_wave(const float* __restrict__ now, float* __restrict__ previous,
                          const float* __restrict__ courant2, const float* __restrict__ sponge_x,
                          const float* __restrict__ sponge_y, const float* __restrict__ sponge_z, int n) {
  const int z = kRadius + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int x = kRadius + static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (z >= n + kRadius || y >= n || x >= n + kRadius) return;
  const int row = n + 2 * kRadius;
  const int plane = n * row;
  const int at = x * plane + y * row + z;
  const float centre = now[at];
  float ring[kRadius + 1];
#pragma unroll
  for (int d = 1; d <= kRadius; ++d) {
    const int below = y - d < 0 ? d - y : y - d;
    const int above = y + d > n - 1 ? 2 * (n - 1) - (y + d) : y + d;
    ring[d] = ((now[at - d * plane] + now[at + d * plane]) +
               (now[at + (below - y) * row] + now[at + (above - y) * row])) +
              (now[at - d] + now[at + d]);
  }
  const float laplacian =
      (((3.0f * stencil::kCentre * centre + stencil::kWeight1 * ring[1]) + stencil::kWeight2 * ring[2]) +
       stencil::kWeight3 * ring[3]) +
      stencil::kWeight4 * ring[4];
  const float damping = (sponge_x[x] * sponge_y[y]) * sponge_z[z];
  const float after = (2.0f * centre - damping * previous[at]) + courant2[at] * laplacian;
  previous[at] = fabsf(after) < stencil::kNothing ? 0.0f : damping * after;
}

template <class Function>
int find(Function* function, void** found) {
  cudaFunction_t entry = nullptr;
  const cudaError_t error = cudaGetFuncBySymbol(&entry, reinterpret_cast<const void*>(function));
  *found = entry;
  return static_cast<int>(error);
}

}  // namespace

int find_bare_empty(void** function) { return find(&bare_empty, function); }
int find_bare_wave(void** function) { return find(&bare_wave, function); }

EmptyKernel empty_kernel() {
  using Closure = detail::Closure<detail::ThisCompiler, Empty>;
  using Held = detail::HeldClosure<Closure>;
  Closure closure{Empty{}, detail::pack()};
  return {detail::code_of<Closure>(), std::make_shared<const Held>(Held{closure, {}})};
}

void launch_empty(Context& context) { context.launch("empty", {1}, block(1), Empty{}); }

WaveModel::WaveModel(Index points)
    : n(points),
      field(count(), 0.0f),
      courant2(count(), 0.0f),
      sponge_x(static_cast<std::size_t>(planes()), 1.0f),
      sponge_y(static_cast<std::size_t>(n), 1.0f),
      sponge_z(static_cast<std::size_t>(row()), 1.0f) {
  std::uint32_t random = 7;
  for (Index x = kRadius; x < kRadius + n; ++x) {
    for (Index y = 0; y < n; ++y) {
      for (Index z = kRadius; z < kRadius + n; ++z) {
        const auto at = static_cast<std::size_t>((x * n + y) * row() + z);
        random = random * 1664525U + 1013904223U;
        field[at] = static_cast<float>(random >> 8) * 0x1p-23f - 1.0f;
        courant2[at] = 0.1f + 0.05f * static_cast<float>(z) / static_cast<float>(row());
      }
    }
  }
  for (auto* sponge : {&sponge_x, &sponge_z}) {
    const std::size_t thick = std::min<std::size_t>(40, sponge->size() / 5);
    for (std::size_t i = 0; i < thick; ++i) {
      const float depth = static_cast<float>(thick - i) / static_cast<float>(thick);
      (*sponge)[i] = (*sponge)[sponge->size() - 1 - i] = std::exp(-0.09f * depth * depth);
    }
  }
}

struct NunaWave::State {
  explicit State(const WaveModel& model)
      : context(Context::self(options())),
        shape{model.planes(), model.n, model.row()},
        now(context, shape),
        next(context, shape),
        courant2(context, shape),
        sponge_x(context, {shape[0]}),
        sponge_y(context, {shape[1]}),
        sponge_z(context, {shape[2]}) {
    set(now, model.field);
    context.fill(next, 0.0f);
    set(courant2, model.courant2);
    set(sponge_x, model.sponge_x);
    set(sponge_y, model.sponge_y);
    set(sponge_z, model.sponge_z);
  }

  static Options options() {
    Options one;
    one.kind = DeviceKind::cuda;
    one.devices = 1;
    return one;
  }
  template <class T, int N>
  static void set(Buffer<T, N>& buffer, const std::vector<float>& values) {
    const auto view = buffer.host(Access::write);
    std::copy(values.begin(), values.end(), view.begin());
  }
  void step() {  // as apps/stencil does it
    const Box inside{{kRadius, shape[0] - kRadius}, {0, shape[1]}, {kRadius, shape[2] - kRadius}};
    context.launch("wave", Domain(inside).within(shape), block(1, std::min<Index>(16, shape[1]), shape[2]),
                   stencil::Wave{}, read(now, halo(kRadius, kRadius, kRadius)), read_write(next),
                   read(courant2), read(sponge_x, whole()), read(sponge_y, whole()), read(sponge_z, whole()));
    swap(now, next);
  }

  Context context;
  Extents shape;
  Buffer<float, 3> now;
  Buffer<float, 3> next;
  Buffer<float, 3> courant2;
  Buffer<double, 1> sponge_x;
  Buffer<double, 1> sponge_y;
  Buffer<float, 1> sponge_z;
};

NunaWave::NunaWave(const WaveModel& model) : state_(std::make_unique<State>(model)) {}
NunaWave::~NunaWave() = default;

void NunaWave::steps(int count) {
  for (int i = 0; i < count; ++i) state_->step();
  state_->context.wait();
}

bool NunaWave::holds(const std::vector<float>& field) {
  const auto view = state_->now.host(Access::read);
  return std::memcmp(&*view.begin(), field.data(), field.size() * sizeof(float)) == 0;
}

}  // namespace nuna::gpu
