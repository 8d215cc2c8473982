#pragma once
// Partition: chooses the cut of a launch - contiguous parts along any axes in 1 to 3 dimensions.
//
// Pure: the same arguments give the same cut on every rank. Throws nuna::Error for what the user asked and cannot have.

#include <string_view>

#include "access/cut.hpp"
#include "nuna/domain.hpp"

namespace nuna::schedule {

/// Cuts domain.frame() into one part per device of every rank, at multiples of `block` from the frame's start.
///
/// domain.parts() is obeyed, or refused (invalid_argument: not the number of devices; too_few_blocks). Otherwise: one
/// axis (along(), or the slowest with enough blocks); if no axis has enough, the factors of the number of parts are
/// given to the axes with the most blocks per part; if that fails too, the axis with the most blocks is cut into
/// single blocks and the devices behind stay idle. Parts differ by at most one block unless weights() say otherwise.
/// `what` names the launch in errors.
access::Cut cut(const Domain& domain, const Extents& block, const access::Team& team, std::string_view what);

}  // namespace nuna::schedule
