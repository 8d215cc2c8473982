// 100,000 empty launches and one wait, on one worker, against the same tasks on StarPU: starpu_task_insert of an
// empty codelet without data.
//
// Each side's worker sleeps while the other side is timed. StarPU runs its eager scheduler, the quickest of its own for
// one worker.

#include <starpu.h>

#include <cstdio>
#include <cstdlib>

#include "nuna/nuna.hpp"
#include "perf/measure.hpp"

namespace {

constexpr int kLaunches = 100'000;

struct Empty {
  void operator()(nuna::Thread) const {}
};

double nuna_us(nuna::Context& context) {
  return 1e6 / kLaunches * nuna::perf::seconds_of([&] {
           for (int i = 0; i < kLaunches; ++i) context.launch("empty", {1}, nuna::block(1), Empty{});
           context.wait();
         });
}

class StarPu {
 public:
  StarPu() {
    setenv("STARPU_SILENT", "1", 1);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.sched_policy_name = "eager";
    conf.ncpus = 1;
    conf.ncuda = 0;
    conf.nopencl = 0;
    if (starpu_init(&conf) != 0) {
      std::fprintf(stderr, "perf_launches: StarPU does not start here\n");
      std::exit(EXIT_FAILURE);
    }
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = [](void**, void*) {};
    codelet_.cpu_funcs_name[0] = "empty";
    codelet_.nbuffers = 0;
    starpu_pause();
  }
  ~StarPu() {
    starpu_resume();
    starpu_shutdown();
  }
  StarPu(const StarPu&) = delete;
  StarPu& operator=(const StarPu&) = delete;

  double us() {
    starpu_resume();
    const double seconds = nuna::perf::seconds_of([&] {
      for (int i = 0; i < kLaunches; ++i) starpu_task_insert(&codelet_, 0);
      starpu_task_wait_for_all();
    });
    starpu_pause();
    return 1e6 / kLaunches * seconds;
  }

 private:
  starpu_codelet codelet_{};
};

}  // namespace

int main(int argc, char** argv) {
  const nuna::perf::Report report(argc, argv);
  nuna::Options options;
  options.devices = 1;
  options.threads_per_device = 1;
  nuna::Context context = nuna::Context::self(options);
  StarPu starpu;
  report.row(
      {"empty launch, 100,000 and a wait / StarPU", "us", nuna::perf::Better::less, 2.0},
      [&] { return nuna_us(context); }, [&] { return starpu.us(); });
}
