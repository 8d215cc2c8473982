#pragma once
// Cut: how the threads of a launch are divided into parts, and which rank runs which part.
//
// A cut is a product: per axis, boundaries between blocks. Parts are numbered row-major (axis 0 slowest) and go to the
// ranks in contiguous runs of parts_per_rank, beginning with first_rank; within a rank they go to its devices in
// order, from first_slot on. Storage is one number per part and axis, never one per part. Immutable values.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "nuna/access_map.hpp"
#include "nuna/box.hpp"

namespace nuna::access {

/// A contiguous range of part numbers or indices.
struct Range {
  int begin = 0;
  int end = 0;
  bool empty() const { return end <= begin; }
  int size() const { return empty() ? 0 : end - begin; }
  friend bool operator==(Range, Range) = default;
};

/// Who runs: `ranks` ranks with `devices` devices each.
struct Team {
  int ranks = 1;
  int devices = 1;
  int parts() const { return ranks * devices; }
};

class Cut {
 public:
  /// `bounds[a]` holds parts + 1 ascending thread indices per axis, from the frame's first to its end. `domain` is
  /// the box of threads that run; parts that it does not meet are empty.
  Cut(const Box& domain, const Extents& block, std::array<std::vector<Index>, kMaxDims> bounds,
      int first_rank, int parts_per_rank);

  int dims() const { return domain_.dims; }
  int parts() const { return parts_[0] * parts_[1] * parts_[2]; }
  int parts_along(int axis) const { return parts_[static_cast<std::size_t>(axis)]; }
  const Box& domain() const { return domain_; }
  const Extents& block() const { return block_; }

  /// Indices of the part along each axis.
  std::array<int, kMaxDims> position(int part) const;
  /// Threads of part-index `i` along `axis`, clipped to the domain; may be empty.
  Interval threads_along(int axis, int i) const {
    const auto& b = bounds_[static_cast<std::size_t>(axis)];
    return Interval{b[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(i) + 1]}.intersect(
        domain_[axis]);
  }
  /// The part-indices along `axis` that have threads.
  Range busy_along(int axis) const { return busy_[static_cast<std::size_t>(axis)]; }
  Box threads(int part) const;
  /// Threads and blocks of a part, or of a box of a part's threads, as a user's function sees them.
  Part describe(int part) const { return describe(threads(part)); }
  Part describe(const Box& threads) const;
  /// The first thread of the frame along `axis`, where its first block begins.
  Index origin(int axis) const { return bounds_[static_cast<std::size_t>(axis)].front(); }

  base::RankId rank_of(int part) const { return {first_rank_ + part / parts_per_rank_}; }
  /// Its device, among those of its rank.
  int slot_of(int part) const { return first_slot_ + part % parts_per_rank_; }
  Range parts_of(base::RankId rank) const;
  /// This cut, of one part, for one device of one rank.
  Cut on(base::RankId rank, int slot) const;

  friend bool operator==(const Cut& a, const Cut& b);
  template <class H>
  friend H AbslHashValue(H h, const Cut& c) {
    // Cuts of one domain into as many parts hardly ever differ in the middle and not at a third.
    for (const auto& b : c.bounds_) h = H::combine(std::move(h), b.size(), b[b.size() / 3], b[b.size() / 2]);
    for (const Interval& i : c.domain_.axis) h = H::combine(std::move(h), i.begin, i.end);
    return H::combine(std::move(h), c.dims(), c.first_rank_, c.parts_per_rank_, c.first_slot_);
  }

 private:
  Box domain_;
  Extents block_;
  std::array<std::vector<Index>, kMaxDims> bounds_;
  std::array<int, kMaxDims> parts_{};
  std::array<Range, kMaxDims> busy_{};
  int first_rank_;
  int parts_per_rank_;
  int first_slot_ = 0;
};

using CutRef = std::shared_ptr<const Cut>;

/// The cuts of host views, whose access maps are fixed boxes: one part per rank, or one part on one rank.
Cut one_part_per_rank(int ranks);
Cut one_part_on(base::RankId only);

}  // namespace nuna::access
