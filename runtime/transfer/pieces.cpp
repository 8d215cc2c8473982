#include "transfer/pieces.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "device/region_bytes.hpp"

namespace nuna::transfer {
namespace {

using device::Region;

/// Calls f(piece, its bytes of the part, where the piece begins in the message) for every piece that the part meets.
template <class F>
void for_each_in(const Pieces& pieces, Interval part, F f) {
  Index begin = 0;
  for (const Piece& piece : pieces) {
    const Index end = begin + piece.region.bytes();
    const Interval mine = part.intersect({begin, end});
    if (!mine.empty()) f(piece.region, Interval{mine.begin - begin, mine.end - begin}, begin);
    begin = end;
  }
}

// Of `bytes` contiguous bytes, of which byte `at` lies at `here`.
Region run_around(const std::byte* here, Index at, Index bytes) {
  Region r;
  r.first = const_cast<std::byte*>(here) - at;
  r.run_bytes = bytes;
  return r;
}

}  // namespace

Index bytes_of(const Pieces& pieces) {
  Index sum = 0;
  for (const Piece& p : pieces) sum += p.region.bytes();
  return sum;
}

std::span<std::byte> one_run(const Pieces& pieces) {
  if (pieces.size() != 1 || !pieces.front().region.contiguous()) return {};
  return {pieces.front().region.first, static_cast<std::size_t>(pieces.front().region.bytes())};
}

void pack(std::byte* to, const Pieces& from, Interval part) {
  for_each_in(from, part, [&](const Region& region, Interval mine, Index begin) {
    device::copy_part(run_around(to + (begin + mine.begin - part.begin), mine.begin, region.bytes()), region,
                      mine);
  });
}

void unpack(const Pieces& to, const std::byte* from, Interval part) {
  for_each_in(to, part, [&](const Region& region, Interval mine, Index begin) {
    device::copy_part(region,
                      run_around(from + (begin + mine.begin - part.begin), mine.begin, region.bytes()), mine);
  });
}

// Pieces are cut alike on both sides, as a rule; else what is cut differently goes through a small buffer.
void copy(const Pieces& to, const Pieces& from, Interval part) {
  const bool alike = to.size() == from.size() &&
                     std::equal(to.begin(), to.end(), from.begin(), [](const Piece& a, const Piece& b) {
                       return a.region.bytes() == b.region.bytes();
                     });
  if (alike) {
    Index begin = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Index end = begin + to[i].region.bytes();
      const Interval mine = part.intersect({begin, end});
      if (!mine.empty())
        device::copy_part(to[i].region, from[i].region, {mine.begin - begin, mine.end - begin});
      begin = end;
    }
    return;
  }
  std::array<std::byte, 16384> buffer;
  for (Index at = part.begin; at < part.end;) {
    const Index end = std::min(part.end, at + static_cast<Index>(buffer.size()));
    pack(buffer.data(), from, {at, end});
    unpack(to, buffer.data(), {at, end});
    at = end;
  }
}

}  // namespace nuna::transfer
