#pragma once
// Shape: transfers as few as possible and none too large. Pure.
//
// Pieces that touch are united first, so that a transfer pays its fixed cost once; what is larger than a limit is then cut,
// so that others get their turn on the lane and what depends on a part need not wait for the whole.

#include "base/boxes.hpp"

namespace nuna::transfer {

/// A copy between two places is cut into pieces of at most this many bytes.
inline constexpr Index kMostBytes = Index{16} << 20;

/// Unites boxes that form one box together, then cuts along the outermost axis that is longer than one index. The bytes
/// stay the same; boxes must be disjoint.
base::BoxList merged_and_cut(base::BoxList boxes, Index most_bytes = kMostBytes);

}  // namespace nuna::transfer
