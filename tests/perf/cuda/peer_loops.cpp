// The peer: what kernels.cu computes, as loops for the CPU. Built by clang++-19 -O3 -march=native -fno-math-errno.
//
// Two threads take the halves of the rows, bodies or elements. The memory is of the kind that Nuna's instances have.

#include <chrono>
#include <cmath>
#include <span>
#include <thread>

#include "../array.hpp"
#include "workloads.hpp"

using namespace workloads;

/// Calls work(first, last) on each thread's share of [0, count), cut at multiples of grain.
template <typename Work>
static void divided(int threads, int count, int grain, Work work) {
  const auto cut = [&](int share) { return int(std::int64_t(count / grain) * share / threads) * grain; };
  std::vector<std::thread> others;
  for (int share = 1; share < threads; ++share)
    others.emplace_back(work, cut(share), share + 1 == threads ? count : cut(share + 1));
  work(0, threads == 1 ? count : cut(1));
  for (std::thread& other : others) other.join();
}

/// Four rows of a 16 x 16 tile of C in registers, while k walks over the tiles.
static void matmul(const float* a, const float* b, float* __restrict c, int n, int first, int last) {
  constexpr int kRows = 4;
  for (int row = first; row < last; row += kTile)
    for (int column = 0; column < n; column += kTile)
      for (int strip = row; strip < row + kTile; strip += kRows) {
        float sums[kRows][kTile] = {};
        for (int k = 0; k < n; ++k)
          for (int i = 0; i < kRows; ++i) {
            const float factor = a[(strip + i) * n + k];
            for (int j = 0; j < kTile; ++j) sums[i][j] += factor * b[k * n + column + j];
          }
        for (int i = 0; i < kRows; ++i)
          for (int j = 0; j < kTile; ++j) c[(strip + i) * n + column + j] = sums[i][j];
      }
}

/// A chunk of targets side by side, so that each source meets a vector of them.
static void nbody(const float* before, float* __restrict after, float* __restrict velocity, int n, int first,
                  int last) {
  constexpr int kChunk = 16;
  for (int start = first; start < last; start += kChunk) {
    float own_x[kChunk], own_y[kChunk], own_z[kChunk], x[kChunk] = {}, y[kChunk] = {}, z[kChunk] = {};
    for (int t = 0; t < kChunk; ++t) {
      own_x[t] = before[4 * (start + t)];
      own_y[t] = before[4 * (start + t) + 1];
      own_z[t] = before[4 * (start + t) + 2];
    }
    for (int source = 0; source < n; ++source) {
      const float sx = before[4 * source], sy = before[4 * source + 1], sz = before[4 * source + 2];
      const float mass = before[4 * source + 3];
      for (int t = 0; t < kChunk; ++t) {
        const float dx = sx - own_x[t], dy = sy - own_y[t], dz = sz - own_z[t];
        const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + kSoftening);
        const float strength = mass * inverse * inverse * inverse;
        x[t] += dx * strength;
        y[t] += dy * strength;
        z[t] += dz * strength;
      }
    }
    for (int t = 0; t < kChunk; ++t) {
      const float own[3] = {own_x[t], own_y[t], own_z[t]}, force[3] = {x[t], y[t], z[t]};
      for (int axis = 0; axis < 3; ++axis) {
        const int at = 4 * (start + t) + axis;
        velocity[at] += force[axis] * kTimeStep;
        after[at] = own[axis] + velocity[at] * kTimeStep;
      }
      after[4 * (start + t) + 3] = before[4 * (start + t) + 3];
    }
  }
}

static inline float heated(float here, float north, float south, float west, float east, float power) {
  return here + kPower * power + kAlongY * (south + north - 2.0f * here) +
         kAlongX * (east + west - 2.0f * here) + kAir * (kAmbient - here);
}

/// One row of a step; at the edge a cell is its own neighbour.
static void hotspot_row(const float* north, const float* here, const float* south, const float* power,
                        float* __restrict after, int side) {
  after[0] = heated(here[0], north[0], south[0], here[0], here[1], power[0]);
  for (int x = 1; x < side - 1; ++x)
    after[x] = heated(here[x], north[x], south[x], here[x - 1], here[x + 1], power[x]);
  const int x = side - 1;
  after[x] = heated(here[x], north[x], south[x], here[x - 1], here[x], power[x]);
}

static void hotspot_step(const float* before, const float* power, float* after, int side, int first,
                         int last) {
  for (int y = first; y < last; ++y) {
    const std::size_t row = std::size_t(y) * side;
    hotspot_row(before + (y > 0 ? row - side : row), before + row, before + (y < side - 1 ? row + side : row),
                power + row, after + row, side);
  }
}

/// Two steps in one pass: three rows of the first step live in the cache.
static void hotspot_pass(const float* before, const float* power, float* after, int side, int first,
                         int last) {
  std::vector<float> rows(std::size_t(3) * side);
  const auto middle = [&](int y) { return &rows[std::size_t(y % 3) * side]; };
  const auto advance = [&](int y) {
    const std::size_t row = std::size_t(y) * side;
    hotspot_row(before + (y > 0 ? row - side : row), before + row, before + (y < side - 1 ? row + side : row),
                power + row, middle(y), side);
  };
  for (int y = std::max(first - 1, 0); y <= first; ++y) advance(y);
  for (int y = first; y < last; ++y) {
    if (y < side - 1) advance(y + 1);
    const std::size_t row = std::size_t(y) * side;
    hotspot_row(middle(y > 0 ? y - 1 : y), middle(y), middle(y < side - 1 ? y + 1 : y), power + row,
                after + row, side);
  }
}

/// Both steps a tile at a time, as the kernel does them, with a halo that each tile computes for itself. Rows are computed in their
/// whole width, so that they are vectors, and what is not known kept as it was. Of tiles inside the grid.
static void hotspot_tile(const float* before, const float* power, float* __restrict after, int side, int left,
                         int top) {
  alignas(64) float padded[(kTile + 2) * kTile], heat[kTile * kTile], next[kTile * kTile];
  float* const tile = padded + kTile;
  for (int y = 0; y < kTile; ++y) {
    const std::int64_t row = std::int64_t(top + y) * side + left;
    std::memcpy(tile + y * kTile, before + row, kTile * sizeof(float));
    std::memcpy(heat + y * kTile, power + row, kTile * sizeof(float));
  }
  for (int done = 1; done <= kPyramid; ++done) {
    for (int y = done; y < kTile - done; ++y) {
      const float* const here = tile + y * kTile;
#pragma clang loop unroll(disable)
      for (int x = 0; x < kTile; ++x)
        next[y * kTile + x] =
            heated(here[x], here[x - kTile], here[x + kTile], here[x - 1], here[x + 1], heat[y * kTile + x]);
    }
    for (int y = done; y < kTile - done; ++y)
      std::memcpy(tile + y * kTile + done, next + y * kTile + done, (kTile - 2 * done) * sizeof(float));
  }
  for (int y = kPyramid; y < kTile - kPyramid; ++y)
    std::memcpy(after + std::int64_t(top + y) * side + left + kPyramid, tile + y * kTile + kPyramid,
                (kTile - 2 * kPyramid) * sizeof(float));
}

/// The same for tiles at the edge of the grid, where a cell is its own neighbour.
static void hotspot_edge_tile(const float* before, const float* power, float* after, int side, int left,
                              int top) {
  float tile[kTile][kTile] = {}, next[kTile][kTile] = {};
  const auto at = [&](int x, int y) { return std::int64_t(top + y) * side + left + x; };
  const auto inside = [&](int x, int y) {
    return left + x >= 0 && left + x < side && top + y >= 0 && top + y < side;
  };
  for (int y = 0; y < kTile; ++y)
    for (int x = 0; x < kTile; ++x)
      if (inside(x, y)) tile[y][x] = before[at(x, y)];
  for (int done = 1; done <= kPyramid; ++done) {
    for (int y = done; y < kTile - done; ++y)
      for (int x = done; x < kTile - done; ++x)
        if (inside(x, y))
          next[y][x] = heated(tile[y][x], tile[inside(x, y - 1) ? y - 1 : y][x],
                              tile[inside(x, y + 1) ? y + 1 : y][x], tile[y][inside(x - 1, y) ? x - 1 : x],
                              tile[y][inside(x + 1, y) ? x + 1 : x], power[at(x, y)]);
    for (int y = done; y < kTile - done; ++y)
      for (int x = done; x < kTile - done; ++x) tile[y][x] = next[y][x];
  }
  for (int y = kPyramid; y < kTile - kPyramid; ++y)
    for (int x = kPyramid; x < kTile - kPyramid; ++x)
      if (inside(x, y)) after[at(x, y)] = tile[y][x];
}

static void hotspot_tiles(const float* before, const float* power, float* after, int side, int first,
                          int last) {
  constexpr int kInner = kTile - 2 * kPyramid;
  for (int row = first; row < last; ++row)
    for (int column = 0; column * kInner < side; ++column) {
      const int left = column * kInner - kPyramid, top = row * kInner - kPyramid;
      const bool is_inside = left > 0 && top > 0 && left + kTile < side && top + kTile < side;
      if (is_inside) {
        hotspot_tile(before, power, after, side, left, top);
      } else {
        hotspot_edge_tile(before, power, after, side, left, top);
      }
    }
}

static void stencil(const float* before, const float* power, float* __restrict after, int side, int first,
                    int last) {
  for (int y = std::max(first, 1); y < std::min(last, side - 1); ++y)
    for (int x = 1; x < side - 1; ++x) {
      const std::size_t i = std::size_t(y) * side + x;
      after[i] =
          before[i] +
          0.1f * (before[i - 1] + before[i + 1] + before[i - side] + before[i + side] - 4.0f * before[i]) +
          power[i];
    }
}

static void vecadd(const float* a, const float* b, float* __restrict c, int first, int last) {
  for (int i = first; i < last; ++i) c[i] = a[i] + b[i];
}

template <typename Work>
static void measure(const Options& options, const char* name, const float* result, std::size_t count,
                    Work work) {
  if (!options.wants(name)) return;
  std::vector<double> samples;
  for (int done = -1; done < options.repetitions; ++done) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (done >= 0) samples.push_back(took.count());
  }
  print_line(name, options.threads, median(samples), sum_of(result, count));
}

using Array = nuna::perf::Array<float>;

static void measure_grids(const Options& options) {
  const std::size_t cells = std::size_t(kGrid) * kGrid;
  const Array before(values(cells, 5, 320, 20), 0), power(values(cells, 6, 0, 0.01f), 1),
      after(values(cells, 7), 2);
  const Array middle(values(cells, 7), 3);
  const auto step = [&](const Array& from, const Array& to) {
    divided(options.threads, kGrid, 1, [&](int first, int last) {
      hotspot_step(from.get(), power.get(), to.get(), kGrid, first, last);
    });
  };
  static_assert(kPyramid == 2);
  measure(options, "hotspot_steps", after.get(), cells, [&] { step(before, middle), step(middle, after); });
  measure(options, "hotspot_pass", after.get(), cells, [&] {
    divided(options.threads, kGrid, 1, [&](int first, int last) {
      hotspot_pass(before.get(), power.get(), after.get(), kGrid, first, last);
    });
  });
  measure(options, "hotspot_tiles", after.get(), cells, [&] {
    constexpr int kInner = kTile - 2 * kPyramid;
    divided(options.threads, (kGrid + kInner - 1) / kInner, 1, [&](int first, int last) {
      hotspot_tiles(before.get(), power.get(), after.get(), kGrid, first, last);
    });
  });
  measure(options, "stencil", after.get(), cells, [&] {
    divided(options.threads, kGrid, 1, [&](int first, int last) {
      stencil(before.get(), power.get(), after.get(), kGrid, first, last);
    });
  });
}

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  if (options.wants("matmul")) {
    const std::size_t count = std::size_t(kMatrix) * kMatrix;
    const Array a(values(count, 1), 0), b(values(count, 2), 1), c(values(count, 3), 2);
    measure(options, "matmul", c.get(), count, [&] {
      divided(options.threads, kMatrix, kTile,
              [&](int first, int last) { matmul(a.get(), b.get(), c.get(), kMatrix, first, last); });
    });
  }
  if (options.wants("nbody")) {
    const std::size_t count = std::size_t(kBodies) * 4;
    const Array before(bodies(), 0), after(bodies(), 1), velocity(std::vector<float>(count, 0.0f), 2);
    measure(options, "nbody", after.get(), count, [&] {
      divided(options.threads, kBodies, 32, [&](int first, int last) {
        nbody(before.get(), after.get(), velocity.get(), kBodies, first, last);
      });
    });
  }
  if (options.wants("hotspot_steps") || options.wants("hotspot_pass") || options.wants("hotspot_tiles") ||
      options.wants("stencil"))
    measure_grids(options);
  if (options.wants("vecadd")) {
    const Array a(values(kVector, 1), 0), b(values(kVector, 2), 1), c(values(kVector, 3), 2);
    measure(options, "vecadd", c.get(), kVector, [&] {
      divided(options.threads, kVector, 1024,
              [&](int first, int last) { vecadd(a.get(), b.get(), c.get(), first, last); });
    });
  }
  return 0;
}
