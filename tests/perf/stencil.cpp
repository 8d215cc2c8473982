// The stencil of apps/stencil on 320^3 points: Nuna against a plain loop of the same arithmetic and blocking,
// on one core, and against the same loop under OpenMP, on two.

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <vector>

#include "../../apps/stencil/wave_kernel.hpp"
#include "measure.hpp"
#include "nuna/nuna.hpp"

namespace {

using nuna::Index;

constexpr Index kPoints = 320;
constexpr Index kPadding = stencil::kRadius;
constexpr Index kPlanes = kPoints + 2 * kPadding;
constexpr Index kRow = kPoints + 2 * kPadding;
constexpr Index kPlane = kPoints * kRow;
constexpr std::size_t kCount = std::size_t(kPlanes * kPlane);
constexpr Index kTile = 16;
constexpr int kSteps = 4;  // of one sample

// What both sides start from.
struct Model {
  Model() : field(kCount, 0.0f), courant2(kCount, 0.0f), sponge(std::size_t(kRow), 1.0f) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> amplitude(-1.0f, 1.0f);
    for (Index x = kPadding; x < kPlanes - kPadding; ++x) {
      for (Index y = 0; y < kPoints; ++y) {
        for (Index z = kPadding; z < kRow - kPadding; ++z) {
          field[std::size_t(x * kPlane + y * kRow + z)] = amplitude(random);
          courant2[std::size_t(x * kPlane + y * kRow + z)] = 0.1f + 0.05f * float(z) / float(kRow);
        }
      }
    }
    for (std::size_t i = 0; i < 40; ++i) {
      const float depth = float(40 - i) / 40.0f;
      sponge[i] = sponge[sponge.size() - 1 - i] = std::exp(-0.09f * depth * depth);
    }
  }
  std::vector<float> field;
  std::vector<float> courant2;
  std::vector<float> sponge;
};

// The same pages as Nuna's instances: shared memory, aligned to pages and staggered by them.
class Array {
 public:
  Array(const std::vector<float>& values, int pages)
      : size_(values.size() * sizeof(float) + std::size_t(pages) * kPage),
        block_(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (block_ == MAP_FAILED) throw std::bad_alloc();
    first_ = reinterpret_cast<float*>(static_cast<char*>(block_) + std::size_t(pages) * kPage);
    std::copy(values.begin(), values.end(), first_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { ::munmap(block_, size_); }
  float* get() const { return first_; }
  friend void swap(Array& a, Array& b) { std::swap(a.first_, b.first_); }  // both live equally long

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  void* block_;
  float* first_;
};

class Loop {
 public:
  Loop(const Model& model, int threads)
      : threads_(threads),
        now_(model.field, 0),
        next_(std::vector<float>(kCount, 0.0f), 1),
        courant2_(model.courant2, 2),
        sponge_(model.sponge),
        sponge_y_(std::size_t(kPoints), 1.0f) {}

  double milliseconds_of_step() {
    return 1e3 / kSteps * nuna::perf::seconds_of([&] {
             for (int step = 0; step < kSteps; ++step) advance();
           });
  }
  void advance() {
    if (threads_ == 1) {
      planes(kPadding, planes_ - kPadding);
    } else {
#pragma omp parallel for num_threads(threads_) schedule(static)
      for (int t = 0; t < threads_; ++t) planes(first(t), first(t + 1));
    }
    swap(now_, next_);
  }
  const float* now() const { return now_.get(); }

 private:
  void planes(Index begin, Index end) const {
    for (Index tile = 0; tile < rows_; tile += kTile) {
      for (Index x = begin; x < end; ++x) {
        for (Index y = tile; y < std::min(tile + kTile, rows_); ++y) row(x, y);
      }
    }
  }
  Index first(int thread) const { return kPadding + (planes_ - 2 * kPadding) * thread / threads_; }
  void row(Index x, Index y) const;

  // Of the model's size the loop knows no more at compile time than a program that reads it from a file.
  Index planes_ = kPlanes;
  Index rows_ = kPoints;
  Index row_ = kRow;
  Index plane_ = kPlane;
  int threads_;
  Array now_;
  Array next_;
  Array courant2_;
  std::vector<float> sponge_;
  std::vector<float> sponge_y_;
};

void Loop::row(Index x, Index y) const {
  const auto beside = [&](Index d) {
    const Index at = y + d < 0 ? -(y + d) : y + d > rows_ - 1 ? 2 * (rows_ - 1) - (y + d) : y + d;
    return now_.get() + x * plane_ + at * row_;
  };
  const float* const p = now_.get() + x * plane_ + y * row_;
  float* const q = next_.get() + x * plane_ + y * row_;
  const float* const c = courant2_.get() + x * plane_ + y * row_;
  const float *const l1 = beside(-1), *const l2 = beside(-2), *const l3 = beside(-3), *const l4 = beside(-4);
  const float *const r1 = beside(1), *const r2 = beside(2), *const r3 = beside(3), *const r4 = beside(4);
  const float* const sponge_z = sponge_.data();
  const float sponge = sponge_[std::size_t(x)] * sponge_y_[std::size_t(y)];
  const Index X = plane_;
#pragma GCC ivdep
  for (Index z = kPadding; z < row_ - kPadding; ++z) {
    const float s1 = ((p[z - X] + p[z + X]) + (l1[z] + r1[z])) + (p[z - 1] + p[z + 1]);
    const float s2 = ((p[z - 2 * X] + p[z + 2 * X]) + (l2[z] + r2[z])) + (p[z - 2] + p[z + 2]);
    const float s3 = ((p[z - 3 * X] + p[z + 3 * X]) + (l3[z] + r3[z])) + (p[z - 3] + p[z + 3]);
    const float s4 = ((p[z - 4 * X] + p[z + 4 * X]) + (l4[z] + r4[z])) + (p[z - 4] + p[z + 4]);
    const float laplacian =
        (((3.0f * stencil::kCentre * p[z] + stencil::kWeight1 * s1) + stencil::kWeight2 * s2) +
         stencil::kWeight3 * s3) +
        stencil::kWeight4 * s4;
    const float damping = sponge * sponge_z[z];
    const float after = (2.0f * p[z] - damping * q[z]) + c[z] * laplacian;
    q[z] = std::fabs(after) < stencil::kNothing ? 0.0f : damping * after;
  }
}

class OnNuna {
 public:
  OnNuna(const Model& model, int devices, int threads)
      : context_(nuna::Context::self(options(devices, threads))),
        devices_(devices),
        now_(context_, shape()),
        next_(context_, shape()),
        courant2_(context_, shape()),
        sponge_x_(context_, {kPlanes}),
        sponge_y_(context_, {kPoints}),
        sponge_z_(context_, {kRow}) {
    set(now_, model.field);
    context_.fill(next_, 0.0f);
    set(courant2_, model.courant2);
    set(sponge_x_, model.sponge);
    context_.fill(sponge_y_, 1.0);
    set(sponge_z_, model.sponge);
  }

  double milliseconds_of_step() {
    return 1e3 / kSteps * nuna::perf::seconds_of([&] {
             for (int step = 0; step < kSteps; ++step) advance();
             context_.wait();
           });
  }
  void advance() {
    const nuna::Box inside{{kPadding, kPlanes - kPadding}, {0, kPoints}, {kPadding, kRow - kPadding}};
    context_.launch("wave", nuna::Domain(inside).within(shape()).parts(devices_), nuna::block(1, kTile, kRow),
                    stencil::Wave{}, nuna::read(now_, nuna::halo(kPadding)), nuna::read_write(next_),
                    nuna::read(courant2_), nuna::read(sponge_x_, nuna::whole()),
                    nuna::read(sponge_y_, nuna::whole()), nuna::read(sponge_z_, nuna::whole()));
    swap(now_, next_);
  }
  bool equals(const float* field) {
    const auto view = now_.host(nuna::Access::read);
    return std::memcmp(view.begin(), field, kCount * sizeof(float)) == 0;
  }

 private:
  static nuna::Extents shape() { return {kPlanes, kPoints, kRow}; }
  static nuna::Options options(int devices, int threads) {
    nuna::Options o;
    o.devices = devices;
    o.threads_per_device = threads;
    return o;
  }
  template <class T, int N>
  static void set(nuna::Buffer<T, N>& buffer, const std::vector<float>& values) {
    const auto view = buffer.host(nuna::Access::write);
    std::copy(values.begin(), values.end(), view.begin());
  }

  nuna::Context context_;
  int devices_;
  nuna::Buffer<float, 3> now_;
  nuna::Buffer<float, 3> next_;
  nuna::Buffer<float, 3> courant2_;
  nuna::Buffer<double, 1> sponge_x_;
  nuna::Buffer<double, 1> sponge_y_;
  nuna::Buffer<float, 1> sponge_z_;
};

void use_cores(int begin, int end) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int core = begin; core < end; ++core) CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

void measure(const nuna::perf::Report& report, const Model& model, const char* name, double aim, int devices,
             int threads) {
  OnNuna ours(model, devices, threads);
  Loop peer(model, devices * threads);
  for (int step = 0; step < 3; ++step) {
    ours.advance();
    peer.advance();
  }
  if (!ours.equals(peer.now())) {
    std::fprintf(stderr, "perf_stencil: %s computes something else than its peer\n", name);
    std::exit(EXIT_FAILURE);
  }
  report.row(
      {name, "ms", nuna::perf::Better::less, aim}, [&] { return ours.milliseconds_of_step(); },
      [&] { return peer.milliseconds_of_step(); });
}

}  // namespace

int main(int argc, char** argv) {
  const nuna::perf::Report report(argc, argv);
  // A process's first gigabyte gets the scattered pages that others gave back; whoever takes it is up to 8 % slower than
  // who comes later. So nobody's arrays lie there.
  const std::vector<char> first_pages(std::size_t{3} << 29, 1);
  nuna::perf::keep(first_pages.data());
  const Model model;
  use_cores(1, 2);  // also the workers, which start with the affinity of this thread
  measure(report, model, "stencil 320^3, 1 device x 1 thread / serial", 0.98, 1, 1);
  use_cores(0, 2);
  measure(report, model, "stencil 320^3, 1 device x 2 threads / OpenMP", 0.95, 1, 2);
  measure(report, model, "stencil 320^3, 2 devices x 1 thread / OpenMP", 0.95, 2, 1);
  return 0;
}
