#include "device/conformance_kernels.hpp"

#include <limits>
#include <stdexcept>

#include "nuna/closure.hpp"

namespace nuna::device::conformance {
namespace {

struct AddOne {
  NUNA_KERNEL void operator()(Thread t, View<std::int32_t, 3> v) const {
    ++v(t.global(0), t.global(1), t.global(2));
  }
};

struct AppendDigit {
  NUNA_KERNEL void operator()(Thread, View<std::int64_t, 1> number, int digit) const {
    number(0) = number(0) * 10 + digit;
  }
};

struct CountUp {
  NUNA_KERNEL void operator()(Thread, View<std::int64_t, 1> number, std::int64_t expected) const {
    if (number(0) == expected) {
      ++number(0);
      return;
    }
#if defined(__CUDA_ARCH__)
    number(0) = std::numeric_limits<std::int64_t>::min();
#else
    throw std::runtime_error("out of order");
#endif
  }
};

struct Busy {
  NUNA_KERNEL void operator()(Thread, View<std::int64_t, 1> sum, std::int64_t rounds) const {
    for (std::int64_t i = 0; i < rounds; ++i) sum(0) += i * i;
  }
};

struct Wild {
  NUNA_KERNEL void operator()(Thread, View<std::int64_t, 1> number) const {
    number(std::int64_t{1} << 50) = 1;
  }
};

template <class Kernel, class... Arguments, class... Values>
TestKernel made(Values... values) {
  using detail::ThisCompiler;
  using Closure = detail::Closure<ThisCompiler, Kernel, Arguments..., Values...>;
  using Held = detail::HeldClosure<Closure>;
  Closure closure{Kernel{}, detail::pack(typename detail::Bound<Arguments>::Stored{}..., values...)};
  return {detail::code_of<Closure>(), std::make_shared<const Held>(Held{closure, {}})};
}

}  // namespace

TestKernel add_one() { return made<AddOne, Argument<std::int32_t, 3>>(); }
TestKernel append_digit(int digit) { return made<AppendDigit, Argument<std::int64_t, 1>>(digit); }
TestKernel count_up(std::int64_t expected) { return made<CountUp, Argument<std::int64_t, 1>>(expected); }
TestKernel busy(std::int64_t rounds) { return made<Busy, Argument<std::int64_t, 1>>(rounds); }
TestKernel wild() { return made<Wild, Argument<std::int64_t, 1>>(); }
TestKernel failing() {
  TestKernel kernel;
  kernel.code.run = [](const void*, const Box&, const detail::InstanceView*) {
    throw std::runtime_error("always");
  };
  return kernel;
}

}  // namespace nuna::device::conformance
