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

std::vector<Holding> ResidencyState::within(const ByteBox& box) const {
  std::vector<Holding> found;
  for (const Holding& h : holdings_) {
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
  const auto first = std::find_if(holdings_.begin(), holdings_.end(), changes);
  if (first == holdings_.end()) return;
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
  holdings_.erase(std::remove_if(first, holdings_.end(), replaced), holdings_.end());
  unite(std::move(fresh));
}

// One order, and no two holdings that are one box: equal contents are usually equal values, so that states recur. What was
// there has no such pairs, so only the fresh ones are compared.
void ResidencyState::unite(std::vector<Holding> fresh) {
  while (!fresh.empty()) {
    Holding h = fresh.back();
    fresh.pop_back();
    for (std::size_t i = 0; i < holdings_.size();) {
      const bool meets = holdings_[i].places == h.places && touch(holdings_[i].box, h.box);
      const auto both = meets ? base::united(holdings_[i].box, h.box) : std::nullopt;
      if (!both) {
        ++i;
        continue;
      }
      h.box = *both;
      holdings_.erase(holdings_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;  // the larger one may fit others
    }
    holdings_.insert(std::upper_bound(holdings_.begin(), holdings_.end(), h, before), h);
  }
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
