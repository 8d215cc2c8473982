#pragma once
// The rules by which a region is rewritten without changing which values its function takes (region.hpp). Throw TooLarge.

#include "access/region.hpp"

namespace nuna::access {

/// Rewrites it until no rule applies. False: it has no point. Afterwards no condition is of a single variable, none holds or fails
/// for all values within the bounds; if there are none, the function's variables within their bounds are the answer.
bool simplify(Region& region);

/// The least value (or the largest: of -f), other than that of variable `without`; nothing: there is none.
std::optional<Wide> least(const Affine& f, const Region& region, int without = kNoVariable);
std::optional<Wide> most(const Affine& f, const Region& region, int without = kNoVariable);

}  // namespace nuna::access
