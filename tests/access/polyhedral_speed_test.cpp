// How long a first launch waits for its analysis. Printed; only what is far too long fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "access/kernels.hpp"

namespace nuna::access::test {
namespace {

constexpr Index kDevices = 4;

/// What a first launch on four devices asks.
void ask(const Kernel& kernel, const LaunchNumbers& numbers, int axis) {
  LaunchAccess launch = kernel.at(numbers);
  const Index grid = numbers.grid[static_cast<std::size_t>(axis)];
  (void)launch.is_disjoint(axis, {grid / 4, grid / 2, grid - grid / 4});
  for (Index d = 0; d < kDevices; ++d) {
    const BlockBox part = blocks(numbers, axis, {grid * d / kDevices, grid * (d + 1) / kDevices});
    for (std::uint32_t pointer = 0; pointer < kernel.model().pointers.size(); ++pointer) {
      if (launch.reads(pointer)) (void)launch.read(pointer, part);
      if (launch.writes(pointer)) (void)launch.written(pointer, part);
    }
  }
}

double best_us(const Kernel& kernel, const LaunchNumbers& numbers, int axis) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    ask(kernel, numbers, axis);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

TEST(FirstLaunch, WaitsForMicroseconds) {
  struct Case {
    const char* name;
    Kernel kernel;
    LaunchNumbers numbers;
    int axis;
  };
  const Sum x = global(0);
  const Sum k = extra(0);
  const Sum round = x + block_size(0) * grid_size(0) * k;
  const Sum n = scalar(0);
  const Case cases[] = {
      {"stencil, rows", stencil(), {{16, 16, 1}, {256, 256, 1}, {4096, 4096}}, 1},
      {"stencil, columns", stencil(), {{16, 16, 1}, {256, 256, 1}, {4096, 4096}}, 0},
      {"tiled product", tiled_product(), {{16, 16, 1}, {32, 32, 1}, {512}}, 1},
      {"n-body", n_body(), {{256, 1, 1}, {64, 1, 1}, {16384}}, 0},
      {"loop over the grid",
       Kernel().with_extra(1).writes(kOut, round, {Sum(0) <= k, round < n}),
       {{256, 1, 1}, {64, 1, 1}, {1'000'000}},
       0},
      {"remainders",
       Kernel().with_extra(1).writes(kOut, Sum(200) * k + (x - n * k), {n * k <= x, x < n * k + n}),
       {{256, 1, 1}, {4096, 1, 1}, {100}},
       0},
      {"triangle of 4096 rows",
       Kernel().with_extra(1).writes(kOut, n * x + k, {Sum(0) <= k, k <= x}),
       {{256, 1, 1}, {16, 1, 1}, {4096}},
       0},
      {"triangle that is too large",
       Kernel().with_extra(1).writes(kOut, n * x + k, {Sum(0) <= k, k <= x}),
       {{256, 1, 1}, {1024, 1, 1}, {262'144}},
       0},
  };
  for (const Case& c : cases) {
    const double us = best_us(c.kernel, c.numbers, c.axis);
    std::printf("  %-28s %9.1f us\n", c.name, us);
    RecordProperty(c.name, std::to_string(us));
    EXPECT_LT(us, 10e6);
  }
}

}  // namespace
}  // namespace nuna::access::test
