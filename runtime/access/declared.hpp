#pragma once
// Declared access evaluated: from a box of threads to the boxes of bytes that it touches.
//
// Pure; the errors are the user's (ErrorCode::out_of_bounds, invalid_argument) and name axis and range.

#include <string_view>
#include <vector>

#include "base/boxes.hpp"
#include "nuna/access_map.hpp"

namespace nuna::access {

/// What a monotone rule touches of one buffer axis of size `extent` for threads [t.begin, t.end): the halo is clipped,
/// the rest is not (see check_inside).
inline Interval touched(const AxisRule& rule, Interval threads, Index extent) {
  if (rule.from == AxisRule::kAll) return {0, extent};
  if (rule.from == AxisRule::kFixed) return {rule.offset, rule.offset + rule.tile};
  const Index begin = threads.begin * rule.tile + rule.offset - rule.before;
  const Index end = threads.end * rule.tile + rule.offset + rule.after;
  return {begin > 0 ? begin : 0, end < extent ? end : extent};
}

/// The box that a monotone map touches for a non-empty box of threads.
base::ByteBox touched_box(const AccessMap& map, const base::Shape& shape, const Box& threads);

/// The boxes that a user's function gives for a part, empty ones left out. Throws Error (out_of_bounds) when one leaves
/// the buffer.
base::BoxList function_boxes(const AccessMap& map, const base::Shape& shape, const Part& part);

/// The boxes that either kind of map touches for a non-empty part.
base::BoxList touched_boxes(const AccessMap& map, const base::Shape& shape, const Part& part);

/// Throws Error (out_of_bounds) when a monotone map, without its halo, leaves the buffer for some thread of `domain`;
/// Error (invalid_argument) when a rule makes no sense (a launch axis that is not there, a tile or halo below
/// its least). `what` names argument and launch in the text.
void check_inside(const AccessMap& map, const base::Shape& shape, const Box& domain, std::string_view what);

}  // namespace nuna::access
