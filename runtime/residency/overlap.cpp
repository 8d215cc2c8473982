#include "residency/overlap.hpp"

#include <algorithm>
#include <exception>

#include "access/declared.hpp"

namespace nuna::residency {
namespace {

using base::BoxList;
using base::ByteBox;
using plan::ArgumentUse;

class Divider {
 public:
  Divider(const access::Cut& cut, const Box& threads, const plan::Uses& uses)
      : cut_(cut), threads_(threads), uses_(uses) {}

  Division divide(absl::Span<const Moving> moving) const {
    Division whole{std::nullopt, {threads_}};
    Box interior = threads_;
    for (const Moving& m : moving) {
      if (!disturbs(interior, m)) continue;
      interior = trimmed(interior, m);
      if (interior.empty()) return whole;
    }
    if (interior == threads_) return {interior, {}};
    Division division{interior, around(interior)};
    const bool still =
        std::any_of(moving.begin(), moving.end(), [&](const Moving& m) { return disturbs(interior, m); });
    return still || !adds_up(division) ? whole : division;
  }

 private:
  BoxList touched(const ArgumentUse& use, const Box& threads) const {
    return access::touched_boxes(use.map, use.shape, cut_.describe(threads));
  }

  bool disturbs(const Box& threads, const Moving& m) const {
    return std::any_of(uses_.begin(), uses_.end(), [&](const ArgumentUse& use) {
      if (use.buffer != m.buffer || (!m.arrives && !use.writes)) return false;
      const BoxList boxes = touched(use, threads);
      return std::any_of(boxes.begin(), boxes.end(), [&](const ByteBox& b) { return b.overlaps(m.box); });
    });
  }

  // The largest of the boxes that are left when as few blocks as possible are taken off one face.
  Box trimmed(const Box& from, const Moving& m) const {
    Box best = trimmed(from, 0, true, m);
    for (int axis = 0; axis < cut_.dims(); ++axis) {
      for (const bool low : {true, false}) {
        const Box left = trimmed(from, axis, low, m);
        if (left.count() > best.count()) best = left;
      }
    }
    return best;
  }

  Box trimmed(const Box& from, int axis, bool low, const Moving& m) const {
    const Index size = std::max<Index>(cut_.block()[axis], 1);
    const Index origin = cut_.origin(axis);
    const Interval all = from[axis];
    const Index first = (all.begin - origin) / size;       // block of the first thread
    const Index last = (all.end - 1 - origin) / size + 1;  // behind the block of the last
    const auto without = [&](Index blocks) {
      Box box = from;
      if (low) box[axis].begin = std::min(all.end, origin + (first + blocks) * size);
      if (!low) box[axis].end = std::max(all.begin, origin + (last - blocks) * size);
      return box;
    };
    Index disturbed = 0;
    Index quiet = last - first;  // nothing is left then
    while (quiet - disturbed > 1) {
      const Index middle = disturbed + (quiet - disturbed) / 2;
      (disturbs(without(middle), m) ? disturbed : quiet) = middle;
    }
    return without(quiet);
  }

  // Slabs, the slowest axis first, so that rows stay whole where they can.
  std::vector<Box> around(const Box& interior) const {
    std::vector<Box> slabs;
    Box rest = threads_;
    for (int axis = 0; axis < kMaxDims; ++axis) {
      Box slab = rest;
      slab[axis].end = interior[axis].begin;
      if (!slab.empty()) slabs.push_back(slab);
      slab = rest;
      slab[axis].begin = interior[axis].end;
      if (!slab.empty()) slabs.push_back(slab);
      rest[axis] = interior[axis];
    }
    return slabs;
  }

  bool adds_up(const Division& division) const {
    return std::all_of(uses_.begin(), uses_.end(), [&](const ArgumentUse& use) {
      if (use.map.is_monotone()) return true;
      BoxList left = touched(use, threads_);
      const auto take = [&](const Box& piece) {
        for (const ByteBox& b : touched(use, piece)) base::subtract(left, b);
      };
      take(*division.interior);
      std::for_each(division.boundary.begin(), division.boundary.end(), take);
      return left.empty();
    });
  }

  const access::Cut& cut_;
  const Box& threads_;
  const plan::Uses& uses_;
};

}  // namespace

Division divide(const access::Cut& cut, const Box& threads, const plan::Uses& uses,
                absl::Span<const Moving> moving) {
  try {
    return Divider(cut, threads, uses).divide(moving);
  } catch (const std::exception&) {  // a user's function that knows whole parts only
    return {std::nullopt, {threads}};
  }
}

}  // namespace nuna::residency
