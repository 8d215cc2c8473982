#pragma once
// Pieces: the bytes of one message where they lie, as strided regions of places, in the order of the message. Pure but for the
// bytes.

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <span>

#include "base/ids.hpp"
#include "device/device.hpp"

namespace nuna::transfer {

struct Piece {
  base::PlaceId place;
  device::Region region;
};
using Pieces = absl::InlinedVector<Piece, 4>;

Index bytes_of(const Pieces& pieces);
/// The one run of memory that they are, or an empty span.
std::span<std::byte> one_run(const Pieces& pieces);

/// Copies bytes `part` of the message out of its pieces, or into them. For memory that the CPU may touch.
void pack(std::byte* to, const Pieces& from, Interval part);
void unpack(const Pieces& to, const std::byte* from, Interval part);
/// Bytes `part` from one list to another that holds as many, cut in whatever way.
void copy(const Pieces& to, const Pieces& from, Interval part);

}  // namespace nuna::transfer
