// The stencil of apps/stencil on 320^3 points: Nuna against a plain loop of the same arithmetic and blocking,
// on one core, and against the same loop under OpenMP, on two.

#include <sched.h>

#include <sched.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "nuna/nuna.hpp"
#include "perf/measure.hpp"
#include "perf/wave.hpp"

namespace {

using namespace nuna::perf;

class Peer {
 public:
  Peer(const Model& model, int threads) : threads_(threads), loop_(model) {}
  double milliseconds_of_step() {
    return 1e3 / kSteps * seconds_of([&] {
             for (int step = 0; step < kSteps; ++step) advance();
           });
  }
  void advance() {
    if (threads_ == 1) {
      loop_.compute(first(0), first(1));
    } else {
#pragma omp parallel for num_threads(threads_) schedule(static)
      for (int t = 0; t < threads_; ++t) loop_.compute(first(t), first(t + 1));
    }
    loop_.turn();
  }
  const float* now() const { return loop_.now(); }

 private:
  nuna::Index first(int thread) const {
    return kPadding + (loop_.planes() - 2 * kPadding) * thread / threads_;
  }
  int threads_;
  WaveLoop loop_;
};

void use_cores(int begin, int end) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int core = begin; core < end; ++core) CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

void measure(const Report& report, const Model& model, const char* name, double aim, int devices,
             int threads) {
  nuna::Options options;
  options.devices = devices;
  options.threads_per_device = threads;
  WaveOnNuna ours(nuna::Context::self(options), model);
  Peer peer(model, devices * threads);
  for (int step = 0; step < 3; ++step) {
    ours.advance();
    peer.advance();
  }
  if (!ours.equals({0, kPlanes}, peer.now())) {
    std::fprintf(stderr, "perf_stencil: %s computes something else than its peer\n", name);
    std::exit(EXIT_FAILURE);
  }
  report.row(
      {name, "ms", Better::less, aim}, [&] { return ours.milliseconds_of_step(); },
      [&] { return peer.milliseconds_of_step(); });
}

}  // namespace

int main(int argc, char** argv) {
  const Report report(argc, argv);
  // A process's first gigabyte gets the scattered pages that others gave back; whoever takes it is up to 8 % slower than
  // who comes later. So nobody's arrays lie there.
  const std::vector<char> first_pages(std::size_t{3} << 29, 1);
  keep(first_pages.data());
  const Model model;
  use_cores(1, 2);  // also the workers, which start with the affinity of this thread
  measure(report, model, "stencil 320^3, 1 device x 1 thread / serial", 0.98, 1, 1);
  use_cores(0, 2);
  measure(report, model, "stencil 320^3, 1 device x 2 threads / OpenMP", 0.95, 1, 2);
  measure(report, model, "stencil 320^3, 2 devices x 1 thread / OpenMP", 0.95, 2, 1);
  return 0;
}
