#pragma once
// The kernels of the GPU benchmarks, Nuna's and those written by hand; compiled by nvcc.

#include <array>
#include <memory>
#include <vector>

#include "nuna/instance.hpp"
#include "nuna/nuna.hpp"

namespace nuna::gpu {

/// A kernel of one thread that does nothing, for Device::run.
struct EmptyKernel {
  detail::KernelCode code;
  std::shared_ptr<const void> closure;
};
EmptyKernel empty_kernel();
void launch_empty(Context& context);

/// What the stencil begins with: n^3 points, padded along the first and the last axis as apps/stencil pads them.
struct WaveModel {
  explicit WaveModel(Index points);
  Index row() const { return n + 2 * 4; }
  Index planes() const { return n + 2 * 4; }
  std::size_t count() const { return static_cast<std::size_t>(planes() * n * row()); }

  Index n;
  std::vector<float> field;
  std::vector<float> courant2;
  std::vector<float> sponge_x;
  std::vector<float> sponge_y;
  std::vector<float> sponge_z;
};

/// The stencil of apps/stencil on one GPU through a Context.
class NunaWave {
 public:
  explicit NunaWave(const WaveModel& model);
  ~NunaWave();
  NunaWave(const NunaWave&) = delete;
  NunaWave& operator=(const NunaWave&) = delete;
  void steps(int count);  ///< and waits
  bool holds(const std::vector<float>& field);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entries for cuLaunchKernel; each gives the CUDA runtime's error, 0 for none.
int find_bare_empty(void** function);
/// (const float* now, float* previous, const float* courant2, const float* sponge_x, _y, _z, int n): one thread a point, x the
/// last axis, z the first.
int find_bare_wave(void** function);

}  // namespace nuna::gpu
