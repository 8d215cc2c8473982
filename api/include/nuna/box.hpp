#pragma once
// Index boxes: the vocabulary in which grids, buffers and partitions are described.
//
// Axis 0 is the slowest (row-major order, as in C). Everything here is a plain value: copyable, thread-safe,
// without allocation.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "nuna/config.hpp"

namespace nuna {
inline namespace v0 {

using Index = std::int64_t;
inline constexpr int kMaxDims = 3;

/// A half-open range of indices: `begin` is included, `end` is not. Empty when end <= begin.
struct Interval {
  Index begin = 0;
  Index end = 0;

  NUNA_HOST_DEVICE constexpr Index size() const { return end > begin ? end - begin : 0; }
  NUNA_HOST_DEVICE constexpr bool empty() const { return end <= begin; }
  NUNA_HOST_DEVICE constexpr bool contains(Index i) const { return begin <= i && i < end; }
  NUNA_HOST_DEVICE constexpr bool contains(Interval o) const {
    return o.empty() || (begin <= o.begin && o.end <= end);
  }
  NUNA_HOST_DEVICE constexpr Interval intersect(Interval o) const {
    return {begin > o.begin ? begin : o.begin, end < o.end ? end : o.end};
  }
  friend constexpr bool operator==(Interval a, Interval b) { return a.begin == b.begin && a.end == b.end; }
  friend constexpr bool operator!=(Interval a, Interval b) { return !(a == b); }
};

/// Sizes along 1 to 3 axes, slowest first. Unused axes have size 1.
struct Extents {
  int dims = 1;
  std::array<Index, kMaxDims> size{1, 1, 1};

  constexpr Extents() = default;
  constexpr Extents(std::initializer_list<Index> sizes) : dims(0) {
    for (const Index s : sizes) {
      if (dims < kMaxDims) size[static_cast<std::size_t>(dims)] = s;
      ++dims;  // more than kMaxDims is refused where the extents are used
    }
  }
  constexpr Index operator[](int axis) const { return size[static_cast<std::size_t>(axis)]; }
  constexpr Index count() const { return size[0] * size[1] * size[2]; }
  friend constexpr bool operator==(const Extents& a, const Extents& b) {
    return a.dims == b.dims && a.size[0] == b.size[0] && a.size[1] == b.size[1] && a.size[2] == b.size[2];
  }
  friend constexpr bool operator!=(const Extents& a, const Extents& b) { return !(a == b); }
};

/// A product of intervals along 1 to 3 axes. Unused axes are [0, 1).
struct Box {
  int dims = 1;
  std::array<Interval, kMaxDims> axis{Interval{0, 1}, Interval{0, 1}, Interval{0, 1}};

  constexpr Box() = default;
  constexpr Box(std::initializer_list<Interval> intervals) : dims(0) {
    for (const Interval& i : intervals) {
      if (dims < kMaxDims) axis[static_cast<std::size_t>(dims)] = i;
      ++dims;
    }
  }
  /// The whole of `extents`.
  constexpr Box(const Extents& extents) : dims(extents.dims) {  // NOLINT(google-explicit-constructor)
    for (std::size_t a = 0; a < axis.size(); ++a) axis[a] = {0, extents.size[a]};
  }
  constexpr const Interval& operator[](int a) const { return axis[static_cast<std::size_t>(a)]; }
  constexpr Interval& operator[](int a) { return axis[static_cast<std::size_t>(a)]; }
  constexpr bool empty() const { return axis[0].empty() || axis[1].empty() || axis[2].empty(); }
  constexpr Index count() const { return axis[0].size() * axis[1].size() * axis[2].size(); }
  constexpr bool contains(const Box& o) const {
    return o.empty() ||
           (axis[0].contains(o.axis[0]) && axis[1].contains(o.axis[1]) && axis[2].contains(o.axis[2]));
  }
  constexpr Box intersect(const Box& o) const {
    Box r = *this;
    for (std::size_t a = 0; a < axis.size(); ++a) r.axis[a] = axis[a].intersect(o.axis[a]);
    return r;
  }
  friend constexpr bool operator==(const Box& a, const Box& b) {
    return a.axis[0] == b.axis[0] && a.axis[1] == b.axis[1] && a.axis[2] == b.axis[2];
  }
  friend constexpr bool operator!=(const Box& a, const Box& b) { return !(a == b); }
};

/// "[0, 4) x [2, 8)", with as many factors as the box has axes.
NUNA_API std::string to_string(const Box& box);
/// "4 x 8".
NUNA_API std::string to_string(const Extents& extents);

}  // namespace v0
}  // namespace nuna
