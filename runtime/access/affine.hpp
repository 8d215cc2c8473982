#pragma once
// Polynomials of a kernel's model with the numbers of a launch put in: affine in the variables.
//
// All numbers stay below kMost, so that sums of products of two of them fit into 128 bits; larger ones throw TooLarge, which this
// layer turns into a refusal.

#include <array>
#include <cstdint>
#include <span>

#include "access/kernel_model.hpp"
#include "nuna/box.hpp"

namespace nuna::access {

__extension__ using Wide = __int128;
inline constexpr Wide kMost = Wide{1} << 60;

/// Blocks, threads, and what an access has of its own (kernel_model.hpp).
inline constexpr int kMaxVariables = 24;

struct TooLarge {};

/// Throws TooLarge.
inline Index narrow(Wide number) {
  if (number > kMost || number < -kMost) throw TooLarge{};
  return static_cast<Index>(number);
}

inline Wide floor_div(Wide a, Wide positive) { return a / positive - (a % positive < 0 ? 1 : 0); }
inline Wide ceil_div(Wide a, Wide positive) { return -floor_div(-a, positive); }

/// The sum of factors times variables, and a constant.
struct Affine {
  std::array<Index, kMaxVariables> factors{};
  Index constant = 0;

  Index& operator[](int variable) { return factors[static_cast<std::size_t>(variable)]; }
  Index operator[](int variable) const { return factors[static_cast<std::size_t>(variable)]; }

  /// Adds `times` * other. Throws TooLarge.
  void add(const Affine& other, Wide times);
};

/// `numbers`: of all parameters. Throws TooLarge.
Affine put_numbers_in(const Polynomial& polynomial, std::span<const std::int64_t> numbers);

/// A derived parameter, of the numbers of those before it. What it is not defined for, and what is too large, is a number beyond kMost,
/// so that put_numbers_in() throws where it is used.
std::int64_t derive(const Parameter& parameter, std::span<const std::int64_t> numbers) noexcept;

}  // namespace nuna::access
