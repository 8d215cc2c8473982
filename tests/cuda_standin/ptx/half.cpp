// Numbers of 16 bits: converted only, they are computed with in wider types.

#include <bit>

#include "ptx/float.hpp"

namespace standin::ptx {

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

std::uint16_t double_to_half(double value, Rounding rounding) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value != value) return 0x7fff;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // In units of the last place, which is never below that of the smallest normal number.
  const int unit = std::max(exponent - 11, -24);
  const double scaled = std::ldexp(magnitude, -unit);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  const bool negative = sign != 0;
  bool up = false;
  if (rounding == Rounding::kNearest) up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
  if (rounding == Rounding::kUp) up = rest > 0 && !negative;
  if (rounding == Rounding::kDown) up = rest > 0 && negative;
  if (up) whole += 1;
  const double result = std::ldexp(whole, unit);
  if (result > 65504) {
    const bool infinite = rounding == Rounding::kNearest || (rounding == Rounding::kUp && !negative) ||
                          (rounding == Rounding::kDown && negative);
    return static_cast<std::uint16_t>(sign | (infinite ? 0x7c00 : 0x7bff));
  }
  if (result < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::ldexp(result, 24)));
  int power = 0;
  const double fraction = std::frexp(result, &power);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(power + 14) << 10 |
                                    (static_cast<std::uint16_t>(std::ldexp(fraction, 11)) & 0x3ff));
}

}  // namespace standin::ptx
