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

}  // namespace

std::vector<Holding> ResidencyState::within(const ByteBox& box) const {
  std::vector<Holding> found;
  for (const Holding& h : holdings_) {
    const ByteBox common = h.box.intersect(box);
    if (!common.empty()) found.push_back({common, h.places});
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
  std::vector<Holding> next;
  next.reserve(holdings_.size() + 4);
  bool changed = false;
  for (const Holding& h : holdings_) {
    const ByteBox common = h.box.intersect(box);
    if (common.empty() || places_after(h.places) == h.places) {
      next.push_back(h);
      continue;
    }
    changed = true;
    BoxList rest;
    base::subtract(h.box, box, rest);
    for (const ByteBox& b : rest) next.push_back({b, h.places});
    if (const PlaceSet places = places_after(h.places); !places.empty()) next.push_back({common, places});
  }
  if (!changed) return;
  holdings_ = std::move(next);
  tidy();
}

// One order, and no two neighbours that are one box: equal contents are usually equal values, so that states recur.
void ResidencyState::tidy() {
  bool again = true;
  while (again) {
    again = false;
    std::sort(holdings_.begin(), holdings_.end(), before);
    for (std::size_t i = 0; i < holdings_.size() && !again; ++i) {
      for (std::size_t j = i + 1; j < holdings_.size(); ++j) {
        if (holdings_[i].places != holdings_[j].places) continue;
        const auto both = base::united(holdings_[i].box, holdings_[j].box);
        if (!both) continue;
        holdings_[i].box = *both;
        holdings_.erase(holdings_.begin() + static_cast<std::ptrdiff_t>(j));
        again = true;
        break;
      }
    }
  }
}

void ResidencyState::set(const ByteBox& box, PlaceSet places) {
  if (box.empty()) return;
  drop(box);
  if (places.empty()) return;
  holdings_.push_back({box, places});
  tidy();
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
