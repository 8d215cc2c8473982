#include "residency/residency.hpp"

#include <iterator>
#include <limits>

namespace nuna::residency {

using base::BoxList;
using base::ByteBox;

namespace {

/// Or overlap.
bool touch(const ByteBox& a, const ByteBox& b) {
  for (int axis = 0; axis < 4; ++axis) {
    if (a[axis].end < b[axis].begin || b[axis].end < a[axis].begin) return false;
  }
  return true;
}

}  // namespace

ResidencyState::Range ResidencyState::near(const ByteBox& box) const {
  if (!apart_) return {holdings_.begin(), holdings_.end()};
  const auto from = [&](Index begin) {
    constexpr Interval kFirst{std::numeric_limits<Index>::min(), 0};
    return holdings_.lower_bound(Holding{{{Interval{begin, begin}, kFirst, kFirst, kFirst}}, {}});
  };
  auto first = from(box[0].begin);
  if (first != holdings_.begin()) --first;
  return {first, from(box[0].end + 1)};
}

std::vector<Holding> ResidencyState::within(const ByteBox& box) const {
  std::vector<Holding> found;
  const Range range = near(box);
  for (auto h = range.begin; h != range.end; ++h) {
    if (h->box.overlaps(box)) found.push_back({h->box.intersect(box), h->places});
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

template <class F>
void ResidencyState::transform(const ByteBox& box, F places_after) {
  std::vector<Holding> changed;
  const Range range = near(box);
  for (auto h = range.begin; h != range.end; ++h) {
    if (h->box.overlaps(box) && places_after(h->places) != h->places) changed.push_back(*h);
  }
  std::vector<Holding> fresh;
  for (const Holding& h : changed) {
    holdings_.erase(holdings_.lower_bound(h));
    BoxList rest;
    base::subtract(h.box, box, rest);
    for (const ByteBox& b : rest) fresh.push_back({b, h.places});
    if (const PlaceSet places = places_after(h.places); !places.empty())
      fresh.push_back({h.box.intersect(box), places});
  }
  unite(std::move(fresh));
}

// No two holdings that are one box: equal contents are usually equal values, so that states recur. What was there has no such
// pairs, so only the fresh ones are compared.
void ResidencyState::unite(std::vector<Holding> fresh) {
  while (!fresh.empty()) {
    Holding h = fresh.back();
    fresh.pop_back();
    while (const auto other = one_box_with(h)) {
      h.box = *base::united(other->box, h.box);
      holdings_.erase(holdings_.lower_bound(*other));
    }
    if (holdings_.empty()) apart_ = true;
    const auto next = holdings_.lower_bound(h);
    if (next != holdings_.end() && next->box[0].begin < h.box[0].end) apart_ = false;
    if (next != holdings_.begin() && h.box[0].begin < std::prev(next)->box[0].end) apart_ = false;
    holdings_.insert(h);
  }
}

std::optional<Holding> ResidencyState::one_box_with(const Holding& h) const {
  const Range range = near(h.box);
  for (auto other = range.begin; other != range.end; ++other) {
    if (other->places == h.places && touch(other->box, h.box) && base::united(other->box, h.box))
      return *other;
  }
  return std::nullopt;
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
