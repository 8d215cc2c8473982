// What a launch costs beyond a bare cuLaunchKernel: until one empty kernel is known to be complete, and of many in a row.

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "gpu/bare.hpp"
#include "gpu/gpu_kernels.hpp"

namespace nuna::gpu {
namespace {

constexpr double kMostMore = 3.0;   // us, the aim of the project
constexpr double kLeastMore = 0.1;  // what is less, or nothing, counts as this

/// Microseconds of one of `times` calls.
template <class Call>
double us_of(int times, Call&& call) {
  return 1e6 / times * perf::seconds_of(std::forward<Call>(call));
}

/// Two rows: the times, to know; and what ours takes more, against its limit.
void rows(const perf::Report& report, const std::string& name, const perf::Sample& ours,
          const perf::Sample& bare) {
  report.row({name + " / bare", "us", Better::less, perf::kNoAim}, ours, bare);
  report.row(
      {name + ", more than bare / 3 us", "us", Better::less, 1.0},
      [&] { return std::max(kLeastMore, ours() - bare()); }, [] { return kMostMore; });
}

}  // namespace

void measure_launches(const perf::Report& report, const Scale& scale) {
  const Bare bare;
  const int alone = scale.small ? 20 : 500;
  const int many = scale.small ? 100 : 10'000;

  void* found = nullptr;
  if (find_bare_empty(&found) != 0)
    throw Error(ErrorCode::unsupported, "the benchmark has no code for this GPU");
  const auto launch = [&bare, function = static_cast<CUfunction>(found)] {
    bare.check(bare.driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, bare.stream, nullptr, nullptr),
               "cuLaunchKernel");
  };
  const auto bare_alone = [&] {
    return us_of(alone, [&] {
      for (int i = 0; i < alone; ++i) {
        launch();
        bare.settle_by_event();
      }
    });
  };
  const auto bare_many = [&] {
    return us_of(many, [&] {
      for (int i = 0; i < many; ++i) launch();
      bare.settle_by_event();
    });
  };

  Rig rig(0, 64 * kMiB, device::make_host_pins(0));
  const EmptyKernel empty = empty_kernel();
  const auto run = [&] {
    device::KernelCall call;
    call.name = "empty";
    call.code = empty.code;
    call.closure = empty.closure;
    call.threads = Box{{0, 1}};
    return rig.device().run(std::move(call), {});
  };
  rows(
      report, "empty Device::run, each waited for",
      [&] {
        return us_of(alone, [&] {
          for (int i = 0; i < alone; ++i) run().wait();
        });
      },
      bare_alone);
  rows(
      report, "empty Device::run, " + std::to_string(many) + " and a wait",
      [&] {
        return us_of(many, [&] {
          base::Ticket last;
          for (int i = 0; i < many; ++i) last = run();
          last.wait();
        });
      },
      bare_many);

  Options one;
  one.kind = DeviceKind::cuda;
  one.devices = 1;
  Context context = Context::self(one);
  rows(
      report, "empty Context::launch, each waited for",
      [&] {
        return us_of(alone, [&] {
          for (int i = 0; i < alone; ++i) {
            launch_empty(context);
            context.wait();
          }
        });
      },
      bare_alone);
  rows(
      report, "empty Context::launch, " + std::to_string(many) + " and a wait",
      [&] {
        return us_of(many, [&] {
          for (int i = 0; i < many; ++i) launch_empty(context);
          context.wait();
        });
      },
      bare_many);
}

}  // namespace nuna::gpu
