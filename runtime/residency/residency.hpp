#pragma once
// Residency: which of a rank's places hold the newest bytes of what the rank holds. The private half of coherence (D3).
//
// A ResidencyState is an immutable value: disjoint boxes, each with the set of places that hold it. It never influences
// what other ranks send or expect; eviction, stealing and replicas may change it freely, as long as no box that the
// directory says this rank holds loses its last place. Pure.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/boxes.hpp"
#include "base/ids.hpp"
#include "base/shared_sorted.hpp"

namespace nuna::residency {

/// A set of places.
class PlaceSet {
 public:
  constexpr PlaceSet() = default;
  static constexpr PlaceSet only(base::PlaceId p) { return PlaceSet(std::uint64_t{1} << p.value); }
  constexpr bool contains(base::PlaceId p) const { return (bits_ >> p.value & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr PlaceSet with(base::PlaceId p) const { return PlaceSet(bits_ | only(p).bits_); }
  constexpr PlaceSet without(base::PlaceId p) const { return PlaceSet(bits_ & ~only(p).bits_); }
  constexpr PlaceSet intersect(PlaceSet o) const { return PlaceSet(bits_ & o.bits_); }
  /// The member with the smallest number; of a set that is not empty.
  constexpr base::PlaceId first() const { return {__builtin_ctzll(bits_)}; }
  constexpr std::uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(PlaceSet, PlaceSet) = default;

 private:
  constexpr explicit PlaceSet(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};

struct Holding {
  base::ByteBox box;
  PlaceSet places;
  friend bool operator==(const Holding&, const Holding&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Holding& holding) {
    return H::combine(std::move(h), holding.box, holding.places.bits());
  }
};

/// The order of holdings: by where their boxes begin.
struct Before {
  bool operator()(const Holding& a, const Holding& b) const {
    for (int axis = 0; axis < 4; ++axis) {
      if (a.box[axis].begin != b.box[axis].begin) return a.box[axis].begin < b.box[axis].begin;
    }
    return false;
  }
};
using Holdings = base::SharedSorted<Holding, Before>;

class ResidencyState {
 public:
  /// Boxes in a fixed order, disjoint.
  const Holdings& holdings() const { return holdings_; }
  /// What of `box` is held, cut to it.
  std::vector<Holding> within(const base::ByteBox& box) const;
  /// The bytes that `place` holds.
  Index bytes_at(base::PlaceId place) const;

  /// `box` is now held by `places` alone.
  void set(const base::ByteBox& box, PlaceSet places);
  /// What of `box` is held is now held by `place` as well.
  void add(const base::ByteBox& box, base::PlaceId place);
  /// `place` holds nothing of `box` any more. What it alone held is forgotten.
  void remove(const base::ByteBox& box, base::PlaceId place);
  /// Nobody holds anything of `box`.
  void drop(const base::ByteBox& box);

  friend bool operator==(const ResidencyState& a, const ResidencyState& b) {
    return a.holdings_ == b.holdings_;
  }
  template <class H>
  friend H AbslHashValue(H h, const ResidencyState& s) {
    return H::combine(std::move(h), s.holdings_);
  }

 private:
  template <class F>
  void transform(const base::ByteBox& box, F places_after);
  void unite(std::vector<Holding> fresh);
  /// One that forms one box with `h`.
  std::optional<Holding> one_box_with(const Holding& h) const;
  struct Range {
    Holdings::const_iterator begin;
    Holdings::const_iterator end;
  };
  /// Those that may overlap or touch `box`.
  Range near(const base::ByteBox& box) const;

  Holdings holdings_;  // united where that makes one box of two
  bool apart_ = true;  // no two share a place on axis 0: rows and ranges, of which there may be many
};

using ResidencyRef = std::shared_ptr<const ResidencyState>;

}  // namespace nuna::residency
