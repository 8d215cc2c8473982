// cuFFT and CUB called on instances, as kernels by part: in order with launches, on the part's stream. For machines with a GPU:
// these libraries need NVIDIA's runtime and a real driver. Exit status 0: right; 1: wrong; 77: there is no GPU.

#include <cufft.h>

#include <cmath>
#include <cstdio>
#include <cub/device/device_reduce.cuh>
#include <stdexcept>
#include <vector>

#include "nuna/nuna.hpp"

namespace {

using nuna::Index;

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

struct Wave {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<cufftComplex, 2> rows) const {
    const auto [r, c] = t.global<2>();
    rows(r, c).x = static_cast<float>((r * 13 + c * 7) % 32) - 15.5f;
    rows(r, c).y = static_cast<float>((r + c * 3) % 16) - 7.5f;
  }
};

struct Scale {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<cufftComplex, 2> rows, float factor) const {
    const auto [r, c] = t.global<2>();
    rows(r, c).x *= factor;
    rows(r, c).y *= factor;
  }
};

// Transforms the rows of its part, forward or back.
struct Transform {
  int direction;
  void operator()(const nuna::Part& part, nuna::View<cufftComplex, 2> rows) const {
    const nuna::Interval mine = part.box()[0];
    cufftHandle plan = 0;
    require(cufftPlan1d(&plan, static_cast<int>(rows.extent(1)), CUFFT_C2C, static_cast<int>(mine.size())) ==
                CUFFT_SUCCESS,
            "cufftPlan1d");
    require(cufftSetStream(plan, part.stream<cudaStream_t>()) == CUFFT_SUCCESS, "cufftSetStream");
    cufftComplex* first = &rows(mine.begin, 0);
    require(cufftExecC2C(plan, first, first, direction) == CUFFT_SUCCESS, "cufftExecC2C");
    require(cudaStreamSynchronize(part.stream<cudaStream_t>()) == cudaSuccess,
            "the transform");  // before the plan ends
    cufftDestroy(plan);
  }
};

struct Numbers {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<int, 1> v) const {
    v(t.global(0)) = static_cast<int>(t.global(0) % 1000);
  }
};

// The sum of its part's numbers.
struct Sum {
  void operator()(const nuna::Part& part, nuna::View<const int, 1> in, nuna::View<long long, 1> sums,
                  Index each) const {
    const Index p = part.box()[0].begin;
    const int* first = &in(p * each);
    long long* out = &sums(p);
    const auto stream = part.stream<cudaStream_t>();
    std::size_t bytes = 0;
    void* scratch = nullptr;
    require(cub::DeviceReduce::Sum(scratch, bytes, first, out, each, stream) == cudaSuccess,
            "cub::DeviceReduce::Sum");
    require(cudaMallocAsync(&scratch, bytes, stream) == cudaSuccess, "cudaMallocAsync");
    require(cub::DeviceReduce::Sum(scratch, bytes, first, out, each, stream) == cudaSuccess,
            "cub::DeviceReduce::Sum");
    require(cudaFreeAsync(scratch, stream) == cudaSuccess, "cudaFreeAsync");
  }
};

bool transforms(nuna::Context& context) {
  constexpr Index kRows = 64;
  constexpr Index kColumns = 1024;
  nuna::Buffer<cufftComplex, 2> rows(context, {kRows, kColumns});
  context.launch("wave", {kRows, kColumns}, nuna::block(1, 64), Wave{}, nuna::write(rows));
  std::vector<cufftComplex> before;
  {
    const auto view = rows.host(nuna::Access::read);
    before.assign(view.begin(), view.end());
  }
  context.launch("forward", {kRows}, nuna::block(1), Transform{CUFFT_FORWARD},
                 nuna::read_write(rows, nuna::rows()));
  context.launch("back", {kRows}, nuna::block(1), Transform{CUFFT_INVERSE},
                 nuna::read_write(rows, nuna::rows()));
  context.launch("scale", {kRows, kColumns}, nuna::block(1, 64), Scale{}, nuna::read_write(rows),
                 1.0f / kColumns);
  const auto view = rows.host(nuna::Access::read);
  float worst = 0;
  std::size_t i = 0;
  for (const cufftComplex& z : view) {
    worst = std::fmax(worst, std::fmax(std::fabs(z.x - before[i].x), std::fabs(z.y - before[i].y)));
    ++i;
  }
  std::printf("cuFFT forward and back: largest difference %g\n", static_cast<double>(worst));
  return worst < 1e-4f;
}

bool sums(nuna::Context& context) {
  const Index parts = Index{context.devices()} * context.ranks();
  constexpr Index kEach = 100'000;
  nuna::Buffer<int, 1> in(context, {parts * kEach});
  nuna::Buffer<long long, 1> out(context, {parts});
  context.launch("numbers", {parts * kEach}, nuna::block(kEach), Numbers{}, nuna::write(in));
  context.launch("sum", {parts}, nuna::block(1), Sum{}, nuna::read(in, nuna::tiles(kEach)), nuna::write(out),
                 kEach);
  bool right = true;
  for (const long long sum : out.host(nuna::Access::read))
    right = right && sum == kEach / 1000 * (999LL * 1000 / 2);
  std::printf("CUB sums of parts: %s\n", right ? "right" : "wrong");
  return right;
}

}  // namespace

int main() {
  try {
    nuna::Options options;
    options.kind = nuna::DeviceKind::cuda;
    nuna::Context context = nuna::Context::self(options);
    const bool fine = transforms(context);
    return sums(context) && fine ? 0 : 1;
  } catch (const nuna::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return e.code() == nuna::ErrorCode::unsupported ? 77 : 1;
  }
}
