#pragma once
// METG: the smallest granularity of tasks at which half of the computing power is used, by Task Bench's pattern "stencil_1d"
// and kernel "compute_bound" (Slaughter et al., SC 2020, sections III and V).
//
// In each step each of W points is a task that reads the outputs of the step before of its left neighbour, itself and its
// right neighbour, computes for a while and puts out 16 bytes, which say who wrote them: a task refuses others. There is
// one point per rank, each rank has one worker. The efficiency of a step is the time of the same computing in very long
// tasks over its own; the METG is its time where that is one half. One sweep halves the work until it is less, and
// takes the logarithm of the time between the last two for linear in the efficiency.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "perf/measure.hpp"

namespace nuna::perf {

/// What a task puts out.
struct Output {
  std::int64_t step;
  std::int64_t point;
};

/// Each iteration is 64 fused multiply-adds. Not inlined: both sides run the same instructions.
[[gnu::noinline]] inline void compute(std::int64_t iterations) {
  std::array<double, 64> values{};
  values.fill(1.2345);
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (double& value : values) value = std::fma(value, value, value);
  }
  keep(values);
}

/// One task: its inputs are those of the points around `point`, from the first that there is.
inline Output task(const Output* inputs, int count, Output self, std::int64_t iterations) {
  for (int i = 0; i < count; ++i) {
    if (inputs[i].step != self.step - 1 || std::abs(inputs[i].point - self.point) > 1) {
      throw std::runtime_error("a task read what no neighbour wrote in the step before");
    }
  }
  compute(iterations);
  return self;
}

/// `seconds(steps, iterations)` runs so many steps and returns their time, the same on every rank.
inline double metg_us(const std::function<double(int, std::int64_t)>& seconds) {
  constexpr std::int64_t kLongest = 1 << 22;  // about 50 ms
  constexpr double kSample = 0.05;            // seconds, about
  const auto step_us = [&](std::int64_t iterations, int steps) {
    std::vector<double> taken(3);
    for (double& us : taken) us = 1e6 * seconds(steps, iterations) / steps;
    return quartiles(taken).median;
  };
  double us = step_us(kLongest, 3);
  double efficiency = 1;
  const double us_of_iteration = us / double(kLongest);
  for (std::int64_t iterations = kLongest / 2; iterations > 0; iterations /= 2) {
    const double before_us = us;
    const double before = efficiency;
    us = step_us(iterations, std::clamp(int(1e6 * kSample / (us / 2)), 10, 2000));
    efficiency = us_of_iteration * double(iterations) / us;
    if (efficiency >= 0.5) continue;
    const double share = (before - 0.5) / (before - efficiency);
    return std::exp(std::log(before_us) + share * (std::log(us) - std::log(before_us)));
  }
  return us;
}

}  // namespace nuna::perf
