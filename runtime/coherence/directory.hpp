#pragma once
// Directory: which ranks hold the newest bytes of a buffer. The replicated half of coherence (D3).
//
// A DirectoryState is an immutable value: a B-tree interval map from dense byte offsets to stacks of layers. Only the
// call sequence changes it: every rank computes the same successor from the same state. Everything here is pure.
//
// Of a Context of one rank there is nothing to know but which bytes were written: its state is that set, as one layer, and
// launches that write known bytes leave the same value.
//
// pieces_into is the heart of planning (D5): what a rank must receive before its parts may read. The sender evaluates
// the same function for the receiver, restricted to itself, and gets the same boxes in the same order; so no requests
// are exchanged. Cost: O(axes * log P + neighbours) per part for monotone maps.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/boxes.hpp"
#include "base/ids.hpp"
#include "coherence/layers.hpp"
#include "coherence/segment_map.hpp"

namespace nuna::coherence {

using LayersRef = std::shared_ptr<const Layers>;

/// A segment's value: compared by content, with the pointer as a short cut.
struct SegmentValue {
  LayersRef layers;
  friend bool operator==(const SegmentValue& a, const SegmentValue& b) {
    return a.layers == b.layers || *a.layers == *b.layers;
  }
};

/// Bytes that part `reader_part` of the receiving rank needs from another rank.
struct Piece {
  base::RankId from;
  int reader_part = 0;
  base::ByteBox box;
  friend bool operator==(const Piece&, const Piece&) = default;
};

class DirectoryState {
 public:
  /// Nothing has been written. `ranks`: of the Context.
  DirectoryState(const base::Shape& shape, int ranks);

  const base::Shape& shape() const { return shape_; }

  /// Appends what `rank` lacks of what its parts read. With `only_from`, just the pieces that come from that rank.
  /// Each byte appears once; the order is fixed by the state and the arguments.
  void pieces_into(const Distribution& reading, base::RankId rank, std::optional<base::RankId> only_from,
                   std::vector<Piece>& pieces) const;
  /// The ranks to which `rank` may have to send for `reading`, ascending, without itself.
  std::vector<base::RankId> receivers_from(const Distribution& reading, base::RankId rank) const;
  /// What of `region` was never written.
  base::BoxList never_written(const base::ByteBox& region) const;
  /// What of `region` `rank` holds in its newest version, by writing or reading; disjoint.
  base::BoxList held_by(base::RankId rank, const base::ByteBox& region) const;
  /// What of the newest contents was written by `rank` (or exists alike on a range of ranks that it belongs to).
  base::BoxList produced_by(base::RankId rank) const;

  /// The successors. `flattened` counts stacks that grew too high (a fallback of D4).
  DirectoryState after_read(const DistributionRef& reading) const;
  DirectoryState after_write(const DistributionRef& writing, std::int64_t& flattened) const;
  /// The host wrote `box` alike on `ranks`.
  DirectoryState after_host_write(const base::ByteBox& box, RankRange ranks, std::int64_t& flattened) const;
  /// The host wrote the dense bytes `range` alike on `ranks`.
  DirectoryState after_host_write(Interval range, RankRange ranks) const;

  /// Number of segments and of layers in the highest stack.
  std::size_t segments() const { return map_.segments(); }
  std::size_t highest_stack() const;
  /// How much memory the state takes, in boxes, about: the weight of caches.
  std::size_t weight() const;

  friend bool operator==(const DirectoryState& a, const DirectoryState& b) {
    return a.shape_ == b.shape_ && a.map_ == b.map_;
  }
  template <class H>
  friend H AbslHashValue(H h, const DirectoryState& d) {
    d.map_.for_each({0, d.shape_.bytes()}, [&](Interval i, const SegmentValue& v) {
      h = H::combine(std::move(h), i.begin, *v.layers);
    });
    return H::combine(std::move(h), d.shape_.bytes(), d.shape_.element_bytes);
  }

 private:
  base::BoxList clip_of(Interval segment) const;
  template <class F>
  void renew(Interval range, F value_after);
  void push(const base::ByteBox& hull, const Layer& top, std::int64_t& flattened);
  DirectoryState after_own_write(const base::BoxList& boxes) const;
  void pieces_for_region(const Layers& layers, const base::ByteBox& region, int reader_part,
                         base::RankId rank, std::optional<base::RankId> only_from,
                         std::vector<Piece>& pieces) const;

  base::Shape shape_;
  bool alone_;  // one rank
  SegmentMap<SegmentValue> map_;
};

using DirectoryRef = std::shared_ptr<const DirectoryState>;

}  // namespace nuna::coherence
