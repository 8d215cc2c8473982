#pragma once
// The integer points of a few bounded variables under affine conditions, and the values that an affine function takes on them, as
// few sums of arithmetic progressions.
//
// Kernels' index arithmetic is made of few patterns, so that exact rewriting decides nearly all of it without a general solver of
// integer problems: block * size + thread is one variable where the threads fill the gaps between blocks; a variable that the
// function has not is eliminated where that is exact (unit factors, or room for any remainder); a pair of conditions l <= f <= u is
// a variable instead of a condition (quotients, remainders, bands). What is left is split at the values from which on a condition
// holds whatever the others are, and, last, into halves.

#include <functional>
#include <optional>
#include <vector>

#include "access/affine.hpp"

namespace nuna::access {

/// Both included.
struct Bounds {
  Wide least = -kInfinite;
  Wide most = kInfinite;
  static constexpr Wide kInfinite = Wide{1} << 62;  ///< no finite bound is as large
  bool empty() const { return least > most; }
  bool finite() const { return least > -kInfinite && most < kInfinite; }
  Wide size() const { return finite() ? most - least + 1 : kInfinite; }
};

struct Condition {
  Affine left;
  bool is_equality = false;  ///< left == 0; else left >= 0
};

struct Region {
  std::array<Bounds, kMaxVariables> bounds;
  int variables = 0;
  Affine value;  ///< the function that is asked for
  std::vector<Condition> conditions;
};

/// first + the sum of step * [0, count) over all steps: for each combination one value. Steps are positive, counts above 1.
struct Lattice {
  struct Step {
    Index step = 0;
    Index count = 0;
  };
  Index first = 0;
  std::vector<Step> steps;
};

enum class Outcome : std::uint8_t {
  done,
  unbounded,  ///< a variable has no end
  too_many,   ///< no steps left
  too_large,  ///< TooLarge
};

/// Hands all values to `take`, some of them more than once, and takes from `steps`, of about a microsecond each, what it needs. What
/// was handed over before another outcome than `done` is a part of the values. `take` may throw TooLarge.
Outcome enumerate(const Region& region, int* steps, const std::function<void(const Lattice&)>& take);

/// Whether it has a point; nothing: not found out with these steps, of which it takes what it needs.
std::optional<bool> has_point(Region region, int* steps);

/// From the least to past the largest of its values, or somewhat more; nothing: there is no such bound. Empty: no point.
std::optional<Interval> hull(const Region& region);

}  // namespace nuna::access
