#include "access/declared.hpp"

#include <absl/numeric/int128.h>

#include <algorithm>
#include <string>

#include "nuna/error.hpp"

namespace nuna::access {
namespace {

// Larger numbers in a rule are a mistake, and smaller ones stay numbers when threads are multiplied and halos added.
constexpr Index kMost = Index{1} << 60;

// What leaves +-kMost leaves every buffer.
Index clamped(absl::int128 at) { return static_cast<Index>(std::clamp<absl::int128>(at, -kMost, kMost)); }

// Without the halo.
Interval core(const AxisRule& rule, Interval threads) {
  const absl::int128 tile = rule.tile;
  return {clamped(threads.begin * tile + rule.offset),
          clamped((threads.end - 1) * tile + rule.offset + tile)};
}

[[noreturn]] void refuse(ErrorCode code, std::string_view what, const std::string& why) {
  throw Error(code, std::string(what) + ": " + why);
}

}  // namespace

base::ByteBox touched_box(const AccessMap& map, const base::Shape& shape, const Box& threads) {
  base::ByteBox box = shape.whole();
  for (int b = 0; b < shape.extents.dims; ++b) {
    const AxisRule& rule = map.rule(b);
    box[b] = touched(rule, rule.from >= 0 ? threads[rule.from] : Interval{}, shape.extents[b]);
  }
  return box;
}

base::BoxList function_boxes(const AccessMap& map, const base::Shape& shape, const Part& part) {
  std::vector<Box> elements;
  if (map.function() == nullptr)
    throw Error(ErrorCode::invalid_argument, "the access function is null: give one that can be called");
  map.function()(part, elements);
  base::BoxList boxes;
  for (Box& e : elements) {
    if (e.dims != shape.extents.dims) {
      throw Error(ErrorCode::invalid_argument, "the access function of a part with threads " +
                                                   to_string(part.threads) + " gives a box with " +
                                                   std::to_string(e.dims) + " axes for a buffer of " +
                                                   to_string(shape.extents) + ": give one interval per axis");
    }
    if (e.empty()) continue;
    for (int a = 0; a < kMaxDims; ++a) {  // of shifted()
      const absl::int128 by = map.rule(a).offset;
      e[a] = {clamped(e[a].begin + by), clamped(e[a].end + by)};
    }
    if (!Box(shape.extents).contains(e)) {
      throw Error(ErrorCode::out_of_bounds,
                  "the access function of a part with threads " + to_string(part.threads) + " gives " +
                      to_string(e) + ", outside the buffer of " + to_string(shape.extents) + ": clip it");
    }
    boxes.push_back(shape.of(e));
  }
  return boxes;
}

base::BoxList touched_boxes(const AccessMap& map, const base::Shape& shape, const Part& part) {
  if (!map.is_monotone()) return function_boxes(map, shape, part);
  const base::ByteBox box = touched_box(map, shape, part.threads);
  return box.empty() ? base::BoxList{} : base::BoxList{box};
}

void check_inside(const AccessMap& map, const base::Shape& shape, const Box& domain, std::string_view what) {
  if (!map.is_monotone() || domain.empty()) return;
  if (map.axes() != 0 && map.axes() != shape.extents.dims) {
    refuse(ErrorCode::invalid_argument, what,
           "a fixed box with " + std::to_string(map.axes()) + " axes of a buffer of " +
               to_string(shape.extents) + ": give one interval per axis");
  }
  for (int b = 0; b < shape.extents.dims; ++b) {
    const AxisRule& rule = map.rule(b);
    if (rule.from == AxisRule::kAll) continue;
    if (rule.from < AxisRule::kFixed || rule.from >= domain.dims) {
      refuse(ErrorCode::invalid_argument, what,
             "buffer axis " + std::to_string(b) + " follows launch axis " + std::to_string(rule.from) +
                 ", but the launch has " + std::to_string(domain.dims) + " axes");
    }
    if (rule.tile < 1 || rule.before < 0 || rule.after < 0) {
      refuse(ErrorCode::invalid_argument, what,
             "a tile is at least 1 and a halo at least 0 (axis " + std::to_string(b) + ")");
    }
    if (std::max({rule.tile, rule.before, rule.after, rule.offset}) > kMost || rule.offset < -kMost) {
      refuse(ErrorCode::invalid_argument, what,
             "a tile, halo or offset beyond 2^60 (axis " + std::to_string(b) + ")");
    }
    const Interval c = rule.from == AxisRule::kFixed ? Interval{rule.offset, rule.offset + rule.tile}
                                                     : core(rule, domain[rule.from]);
    if (c.begin < 0 || c.end > shape.extents[b]) {
      refuse(ErrorCode::out_of_bounds, what,
             "touches [" + std::to_string(c.begin) + ", " + std::to_string(c.end) + ") along axis " +
                 std::to_string(b) + " of a buffer of " + to_string(shape.extents) +
                 ": mend the domain, the access map or the buffer");
    }
  }
}

}  // namespace nuna::access
