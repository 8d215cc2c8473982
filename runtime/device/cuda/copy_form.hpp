#pragma once
// Whether a copy engine can make a strided copy in one call, and how. Pure.

#include <optional>

#include "device/nest.hpp"

namespace nuna::device::cuda {

/// `depth` x `height` rows of `width` bytes. A pitch is the distance of rows, a slice that of planes, which engines want as a
/// whole number of rows.
struct CopyForm {
  Index width = 0;
  Index height = 1;
  Index depth = 1;
  Index to_pitch = 0;
  Index from_pitch = 0;
  Index to_rows = 0;  ///< rows of a plane's slice
  Index from_rows = 0;
  friend bool operator==(const CopyForm&, const CopyForm&) = default;
};

/// Rows shorter than this are slower by engine than by a kernel.
inline constexpr Index kLeastRowBytes = 64;
inline constexpr Index kMostPitchBytes = (Index{1} << 31) - 1;

/// Nothing for what needs a kernel: more axes, rows that are short, or slices that are no whole number of rows.
std::optional<CopyForm> copy_form(const Nest& nest);

/// The largest of 16, 8, 4, 2, 1 that divides addresses, runs and strides of both: what a kernel moves at a time.
int unit_of(const Region& to, const Region& from);

}  // namespace nuna::device::cuda
