#pragma once
// Overlap: which threads of a part need nothing of what is still on its way, so that they can run meanwhile. Pure.
//
// Works for any declared access: it only asks which bytes a box of threads touches. Equal inputs give equal results, and
// whatever the result is, running the interior first changes no bytes of a launch whose threads are unordered.

#include <absl/types/span.h>

#include <optional>
#include <vector>

#include "access/cut.hpp"
#include "plan/planner.hpp"

namespace nuna::residency {

/// Bytes at a part's place that a step moves while the interior runs.
struct Moving {
  int buffer = 0;  ///< its number in the launch
  base::ByteBox box;
  bool arrives = true;  ///< the step writes them; else it reads them, and the interior may do so as well
};

/// A part's threads, divided.
struct Division {
  std::optional<Box> interior;  ///< not empty
  std::vector<Box> boundary;    ///< the rest, at most six boxes
};

/// Divides `threads`, a part of `cut`, between blocks. The interior touches no byte that arrives and writes none that is
/// read; it is the largest box that is found by trimming one face after the other, O(moving * axes * log(threads)) boxes of
/// threads looked at. A user's function whose boxes for the pieces do not add up to those for the part is not
/// divided, nor one that throws for a piece.
Division divide(const access::Cut& cut, const Box& threads, const plan::Uses& uses,
                absl::Span<const Moving> moving);

}  // namespace nuna::residency
