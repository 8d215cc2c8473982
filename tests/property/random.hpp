#pragma once
// Seeds and random numbers for property tests: the same seed gives the same test, everywhere.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::property {

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return mixed(a ^ mixed(b)); }

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed)) {}

  std::uint64_t bits() { return mixed(state_ += 0x9e3779b97f4a7c15U); }
  /// From `least` to `most`, both included.
  Index between(Index least, Index most) {
    return least + static_cast<Index>(bits() % static_cast<std::uint64_t>(most - least + 1));
  }
  int number(int least, int most) { return static_cast<int>(between(least, most)); }
  bool one_in(int n) { return number(1, n) == 1; }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<Index>(values.size()) - 1))];
  }
  /// A part of [0, size) that is not empty.
  Interval within(Index size) {
    const Index a = between(0, size - 1);
    const Index b = between(0, size - 1);
    return {a < b ? a : b, (a < b ? b : a) + 1};
  }

 private:
  std::uint64_t state_;
};

/// How many seeds a property is tried with: NUNA_TEST_SEEDS, or `by_default` (a tenth of it under sanitizers).
int seeds(int by_default);

/// Runs `body` for each seed, or only for NUNA_TEST_SEED. A seed fails when the body throws or an expectation fails; the first
/// one that does is printed with the command that repeats it, and ends the property.
void for_each_seed(int by_default, const std::function<void(std::uint64_t seed)>& body);

}  // namespace nuna::property
