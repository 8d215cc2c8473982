// What the colours of large buffers are worth (address/arena.hpp): the same loops over arrays where the arena puts them, and over
// arrays whose addresses are equal in their low bits.

#include <sys/mman.h>

#include <array>
#include <chrono>
#include <cstring>

#include "address/arena.hpp"
#include "base/check.hpp"
#include "perf/measure.hpp"

namespace {

using nuna::Index;

constexpr Index kBytes = Index{32} << 20;
constexpr Index kRange = Index{1} << 30;
constexpr std::size_t kArrays = 5;

using Arrays = std::array<std::byte*, kArrays>;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double copy_rate(const Arrays& arrays) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 1; i < kArrays; ++i) std::memcpy(arrays[0], arrays[i], kBytes);
  nuna::perf::keep(arrays[0]);
  return static_cast<double>(kBytes * (kArrays - 1)) / seconds_since(begin) * 1e-9;
}

// One array made of four, as a stencil reads and writes them.
double sum_rate(const Arrays& arrays) {
  const auto begin = std::chrono::steady_clock::now();
  auto* const out = reinterpret_cast<float*>(arrays[0]);
  const auto* const a = reinterpret_cast<const float*>(arrays[1]);
  const auto* const b = reinterpret_cast<const float*>(arrays[2]);
  const auto* const c = reinterpret_cast<const float*>(arrays[3]);
  const auto* const d = reinterpret_cast<const float*>(arrays[4]);
  for (Index i = 0; i < kBytes / 4; ++i) out[i] = a[i] + 2.0F * b[i] - c[i] * d[i];
  nuna::perf::keep(arrays[0]);
  return static_cast<double>(kBytes * kArrays) / seconds_since(begin) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const nuna::perf::Report report(argc, argv);
  void* const memory =
      mmap(nullptr, 2 * kRange, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  nuna::base::check(memory != MAP_FAILED, "the benchmark has no memory");
  auto* const first = static_cast<std::byte*>(memory);
  nuna::address::Arena arena(kRange);
  Arrays ours{};
  Arrays equal{};
  for (std::size_t i = 0; i < kArrays; ++i) {
    ours[i] = first + arena.allocate(kBytes);
    equal[i] = first + kRange + static_cast<Index>(i) * 2 * kBytes;
    std::memset(ours[i], static_cast<int>(i), kBytes);
    std::memset(equal[i], static_cast<int>(i), kBytes);
  }
  using nuna::perf::Better;
  report.row(
      {"copy, arena's colours / equal low address bits", "GB/s", Better::more, 1.0},
      [&] { return copy_rate(ours); }, [&] { return copy_rate(equal); });
  report.row(
      {"sum of four, arena's colours / equal low address bits", "GB/s", Better::more, 1.0},
      [&] { return sum_rate(ours); }, [&] { return sum_rate(equal); });
  return 0;
}
