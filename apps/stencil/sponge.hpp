#pragma once
// The absorbing frame of the model.

#include <cstdint>
#include <vector>

namespace stencil {

/// Factors along one axis of `points` points: 1 inside, falling smoothly to both faces over `width` points.
/// Multiplied into the field at every step (Cerjan et al., Geophysics 50 (1985), p. 705). `width` 0: no
/// sponge. Throws nuna::Error(invalid_argument) when the two sides meet.
std::vector<float> sponge_factors(std::int64_t points, std::int64_t width);

/// A width that suits an axis of `points` points: 40, or a fifth of the axis if that is less.
std::int64_t default_sponge(std::int64_t points);

}  // namespace stencil
