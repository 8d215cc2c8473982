#pragma once
// Small kernels that the tests of the API share.

#include <stdexcept>

#include "nuna/nuna.hpp"

namespace nuna::test {

struct AddOne {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const { x(t.global(0)) += 1; }
};

struct SetIndex {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = static_cast<int>(t.global(0));
  }
};

/// Sum of the neighbours within a radius of 1, clipped at the ends.
struct Neighbours {
  NUNA_KERNEL void operator()(Thread t, View<const int, 1> in, View<int, 1> out) const {
    const Index i = t.global(0);
    out(i) = in(i > 0 ? i - 1 : i) + in(i) + in(i + 1 < in.extent(0) ? i + 1 : i);
  }
};

struct Throws {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = 0;
    if (t.global(0) == 5) throw std::runtime_error("no luck");
  }
};

struct Nothing {
  NUNA_KERNEL void operator()(Thread) const {}
};

/// The code of the Error that `f` throws, and its text.
template <class F>
ErrorCode code_of(F f, std::string* text = nullptr) {
  try {
    f();
  } catch (const Error& e) {
    if (text != nullptr) *text = e.what();
    return e.code();
  }
  throw std::logic_error("no nuna::Error was thrown");
}

inline Options with_devices(int devices, int threads = 1) {
  Options o;
  o.devices = devices;
  o.threads_per_device = threads;
  return o;
}

}  // namespace nuna::test
