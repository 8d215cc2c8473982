#pragma once
// What the four styles share: the field and its slabs, the kernels, and the threads with their semaphores.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include <nuna/nuna.hpp>

namespace hpe {

using nuna::Index;
using Slab = nuna::Buffer<float, 3>;

constexpr Index kRadius = 4;  // a point and its four neighbours in each direction: 25 points

/// The points that are computed. Around them lie kRadius more on each side, which stay zero.
struct Field {
  Index planes = 48;
  Index rows = 40;
  Index columns = 40;
  int steps = 10;

  nuna::Extents extents(Index own_planes) const {
    return {own_planes + 2 * kRadius, rows + 2 * kRadius, columns + 2 * kRadius};
  }
  nuna::Box points(Index own_planes) const {
    return {{kRadius, kRadius + own_planes}, {kRadius, kRadius + rows}, {kRadius, kRadius + columns}};
  }
  /// `count` planes from `first` on, of an array of these extents: one run of bytes.
  nuna::Box some_planes(Index first, Index count) const {
    return {{first, first + count}, {0, rows + 2 * kRadius}, {0, columns + 2 * kRadius}};
  }
  std::size_t halo_elements() const {
    return static_cast<std::size_t>(kRadius * (rows + 2 * kRadius) * (columns + 2 * kRadius));
  }
  nuna::Interval slab(int id, int devices) const {
    return {planes * id / devices, planes * (id + 1) / devices};
  }
};

NUNA_KERNEL float weight(Index distance) { return 0.08F / static_cast<float>(distance * distance + 1); }

NUNA_KERNEL float start_value(Index z, Index y, Index x) {
  return static_cast<float>((z * 7 + y * 13 + x * 29) % 101) - 50.0F;
}

/// One step of a slab whose halos hold the neighbours' planes.
struct Step {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 3> in, nuna::View<float, 3> out) const {
    const auto [z, y, x] = t.global<3>();
    float sum = 0.3F * in(z, y, x);
    for (Index r = 1; r <= kRadius; ++r) {
      sum += weight(r) * (in(z - r, y, x) + in(z + r, y, x) + in(z, y - r, x) + in(z, y + r, x) +
                          in(z, y, x - r) + in(z, y, x + r));
    }
    out(z, y, x) = sum;
  }
};

/// The same without halos: what lies beyond the slab is read in the neighbours' arrays. The outermost have none.
struct StepAcross {
  bool has_left;
  bool has_right;

  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 3> left, nuna::View<const float, 3> in,
                              nuna::View<const float, 3> right, nuna::View<float, 3> out) const {
    const auto [z, y, x] = t.global<3>();
    const Index end = in.extent(0) - kRadius;
    const Index left_end = left.extent(0) - kRadius;
    float sum = 0.3F * in(z, y, x);
    for (Index r = 1; r <= kRadius; ++r) {
      const float before =
          has_left && z - r < kRadius ? left(left_end + z - r - kRadius, y, x) : in(z - r, y, x);
      const float after = has_right && z + r >= end ? right(z + r - end + kRadius, y, x) : in(z + r, y, x);
      sum += weight(r) *
             (before + after + in(z, y - r, x) + in(z, y + r, x) + in(z, y, x - r) + in(z, y, x + r));
    }
    out(z, y, x) = sum;
  }
};

/// The field before the first step; `first` is the slab's first plane.
struct Start {
  Index first;

  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<float, 3> out) const {
    const auto [z, y, x] = t.global<3>();
    out(z, y, x) = start_value(z + first, y, x);
  }
};

inline nuna::Extents block(const Field& field) { return nuna::block(1, 8, field.columns + 2 * kRadius); }

/// Semaphores, one for each device.
class Semaphores {
 public:
  explicit Semaphores(int devices) {
    for (int d = 0; d < devices; ++d) all_.emplace_back(0);
  }
  void post(int id) { all_[static_cast<std::size_t>(id)].release(); }
  void wait(int id) { all_[static_cast<std::size_t>(id)].acquire(); }

 private:
  std::deque<std::counting_semaphore<>> all_;
};

/// Calls `work(id)` on a thread for each device. If one fails, all end: its neighbours would wait for ever.
inline void on_threads(int devices, const std::function<void(int id)>& work) {
  std::vector<std::thread> threads;
  for (int id = 0; id < devices; ++id) {
    threads.emplace_back([&work, id] {
      try {
        work(id);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "hpe_styles: device %d: %s\n", id, e.what());
        std::_Exit(EXIT_FAILURE);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The points of a slab that begins at plane `first`, added to the result.
inline void collect(const Field& field, Slab& slab, Index first, std::vector<float>& result) {
  const nuna::Box box = field.points(slab.extents()[0] - 2 * kRadius);
  const auto view = slab.host(box, nuna::Access::read);
  auto next = static_cast<std::size_t>(first * field.rows * field.columns);
  for (Index z = box[0].begin; z < box[0].end; ++z) {
    for (Index y = box[1].begin; y < box[1].end; ++y) {
      for (Index x = box[2].begin; x < box[2].end; ++x) result[next++] = view(z, y, x);
    }
  }
}

inline std::vector<float> no_result(const Field& field) {
  return std::vector<float>(static_cast<std::size_t>(field.planes * field.rows * field.columns));
}

// The styles. Each returns the points after the last step.
std::vector<float> listing_1(const Field& field, int devices);
std::vector<float> listing_2(const Field& field, int devices);
std::vector<float> listing_3(const Field& field, int devices);
std::vector<float> one_launch(const Field& field, int devices);

}  // namespace hpe
