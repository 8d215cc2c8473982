#include "base/boxes.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace nuna {
inline namespace v0 {

std::string to_string(const Box& box) {
  std::string text;
  for (int a = 0; a < std::clamp(box.dims, 1, kMaxDims); ++a) {
    if (a > 0) text += " x ";
    text += "[" + std::to_string(box[a].begin) + ", " + std::to_string(box[a].end) + ")";
  }
  return text;
}

std::string to_string(const Extents& extents) {
  std::string text = std::to_string(extents[0]);
  for (int a = 1; a < std::clamp(extents.dims, 1, kMaxDims); ++a) text += " x " + std::to_string(extents[a]);
  return text;
}

}  // namespace v0
}  // namespace nuna

namespace nuna::base {

void subtract(const ByteBox& from, const ByteBox& hole, BoxList& out) {
  const ByteBox common = from.intersect(hole);
  if (common.empty()) {
    if (!from.empty()) out.push_back(from);
    return;
  }
  ByteBox rest = from;  // peel one axis after the other; what remains at the end is the hole
  for (int a = 0; a < 4; ++a) {
    if (rest[a].begin < common[a].begin) {
      ByteBox before = rest;
      before[a].end = common[a].begin;
      out.push_back(before);
    }
    if (common[a].end < rest[a].end) {
      ByteBox after = rest;
      after[a].begin = common[a].end;
      out.push_back(after);
    }
    rest[a] = common[a];
  }
}

void subtract(BoxList& boxes, const ByteBox& hole) {
  if (std::none_of(boxes.begin(), boxes.end(), [&](const ByteBox& b) { return b.overlaps(hole); })) return;
  BoxList rest;
  for (const ByteBox& b : boxes) subtract(b, hole, rest);
  boxes = std::move(rest);
}

std::optional<ByteBox> united(const ByteBox& a, const ByteBox& b) {
  if (a.contains(b)) return a;
  if (b.contains(a)) return b;
  int differing = -1;
  for (int axis = 0; axis < 4; ++axis) {
    if (a[axis] == b[axis]) continue;
    if (differing >= 0) return std::nullopt;
    differing = axis;
  }
  const Interval x = a[differing];
  const Interval y = b[differing];
  if (x.end < y.begin || y.end < x.begin) return std::nullopt;
  ByteBox both = a;
  both[differing] = {std::min(x.begin, y.begin), std::max(x.end, y.end)};
  return both;
}

namespace {

// One pass over a long list: each box with the one before it.
void coalesce_neighbours(BoxList& boxes) {
  BoxList united_boxes;
  for (const ByteBox& b : boxes) {
    const auto both = united_boxes.empty() ? std::nullopt : united(united_boxes.back(), b);
    if (both) {
      united_boxes.back() = *both;
    } else {
      united_boxes.push_back(b);
    }
  }
  boxes = std::move(united_boxes);
}

}  // namespace

void coalesce(BoxList& boxes) {
  constexpr std::size_t kMany = 64;
  if (boxes.size() > kMany) coalesce_neighbours(boxes);
  if (boxes.size() > kMany) return;
  for (std::size_t i = 0; i < boxes.size();) {
    bool grew = false;
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      if (const auto both = united(boxes[i], boxes[j])) {
        boxes[i] = *both;
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(j));
        grew = true;
        break;
      }
    }
    if (grew) {
      i = 0;
    } else {
      ++i;
    }
  }
}

namespace {

// Appends the boxes of elements [range.begin, range.end) along axes `axis`..2, below the fixed leading indices.
void element_boxes(const Shape& shape, int axis, Interval range, ByteBox lead, BoxList& out) {
  if (range.empty()) return;
  if (axis == 2) {
    lead[2] = range;
    out.push_back(lead);
    return;
  }
  Index inner = 1;
  for (int a = axis + 1; a < kMaxDims; ++a) inner *= shape.extents[a];
  const Index first = range.begin / inner;
  const Index last = (range.end - 1) / inner;
  const auto at = [&](Index i) {
    ByteBox b = lead;
    b[axis] = {i, i + 1};
    return b;
  };
  if (first == last) {
    element_boxes(shape, axis + 1, {range.begin - first * inner, range.end - first * inner}, at(first), out);
    return;
  }
  const bool head = range.begin != first * inner;
  const bool tail = range.end != (last + 1) * inner;
  if (head) element_boxes(shape, axis + 1, {range.begin - first * inner, inner}, at(first), out);
  const Interval middle{head ? first + 1 : first, tail ? last : last + 1};
  if (!middle.empty()) {
    ByteBox b = lead;
    b[axis] = middle;
    for (int a = axis + 1; a < kMaxDims; ++a) b[a] = {0, shape.extents[a]};
    out.push_back(b);
  }
  if (tail) element_boxes(shape, axis + 1, {0, range.end - last * inner}, at(last), out);
}

ByteBox single_element(const Shape& shape, Index element, Interval bytes) {
  const Index n2 = shape.extents[2];
  const Index n1 = shape.extents[1];
  const Index k = element % n2;
  const Index j = element / n2 % n1;
  const Index i = element / n2 / n1;
  return {{Interval{i, i + 1}, Interval{j, j + 1}, Interval{k, k + 1}, bytes}};
}

}  // namespace

BoxList boxes_of_range(const Shape& shape, Interval range) {
  BoxList out;
  if (range.empty()) return out;
  check(range.begin >= 0 && range.end <= shape.bytes(), "a byte range leaves its buffer");
  const Index size = shape.element_bytes;
  const Index first = range.begin / size;
  const Index last = (range.end - 1) / size;
  const Index head = range.begin - first * size;
  const Index tail = range.end - last * size;
  if (first == last) {
    out.push_back(single_element(shape, first, {head, tail}));
    return out;
  }
  if (head != 0) out.push_back(single_element(shape, first, {head, size}));
  ByteBox lead;
  lead[kByteAxis] = {0, size};
  element_boxes(shape, 0, {head != 0 ? first + 1 : first, tail != size ? last : last + 1}, lead, out);
  if (tail != size) out.push_back(single_element(shape, last, {0, tail}));
  return out;
}

Interval hull_range(const Shape& shape, const ByteBox& box) {
  if (box.empty()) return {};
  const auto offset = [&](Index i, Index j, Index k) {
    return ((i * shape.extents[1] + j) * shape.extents[2] + k) * shape.element_bytes;
  };
  return {offset(box[0].begin, box[1].begin, box[2].begin) + box[3].begin,
          offset(box[0].end - 1, box[1].end - 1, box[2].end - 1) + box[3].end};
}

ByteBox hull(const ByteBox& a, const ByteBox& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  ByteBox h;
  for (int i = 0; i < 4; ++i) h[i] = {std::min(a[i].begin, b[i].begin), std::max(a[i].end, b[i].end)};
  return h;
}

std::string to_string(const ByteBox& box) {
  std::string text;
  for (int a = 0; a < 4; ++a) {
    if (a > 0) text += a == kByteAxis ? " bytes " : " x ";
    text += "[" + std::to_string(box[a].begin) + ", " + std::to_string(box[a].end) + ")";
  }
  return text;
}

}  // namespace nuna::base
