#pragma once
// Floating-point arithmetic as the cards do it: IEEE 754 in the rounding that an instruction names.

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace standin::ptx {

enum class Rounding : std::uint32_t { kNearest, kZero, kDown, kUp };

/// Runs `compute` in a rounding mode. What it reads must be volatile, or the compiler may compute it elsewhere.
template <class Compute>
auto rounded(Rounding rounding, const Compute& compute) {
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  if (rounding == Rounding::kNearest) return compute();
  std::fesetround(kModes[static_cast<std::uint32_t>(rounding)]);
  volatile auto result = compute();
  std::fesetround(FE_TONEAREST);
  return static_cast<decltype(compute())>(result);
}

/// Denormal numbers become zeros of their sign.
template <class T>
T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

/// [0, 1], and 0 for NaN.
template <class T>
T saturated(T value) {
  return !(value > 0) ? T{0} : value > 1 ? T{1} : value;
}

/// Every float NaN that arithmetic makes is this one; doubles keep what the operands had.
template <class T>
T canonical(T value) {
  if constexpr (sizeof(T) == 4)
    if (value != value) return std::bit_cast<T>(std::uint32_t{0x7fffffff});
  return value;
}

float half_to_float(std::uint16_t half);
/// Rounds once, from double: every sum and product of halves is exact there.
std::uint16_t double_to_half(double value, Rounding rounding);

}  // namespace standin::ptx
