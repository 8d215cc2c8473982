#pragma once
// Rows of one stride are rectangles in the plane of rows of that stride; so is their union, cut into bands.

#include <span>
#include <vector>

#include "access/polyhedral.hpp"

namespace nuna::access {

/// Appends the union of `group`, all of this stride or single rows, as disjoint rows. False: too many of them; nothing is appended.
bool append_bands(std::span<const Rows> group, Index stride, std::vector<Rows>* result);

}  // namespace nuna::access
