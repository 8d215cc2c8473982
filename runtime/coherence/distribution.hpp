#pragma once
// Distribution: a cut and an access map as one value - which part touches which bytes of a buffer.
//
// The value that one entry of the directory holds for a whole launch (D4). For monotone maps nothing is stored per
// part: per buffer axis the part-index i maps to [lo(i), hi(i)), both non-decreasing, and the parts that meet a box
// are found by two binary searches an axis. A user's function is evaluated once for all parts into boxes sorted on the
// outer axis.
//
// Immutable; shared between threads. Cost: construction O(sum of parts per axis), or O(P log P) for functions;
// parts_meeting O(axes * log P + result).

#include <absl/container/inlined_vector.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "access/cut.hpp"
#include "base/box_index.hpp"
#include "base/boxes.hpp"
#include "nuna/access_map.hpp"

namespace nuna::coherence {

using PartList = absl::InlinedVector<int, 16>;

/// Two parts that touch the same bytes.
struct Overlap {
  int part_a = 0;
  int part_b = 0;
  base::ByteBox bytes;
};

class Distribution {
 public:
  /// `fast` off makes parts_meeting look at every part; the answers are the same (a test compares them).
  Distribution(access::CutRef cut, AccessMap map, const base::Shape& shape, bool fast = true);

  const access::Cut& cut() const { return *cut_; }
  const AccessMap& map() const { return map_; }
  const base::Shape& shape() const { return shape_; }
  bool is_monotone() const { return map_.is_monotone(); }

  /// The bytes that a part touches: for monotone maps one box or none. Disjoint unless a user's function says otherwise.
  base::BoxList boxes(int part) const;
  /// How many boxes all parts have, at most.
  std::size_t box_count() const {
    return is_monotone() ? static_cast<std::size_t>(cut_->parts()) : boxes_.size();
  }
  /// Appends the parts that touch some byte of `region`, ascending.
  void parts_meeting(const base::ByteBox& region, PartList& parts) const;
  /// Calls f(part, box) for every box of a part that meets `region`.
  template <class F>
  void for_each_meeting(const base::ByteBox& region, F f) const {
    if (!is_monotone()) {
      boxes_.for_each_meeting(region, [&](const base::ByteBox& box, int part) { f(part, box); });
      return;
    }
    PartList parts;
    parts_meeting(region, parts);
    for (const int p : parts) {
      for (const base::ByteBox& box : boxes(p)) f(p, box);
    }
  }
  /// Appends what of `region` no part touches.
  void append_outside(const base::ByteBox& region, base::BoxList& outside) const;
  /// The parts of `rank`.
  access::Range parts_of(base::RankId rank) const { return cut_->parts_of(rank); }

  /// The smallest box that holds everything touched; empty if nothing is.
  const base::ByteBox& hull() const { return hull_; }
  /// Whether every byte of the hull is touched by some part.
  bool fills_hull() const { return fills_hull_; }
  /// Two different parts that touch the same byte, if there are any. O(sum of parts per axis), functions O(P log P).
  std::optional<Overlap> find_overlap() const;
  /// The same against the parts of another distribution on the same cut (equal part numbers may overlap).
  std::optional<Overlap> find_overlap(const Distribution& other) const;

  friend bool operator==(const Distribution& a, const Distribution& b) {
    return &a == &b || (a.map_ == b.map_ && a.shape_ == b.shape_ && (a.cut_ == b.cut_ || *a.cut_ == *b.cut_));
  }
  template <class H>
  friend H AbslHashValue(H h, const Distribution& d) {
    return H::combine(std::move(h), *d.cut_, d.hull_, d.map_.identity());
  }

 private:
  struct AxisTable {  // one buffer axis of a monotone map that follows a launch axis
    int buffer_axis = 0;
    int launch_axis = 0;
    std::vector<Interval> touched;  // per busy part-index, from busy.begin
    bool apart = true;              // whether neighbours touch different elements
    bool gapless = true;            // whether neighbours leave no element between them
  };

  void build_monotone();
  AxisTable table_of(int buffer_axis) const;
  void build_function();
  access::Range range_meeting(const AxisTable& table, Interval region) const;
  std::optional<Overlap> monotone_overlap() const;
  std::optional<Overlap> function_overlap() const;

  access::CutRef cut_;
  AccessMap map_;
  base::Shape shape_;
  bool fast_;
  absl::InlinedVector<AxisTable, kMaxDims> tables_;
  base::BoxIndex<int> boxes_;                 // of functions, with their parts
  std::vector<base::BoxList> boxes_of_part_;  // functions only
  base::ByteBox hull_;
  bool fills_hull_ = false;
};

using DistributionRef = std::shared_ptr<const Distribution>;

}  // namespace nuna::coherence
