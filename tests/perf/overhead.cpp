// What Nuna's own bookkeeping costs the stencil of apps/stencil: CPU time of the planner (plans and their cache) and of the
// tracker (directory, residency, order of operations) as a share of the run's time.
//
// Both work on the thread that calls Nuna. So all CPU time of that thread is counted, from the end of the first step's
// calls to the end of the last one's, which includes the public API, the queues and waiting for room in them. (The
// Context's own counters, planner_ns and tracker_ns, read the wall clock, and on a machine with more threads than cores
// they count what other threads do in between.)

#include <ctime>

#include <cstdint>

#include "nuna/context.hpp"
#include "perf/measure.hpp"
#include "stencil/experiment.hpp"
#include "stencil/simulation.hpp"
#include "stencil/velocity_model.hpp"

namespace {

constexpr std::int64_t kPoints = 320;
constexpr std::int64_t kSteps = 20;
constexpr double kMostPercent = 0.5;

stencil::Experiment experiment() {
  stencil::Choices choices;
  choices.steps = kSteps;
  return stencil::make_experiment(stencil::constant_velocity({kPoints, kPoints, kPoints}, 10.0, 1, 2000.0),
                                  choices);
}

// Of the calling thread.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double percent(int devices, int threads) {
  nuna::Options options;
  options.devices = devices;
  options.threads_per_device = threads;
  nuna::Context context = nuna::Context::self(options);
  double first = 0;
  double last = 0;
  const auto note = [&](std::int64_t step) { (step == 1 ? first : last) = cpu_seconds(); };
  const double seconds = stencil::simulate(context, experiment(), note).seconds;
  return 100 * (last - first) / (seconds * (kSteps - 1) / kSteps);
}

}  // namespace

int main(int argc, char** argv) {
  const nuna::perf::Report report(argc, argv);
  using nuna::perf::Better;
  report.counted({"planner and tracker, stencil 320^3, 1 x 2 / 0.5 %", "%", Better::less, 1.0}, percent(1, 2),
                 kMostPercent);
  report.counted({"planner and tracker, stencil 320^3, 2 x 1 / 0.5 %", "%", Better::less, 1.0}, percent(2, 1),
                 kMostPercent);
  return 0;
}
