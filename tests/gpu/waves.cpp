// The stencil of apps/stencil through Nuna, against a kernel of the same arithmetic written by hand for the GPU.

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "gpu/bare.hpp"
#include "gpu/gpu_kernels.hpp"

namespace nuna::gpu {
namespace {

constexpr double kAim = 0.95;
constexpr std::size_t kBigCard = std::size_t{32} << 30;

/// Threads of a block, the fastest axis first. The best of them is taken.
using Shape = std::array<unsigned, 3>;
constexpr Shape kShapes[] = {{32, 8, 1},  {64, 4, 1},  {32, 4, 1}, {32, 16, 1}, {64, 8, 1},
                             {128, 2, 1}, {128, 4, 1}, {32, 4, 4}, {64, 4, 2},  {256, 1, 1}};

class HandWave {
 public:
  HandWave(const Bare& bare, const WaveModel& model) : bare_(bare), n_(static_cast<int>(model.n)) {
    void* found = nullptr;
    if (find_bare_wave(&found) != 0)
      throw Error(ErrorCode::unsupported, "the benchmark has no code for this GPU");
    function_ = static_cast<CUfunction>(found);
    now_ = upload(model.field);
    next_ = upload(std::vector<float>(model.count(), 0.0f));
    courant2_ = upload(model.courant2);
    sponge_x_ = upload(model.sponge_x);
    sponge_y_ = upload(model.sponge_y);
    sponge_z_ = upload(model.sponge_z);
    count_ = model.count();
  }
  ~HandWave() {
    for (const CUdeviceptr each : {now_, next_, courant2_, sponge_x_, sponge_y_, sponge_z_})
      bare_.driver.cuMemFree(each);
  }
  HandWave(const HandWave&) = delete;
  HandWave& operator=(const HandWave&) = delete;

  void use(const Shape& shape) { shape_ = shape; }
  void steps(int count) {
    const auto blocks = [&](std::size_t axis) {
      return (static_cast<unsigned>(n_) + shape_[axis] - 1) / shape_[axis];
    };
    for (int i = 0; i < count; ++i) {
      void* parameters[] = {&now_, &next_, &courant2_, &sponge_x_, &sponge_y_, &sponge_z_, &n_};
      bare_.check(bare_.driver.cuLaunchKernel(function_, blocks(0), blocks(1), blocks(2), shape_[0],
                                              shape_[1], shape_[2], 0, bare_.stream, parameters, nullptr),
                  "cuLaunchKernel");
      std::swap(now_, next_);
    }
    bare_.settle();
  }
  std::vector<float> field() const {
    std::vector<float> host(count_);
    bare_.copy(host.data(), reinterpret_cast<const void*>(now_), static_cast<Index>(count_ * sizeof(float)));
    bare_.settle();
    return host;
  }

 private:
  CUdeviceptr upload(const std::vector<float>& values) const {
    CUdeviceptr made = 0;
    const std::size_t bytes = values.size() * sizeof(float);
    bare_.check(bare_.driver.cuMemAlloc(&made, bytes), "cuMemAlloc");
    bare_.copy(reinterpret_cast<const void*>(made), values.data(), static_cast<Index>(bytes));
    bare_.settle();
    return made;
  }

  const Bare& bare_;
  int n_;
  CUfunction function_ = nullptr;
  Shape shape_ = kShapes[0];
  std::size_t count_ = 0;
  CUdeviceptr now_ = 0, next_ = 0, courant2_ = 0, sponge_x_ = 0, sponge_y_ = 0, sponge_z_ = 0;
};

double ms_of_step(int steps, const std::function<void(int)>& run) {
  return 1e3 / steps * perf::seconds_of([&] { run(steps); });
}

Shape best_shape(HandWave& hand, int steps) {
  Shape best = kShapes[0];
  double least = 0;
  for (const Shape& shape : kShapes) {
    hand.use(shape);
    hand.steps(2);
    const double took = ms_of_step(steps, [&](int count) { hand.steps(count); });
    if (least == 0 || took < least) {
      least = took;
      best = shape;
    }
  }
  return best;
}

bool measure(const perf::Report& report, const Bare& bare, Index n, int steps) {
  const WaveModel model(n);
  NunaWave ours(model);
  Shape best{};
  {
    HandWave trial(bare, model);
    best = best_shape(trial, steps);
  }
  HandWave hand(bare, model);
  hand.use(best);
  ours.steps(3);
  hand.steps(3);
  if (!ours.holds(hand.field())) {
    std::fprintf(stderr, "benchmark: stencil %lld^3: Nuna and the kernel by hand compute different bits\n",
                 static_cast<long long>(n));
    return false;
  }
  const std::string shape =
      std::to_string(best[0]) + "x" + std::to_string(best[1]) + "x" + std::to_string(best[2]);
  report.row(
      {"stencil step, " + std::to_string(n) + "^3 points / by hand, blocks of " + shape, "ms", Better::less,
       kAim},
      [&] { return ms_of_step(steps, [&](int count) { ours.steps(count); }); },
      [&] { return ms_of_step(steps, [&](int count) { hand.steps(count); }); });
  return true;
}

}  // namespace

bool measure_waves(const perf::Report& report, const Scale& scale) {
  const Bare bare;
  if (scale.small) return measure(report, bare, 12, 1);
  const bool first = measure(report, bare, 320, 20);
  return scale.card_bytes < kBigCard ? first : measure(report, bare, 640, 10) && first;
}

}  // namespace nuna::gpu
