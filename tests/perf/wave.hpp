#pragma once
// The stencil of apps/stencil on 320^3 points, as benchmarks run it: on Nuna, and as a plain loop of the same arithmetic and
// blocking over all planes or some of them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "../../apps/stencil/wave_kernel.hpp"
#include "nuna/nuna.hpp"
#include "perf/array.hpp"
#include "perf/measure.hpp"

namespace nuna::perf {

inline constexpr Index kPoints = 320;
inline constexpr Index kPadding = stencil::kRadius;
inline constexpr Index kPlanes = kPoints + 2 * kPadding;
inline constexpr Index kRow = kPoints + 2 * kPadding;
inline constexpr Index kPlane = kPoints * kRow;
inline constexpr std::size_t kCount = std::size_t(kPlanes * kPlane);
inline constexpr Index kTile = 16;
inline constexpr int kSteps = 4;  // of one sample

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

/// Planes [first, first + planes) of the model, each step by a plain loop.
class WaveLoop {
 public:
  explicit WaveLoop(const Model& model, Index first = 0, Index planes = kPlanes)
      : planes_(planes),
        now_(part(model.field, first, planes), 0),
        next_(std::vector<float>(std::size_t(planes * kPlane), 0.0f), 1),
        courant2_(part(model.courant2, first, planes), 2),
        sponge_(model.sponge.begin() + first, model.sponge.begin() + first + planes),
        sponge_y_(std::size_t(kPoints), 1.0f),
        sponge_z_(model.sponge) {}

  Index planes() const { return planes_; }
  Index rows() const { return rows_; }
  const float* now() const { return now_.get(); }
  float* next() const { return next_.get(); }
  void compute(Index begin, Index end) const {
    for (Index tile = 0; tile < rows_; tile += kTile) compute_tile(tile, begin, end);
  }
  void compute_tile(Index tile, Index begin, Index end) const {
    for (Index x = begin; x < end; ++x) {
      for (Index y = tile; y < std::min(tile + kTile, rows_); ++y) row(x, y);
    }
  }
  void turn() { swap(now_, next_); }

 private:
  static std::span<const float> part(const std::vector<float>& values, Index first, Index planes) {
    return std::span(values).subspan(std::size_t(first * kPlane), std::size_t(planes * kPlane));
  }
  void row(Index x, Index y) const;

  // Of the model's size the loop knows no more at compile time than a program that reads it from a file.
  Index planes_;
  Index rows_ = kPoints;
  Index row_ = kRow;
  Index plane_ = kPlane;
  Array<float> now_;
  Array<float> next_;
  Array<float> courant2_;
  std::vector<float> sponge_;
  std::vector<float> sponge_y_;
  std::vector<float> sponge_z_;
};

inline void WaveLoop::row(Index x, Index y) const {
  const auto beside = [&](Index d) {
    const Index at = y + d < 0 ? -(y + d) : y + d > rows_ - 1 ? 2 * (rows_ - 1) - (y + d) : y + d;
    return now_.get() + x * plane_ + at * row_;
  };
  const float* const p = now_.get() + x * plane_ + y * row_;
  float* const q = next_.get() + x * plane_ + y * row_;
  const float* const c = courant2_.get() + x * plane_ + y * row_;
  const float *const l1 = beside(-1), *const l2 = beside(-2), *const l3 = beside(-3), *const l4 = beside(-4);
  const float *const r1 = beside(1), *const r2 = beside(2), *const r3 = beside(3), *const r4 = beside(4);
  const float* const sponge_z = sponge_z_.data();
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

/// The same on all devices of a Context.
class WaveOnNuna {
 public:
  WaveOnNuna(nuna::Context context, const Model& model)
      : context_(std::move(context)),
        parts_(context_.ranks() * context_.devices()),
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

  double milliseconds_of_step(bool exchanging = true) {
    return 1e3 / kSteps * seconds_of([&] {
             for (int step = 0; step < kSteps; ++step) advance(exchanging);
             context_.wait();
           });
  }
  /// Without exchanging, the halo is not declared: the work is the same on bytes that are no longer right.
  void advance(bool exchanging = true) {
    const nuna::Box inside{{kPadding, kPlanes - kPadding}, {0, kPoints}, {kPadding, kRow - kPadding}};
    context_.launch("wave", nuna::Domain(inside).within(shape()).parts(parts_), nuna::block(1, kTile, kRow),
                    stencil::Wave{}, nuna::read(now_, nuna::halo(exchanging ? kPadding : 0)),
                    nuna::read_write(next_), nuna::read(courant2_), nuna::read(sponge_x_, nuna::whole()),
                    nuna::read(sponge_y_, nuna::whole()), nuna::read(sponge_z_, nuna::whole()));
    swap(now_, next_);
  }
  /// Whether these planes, which this rank holds, are the same bits.
  bool equals(Interval planes, const float* field) {
    const auto view = now_.host_local(nuna::Box{planes, {0, kPoints}, {0, kRow}});
    return std::memcmp(view.begin(), field, std::size_t(planes.size() * kPlane) * sizeof(float)) == 0;
  }

 private:
  static nuna::Extents shape() { return {kPlanes, kPoints, kRow}; }
  template <class T, int N>
  static void set(nuna::Buffer<T, N>& buffer, const std::vector<float>& values) {
    const auto view = buffer.host(nuna::Access::write);
    std::copy(values.begin(), values.end(), view.begin());
  }

  nuna::Context context_;
  int parts_;
  nuna::Buffer<float, 3> now_;
  nuna::Buffer<float, 3> next_;
  nuna::Buffer<float, 3> courant2_;
  nuna::Buffer<double, 1> sponge_x_;
  nuna::Buffer<double, 1> sponge_y_;
  nuna::Buffer<float, 1> sponge_z_;
};

}  // namespace nuna::perf
