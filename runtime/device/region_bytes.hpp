#pragma once
// Copying and filling strided regions with the CPU. Pure apart from the bytes themselves; nothing allocates.
//
// The bytes of a region are counted in the order of its runs, from 0; a `part` is an interval of that count,
// so that several threads can share one operation whatever its shape.

#include <cstddef>

#include "device/device.hpp"

namespace nuna::device {

/// Bytes in a region.
inline Index bytes(const Region& r) { return r.counts[0] * r.counts[1] * r.counts[2] * r.run_bytes; }

/// The addresses from a region's lowest byte up to its highest (excluded).
struct Hull {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};
Hull hull(const Region& region);

/// Whether some byte lies in both. Exact; takes a moment only for regions that interleave.
bool overlap(const Region& a, const Region& b);
/// Whether both are the same bytes in the same order.
bool identical(const Region& a, const Region& b);

/// Copies bytes `part` of `from` onto bytes `part` of `to`. Both have the same number of bytes and are
/// identical or do not overlap.
void copy_part(const Region& to, const Region& from, Interval part);
/// Sets bytes `part` of `to`.
void fill_part(const Region& to, std::byte value, Interval part);

}  // namespace nuna::device
