#include "stencil/sponge.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nuna/error.hpp"

namespace stencil {

std::vector<float> sponge_factors(std::int64_t points, std::int64_t width) {
  // Cerjan's 20 points of (0.015 d)^2 end at this exponent; a wider sponge reaches it more gently and
  // reflects less.
  constexpr double kExponentAtFace = 0.09;
  if (width < 0 || 2 * width >= points) {
    throw nuna::Error(nuna::ErrorCode::invalid_argument,
                      "a sponge of " + std::to_string(width) + " points on both sides does not fit into " +
                          std::to_string(points) + " points; use a smaller --sponge or a larger model");
  }
  std::vector<float> factors(static_cast<std::size_t>(points), 1.0f);
  for (std::int64_t i = 0; i < width; ++i) {
    const double depth = double(width - i) / double(width);
    const auto factor = static_cast<float>(std::exp(-kExponentAtFace * depth * depth));
    factors[std::size_t(i)] = factor;
    factors[std::size_t(points - 1 - i)] = factor;
  }
  return factors;
}

std::int64_t default_sponge(std::int64_t points) { return std::min<std::int64_t>(40, points / 5); }

}  // namespace stencil
