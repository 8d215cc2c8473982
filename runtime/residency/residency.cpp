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
  std::vector<Holding> kept;
  std::vector<Holding> fresh;
  kept.reserve(holdings_.size() + 4);
  for (const Holding& h : holdings_) {
    const ByteBox common = h.box.intersect(box);
    if (common.empty() || places_after(h.places) == h.places) {
      kept.push_back(h);
      continue;
    }
    BoxList rest;
    base::subtract(h.box, box, rest);
    for (const ByteBox& b : rest) fresh.push_back({b, h.places});
    if (const PlaceSet places = places_after(h.places); !places.empty()) fresh.push_back({common, places});
  }
  if (fresh.empty() && kept.size() == holdings_.size()) return;
  holdings_ = std::move(kept);
  unite(std::move(fresh));
}

// One order, and no two holdings that are one box: equal contents are usually equal values, so that states recur. What was
// there has no such pairs, so only the fresh ones are compared.
void ResidencyState::unite(std::vector<Holding> fresh) {
  while (!fresh.empty()) {
    Holding h = fresh.back();
    fresh.pop_back();
    for (std::size_t i = 0; i < holdings_.size();) {
      const auto both =
          holdings_[i].places == h.places ? base::united(holdings_[i].box, h.box) : std::nullopt;
      if (!both) {
        ++i;
        continue;
      }
      h.box = *both;
      holdings_[i] = holdings_.back();
      holdings_.pop_back();
      i = 0;  // the larger one may fit others
    }
    holdings_.push_back(h);
  }
  std::sort(holdings_.begin(), holdings_.end(), before);
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
