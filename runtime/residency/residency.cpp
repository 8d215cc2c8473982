#include "residency/residency.hpp"

#include <algorithm>

namespace nuna::residency {

using base::BoxList;
using base::ByteBox;

namespace {

bool before(const Holding& a, const Holding& b) {
  for (int axis = 0; axis < 4; ++axis) {
    if (a.box[axis].begin != b.box[axis].begin) return a.box[axis].begin < b.box[axis].begin;
  }
  return false;
}

/// Or overlap.
bool touch(const ByteBox& a, const ByteBox& b) {
  for (int axis = 0; axis < 4; ++axis) {
    if (a[axis].end < b[axis].begin || b[axis].end < a[axis].begin) return false;
  }
  return true;
}

}  // namespace

ResidencyState::Range ResidencyState::near(const ByteBox& box) const {
  if (!apart_) return {0, holdings_.size()};
  const auto first = std::partition_point(holdings_.begin(), holdings_.end(),
                                          [&](const Holding& h) { return h.box[0].end < box[0].begin; });
  const auto last = std::partition_point(first, holdings_.end(),
                                         [&](const Holding& h) { return h.box[0].begin <= box[0].end; });
  return {static_cast<std::size_t>(first - holdings_.begin()),
          static_cast<std::size_t>(last - holdings_.begin())};
}

std::vector<Holding> ResidencyState::within(const ByteBox& box) const {
  std::vector<Holding> found;
  const Range range = near(box);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Holding& h = holdings_[i];
    if (h.box.overlaps(box)) found.push_back({h.box.intersect(box), h.places});
  }
  return found;
}

Index ResidencyState::bytes_at(base::PlaceId place) const {
  Index sum = 0;
  for (const Holding& h : holdings_) {
    if (h.places.contains(place)) sum += h.box.bytes();
  }
  return sum;
}

// Lists may be long, thousands of rows of which each is transformed: what does not meet `box` is looked at and left where it is.
template <class F>
void ResidencyState::transform(const ByteBox& box, F places_after) {
  const auto changes = [&](const Holding& h) {
    return h.box.overlaps(box) && places_after(h.places) != h.places;
  };
  const Range range = near(box);
  const auto last = holdings_.begin() + static_cast<std::ptrdiff_t>(range.end);
  const auto first =
      std::find_if(holdings_.begin() + static_cast<std::ptrdiff_t>(range.begin), last, changes);
  if (first == last) return;
  std::vector<Holding> fresh;
  const auto replaced = [&](const Holding& h) {
    if (!changes(h)) return false;
    BoxList rest;
    base::subtract(h.box, box, rest);
    for (const ByteBox& b : rest) fresh.push_back({b, h.places});
    if (const PlaceSet places = places_after(h.places); !places.empty())
      fresh.push_back({h.box.intersect(box), places});
    return true;
  };
  holdings_.erase(std::remove_if(first, last, replaced), last);
  unite(std::move(fresh));
}

// One order, and no two holdings that are one box: equal contents are usually equal values, so that states recur. What was
// there has no such pairs, so only the fresh ones are compared.
void ResidencyState::unite(std::vector<Holding> fresh) {
  while (!fresh.empty()) {
    Holding h = fresh.back();
    fresh.pop_back();
    Range range = near(h.box);
    for (std::size_t i = range.begin; i < range.end;) {
      const bool meets = holdings_[i].places == h.places && touch(holdings_[i].box, h.box);
      const auto both = meets ? base::united(holdings_[i].box, h.box) : std::nullopt;
      if (!both) {
        ++i;
        continue;
      }
      h.box = *both;
      holdings_.erase(holdings_.begin() + static_cast<std::ptrdiff_t>(i));
      range = near(h.box);  // the larger one may fit others
      i = range.begin;
    }
    insert(h);
  }
}

void ResidencyState::insert(const Holding& h) {
  if (holdings_.empty()) apart_ = true;
  const auto next = std::upper_bound(holdings_.begin(), holdings_.end(), h, before);
  if (next != holdings_.end() && next->box[0].begin < h.box[0].end) apart_ = false;
  if (next != holdings_.begin() && h.box[0].begin < std::prev(next)->box[0].end) apart_ = false;
  holdings_.insert(next, h);
}

void ResidencyState::set(const ByteBox& box, PlaceSet places) {
  if (box.empty()) return;
  drop(box);
  if (places.empty()) return;
  unite({{box, places}});
}

void ResidencyState::add(const ByteBox& box, base::PlaceId place) {
  transform(box, [place](PlaceSet s) { return s.with(place); });
}

void ResidencyState::remove(const ByteBox& box, base::PlaceId place) {
  transform(box, [place](PlaceSet s) { return s.without(place); });
}

void ResidencyState::drop(const ByteBox& box) {
  transform(box, [](PlaceSet) { return PlaceSet(); });
}

}  // namespace nuna::residency
