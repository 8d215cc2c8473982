// Prints Nuna's METG in microseconds, as metg.hpp defines it: a launch is a step, its threads are the tasks.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "nuna/nuna.hpp"
#include "perf/metg.hpp"
#include "perf/ranks.hpp"

namespace {

namespace perf = nuna::perf;
using perf::Output;

struct First {
  void operator()(nuna::Thread t, nuna::View<Output, 1> out) const { out(t.global(0)) = {0, t.global(0)}; }
};

struct Task {
  void operator()(nuna::Thread t, nuna::View<const Output, 1> in, nuna::View<Output, 1> out,
                  std::int64_t step, std::int64_t iterations) const {
    const nuna::Index point = t.global(0);
    const nuna::Index left = point > 0 ? point - 1 : point;
    const nuna::Index right = point < in.extent(0) - 1 ? point + 1 : point;
    out(point) = perf::task(&in(left), int(right - left + 1), {step, point}, iterations);
  }
};

}  // namespace

int main() {
  nuna::Options options;
  options.devices = 1;
  options.threads_per_device = 1;
  nuna::Context context = nuna::Context::world(0, nullptr, options);
  const perf::Ranks ranks(2);
  nuna::Buffer<Output, 1> now(context, {context.ranks()});
  nuna::Buffer<Output, 1> next(context, {context.ranks()});
  context.launch("first", now.extents(), nuna::block(1), First{}, nuna::write(now));
  std::int64_t step = 0;
  const double us = perf::metg_us([&](int steps, std::int64_t iterations) {
    return perf::Ranks::slowest([&] {
      return perf::seconds_of([&] {
        for (int i = 0; i < steps; ++i) {
          context.launch("task", now.extents(), nuna::block(1), Task{}, nuna::read(now, nuna::halo(1)),
                         nuna::write(next), ++step, iterations);
          swap(now, next);
        }
        context.wait();
      });
    })();
  });
  std::printf("%.6g\n", us);
  return EXIT_SUCCESS;
}
