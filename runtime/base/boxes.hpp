#pragma once
// Byte boxes: the sets of bytes that coherence, planning and transfers work on.
//
// A ByteBox is a product of four intervals: the buffer's three element axes (slowest first) and the byte inside an
// element. Whole elements have the byte interval [0, element size); broken elements, at the ends of odd byte
// ranges, have less. Pure values, no allocation inside a box; lists use inline storage for the usual few.

#include <absl/container/inlined_vector.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "nuna/box.hpp"

namespace nuna::base {

inline constexpr int kByteAxis = 3;

struct ByteBox {
  std::array<Interval, 4> axis{};

  const Interval& operator[](int a) const { return axis[static_cast<std::size_t>(a)]; }
  Interval& operator[](int a) { return axis[static_cast<std::size_t>(a)]; }
  bool empty() const { return axis[0].empty() || axis[1].empty() || axis[2].empty() || axis[3].empty(); }
  Index bytes() const { return axis[0].size() * axis[1].size() * axis[2].size() * axis[3].size(); }
  bool contains(const ByteBox& o) const {
    return o.empty() || (axis[0].contains(o.axis[0]) && axis[1].contains(o.axis[1]) &&
                         axis[2].contains(o.axis[2]) && axis[3].contains(o.axis[3]));
  }
  ByteBox intersect(const ByteBox& o) const {
    ByteBox r;
    for (std::size_t a = 0; a < axis.size(); ++a) r.axis[a] = axis[a].intersect(o.axis[a]);
    return r;
  }
  bool overlaps(const ByteBox& o) const { return !intersect(o).empty(); }
  friend bool operator==(const ByteBox&, const ByteBox&) = default;
  template <class H>
  friend H AbslHashValue(H h, const ByteBox& b) {
    for (const Interval& i : b.axis) h = H::combine(std::move(h), i.begin, i.end);
    return h;
  }
};

using BoxList = absl::InlinedVector<ByteBox, 4>;

/// Shape of a buffer: extents along three axes and bytes per element.
struct Shape {
  Extents extents;
  Index element_bytes = 1;

  /// Bytes of the dense row-major buffer.
  Index bytes() const { return extents.count() * element_bytes; }
  ByteBox whole() const {
    return {{Interval{0, extents.size[0]}, Interval{0, extents.size[1]}, Interval{0, extents.size[2]},
             Interval{0, element_bytes}}};
  }
  ByteBox of(const Box& elements) const {
    return {{elements.axis[0], elements.axis[1], elements.axis[2], Interval{0, element_bytes}}};
  }
  /// Whether a box is one run of bytes of it.
  bool is_run(const ByteBox& box) const {
    int outermost = 0;
    while (outermost < kByteAxis && box[outermost].size() == 1) ++outermost;
    for (int a = outermost + 1; a <= kByteAxis; ++a) {
      if (box[a] != whole()[a]) return false;
    }
    return true;
  }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Appends `from` minus `hole` to `out`: at most 8 disjoint boxes, in a fixed order that depends on nothing else.
void subtract(const ByteBox& from, const ByteBox& hole, BoxList& out);
/// Removes `hole` from every box of `boxes`.
void subtract(BoxList& boxes, const ByteBox& hole);

/// The box that `a` and `b` form together when they touch along exactly one axis and agree on the others (or one
/// contains the other).
std::optional<ByteBox> united(const ByteBox& a, const ByteBox& b);
/// Unites boxes as long as two of them form one; of long lists (over 64) only neighbours. Keeps the set of bytes.
void coalesce(BoxList& boxes);

/// The bytes [range.begin, range.end) of the dense row-major buffer, as disjoint boxes in ascending order: at most
/// 5 of whole elements and 2 broken elements (ARCHITECTURE, "D4 in detail").
BoxList boxes_of_range(const Shape& shape, Interval range);
/// The smallest range of dense byte offsets that holds `box`.
Interval hull_range(const Shape& shape, const ByteBox& box);
/// The smallest box that holds both; an empty one does not count.
ByteBox hull(const ByteBox& a, const ByteBox& b);

std::string to_string(const ByteBox& box);

}  // namespace nuna::base
