#pragma once
// What the tests of plain pointers share: kernels, sizes, and a counter's text.

#include <atomic>
#include <string>
#include <thread>

#include "kernels.hpp"

namespace nuna::test {

inline constexpr Index kPage = 4096 / sizeof(int);
inline constexpr Index kMany = 64 * 16 * kPage;  // 4 MiB

struct Scale {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const { x(t.global(0)) = x(t.global(0)) * 3 + 1; }
};

struct CopyTo {
  NUNA_KERNEL void operator()(Thread t, View<const int, 1> in, View<int, 1> out) const {
    out(t.global(0)) = in(t.global(0));
  }
};

// Waits until the test says so.
struct Held {
  std::atomic<bool>* go;
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    while (!go->load()) std::this_thread::yield();
    x(t.global(0)) = 7;
  }
};

inline std::string counted(const Context& context, const std::string& name) {
  const std::string all = context.stats();
  const std::size_t at = all.find("\"" + name + "\":");
  return at == std::string::npos ? "" : all.substr(at, all.find('}', at) - at + 1);
}

}  // namespace nuna::test
