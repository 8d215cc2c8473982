// Prints StarPU's METG in microseconds, as metg.hpp defines it: tasks by starpu_mpi_task_insert, as Task Bench's program over
// StarPU inserts them, each on the rank that owns its point.
//
// The settings are the best of those tried with two ranks on two cores that had other work: one worker, the eager scheduler,
// StarPU's own binding (several times slower without), its usual polling (longer pauses, or yielding inside MPI, helped
// nothing; with STARPU_MPI_DRIVER_CALL_FREQUENCY set the program did not end). Its worker and its MPI thread share their
// rank's core and both spin.

#include <starpu_mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "perf/metg.hpp"
#include "perf/ranks.hpp"

namespace {

namespace perf = nuna::perf;
using perf::Output;

constexpr int kPoints = 2;

struct Work {
  Output self;
  std::int64_t iterations;
};

void run_task(void** buffers, void* arguments) {
  Work work{};
  starpu_codelet_unpack_args(arguments, &work);
  std::array<Output, kPoints> inputs{};
  for (std::size_t i = 0; i < kPoints; ++i) {
    inputs[i] = *reinterpret_cast<const Output*>(STARPU_VARIABLE_GET_PTR(buffers[i]));
  }
  *reinterpret_cast<Output*>(STARPU_VARIABLE_GET_PTR(buffers[kPoints])) =
      perf::task(inputs.data(), kPoints, work.self, work.iterations);
}

class StarPu {
 public:
  explicit StarPu(int rank) {
    setenv("STARPU_SILENT", "1", 1);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.sched_policy_name = "eager";
    conf.ncpus = 1;
    conf.ncuda = 0;
    conf.nopencl = 0;
    if (starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, &conf) != 0)
      perf::Ranks::fail("StarPU does not start here");
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = &run_task;
    codelet_.cpu_funcs_name[0] = "task";
    codelet_.nbuffers = kPoints + 1;
    for (int i = 0; i < kPoints; ++i) codelet_.modes[i] = STARPU_R;
    codelet_.modes[kPoints] = STARPU_W;
    int tag = 0;
    for (int turn = 0; turn < 2; ++turn) {
      for (int point = 0; point < kPoints; ++point) {
        Output& output = outputs_[turn][point];
        output = {0, point};
        starpu_variable_data_register(&handles_[turn][point], point == rank ? STARPU_MAIN_RAM : -1,
                                      point == rank ? reinterpret_cast<std::uintptr_t>(&output) : 0,
                                      sizeof output);
        starpu_mpi_data_register(handles_[turn][point], tag++, point);
      }
    }
  }
  ~StarPu() {
    for (auto& turn : handles_) {
      for (starpu_data_handle_t handle : turn) starpu_data_unregister(handle);
    }
    starpu_mpi_shutdown();
  }
  StarPu(const StarPu&) = delete;
  StarPu& operator=(const StarPu&) = delete;

  double seconds(int steps, std::int64_t iterations) {
    return perf::seconds_of([&] {
      for (int i = 0; i < steps; ++i) step(iterations);
      starpu_task_wait_for_all();
      starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    });
  }

 private:
  void step(std::int64_t iterations) {
    const auto& now = handles_[step_ % 2];
    ++step_;
    for (int point = 0; point < kPoints; ++point) {
      const Work work{{step_, point}, iterations};
      starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet_, STARPU_R, now[0], STARPU_R, now[1], STARPU_W,
                             handles_[step_ % 2][point], STARPU_VALUE, &work, sizeof work, 0);
    }
  }
  starpu_codelet codelet_{};
  starpu_data_handle_t handles_[2][kPoints]{};
  Output outputs_[2][kPoints]{};
  std::int64_t step_ = 0;
};

}  // namespace

int main() {
  const perf::Ranks ranks(kPoints);
  StarPu starpu(ranks.rank());
  std::printf("%.6g\n", perf::metg_us([&](int steps, std::int64_t iterations) {
                return perf::Ranks::slowest([&] { return starpu.seconds(steps, iterations); })();
              }));
  return EXIT_SUCCESS;
}
