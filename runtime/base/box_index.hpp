#pragma once
// BoxIndex: boxes with a value each, found by where they are.
//
// Sorted along axis 0, on which lie the rows and ranges of which there may be many. Immutable; concurrent const calls are safe.
// Cost: construction O(n log n), for_each_meeting O(log n + what it looks at): all that meet the region on axis 0 if the boxes are apart there.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/boxes.hpp"

namespace nuna::base {

template <class Value>
class BoxIndex {
 public:
  struct Entry {
    ByteBox box;
    Value value;
    Index end_so_far = 0;  ///< the largest end on axis 0 up to this entry
    friend bool operator==(const Entry& a, const Entry& b) { return a.box == b.box && a.value == b.value; }
  };

  BoxIndex() = default;
  /// Boxes that begin alike on axis 0 keep their order.
  explicit BoxIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
    Index place = 0;
    for (Entry& e : entries_) e.end_so_far = place++;
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.box[0].begin != b.box[0].begin ? a.box[0].begin < b.box[0].begin : a.end_so_far < b.end_so_far;
    });
    Index end = entries_.empty() ? 0 : entries_.front().box[0].end;
    for (Entry& e : entries_) {
      end = std::max(end, e.box[0].end);
      e.end_so_far = end;
      hull_ = hull(hull_, e.box);
      bytes_ += e.box.bytes();
    }
  }

  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  const ByteBox& bounds() const { return hull_; }
  /// Sum over the boxes.
  Index bytes() const { return bytes_; }

  /// Calls f(const ByteBox&, const Value&) for every box that meets `region`, in order.
  template <class F>
  void for_each_meeting(const ByteBox& region, F f) const {
    auto e = std::partition_point(entries_.begin(), entries_.end(),
                                  [&](const Entry& x) { return x.end_so_far <= region[0].begin; });
    for (; e != entries_.end() && e->box[0].begin < region[0].end; ++e) {
      if (e->box.overlaps(region)) f(e->box, e->value);
    }
  }

  /// Appends what of `region` lies in no box.
  void append_outside(const ByteBox& region, BoxList& outside) const {
    BoxList left{region};
    for_each_meeting(region, [&](const ByteBox& box, const Value&) {
      BoxList rest;
      for (const ByteBox& piece : left) {
        if (piece[0].end <= box[0].begin) {  // and what follows begins no earlier
          outside.push_back(piece);
        } else {
          subtract(piece, box, rest);
        }
      }
      left = std::move(rest);
    });
    outside.insert(outside.end(), left.begin(), left.end());
  }

  friend bool operator==(const BoxIndex& a, const BoxIndex& b) { return a.entries_ == b.entries_; }
  template <class H>
  friend H AbslHashValue(H h, const BoxIndex& index) {
    for (const Entry& e : index.entries_) h = H::combine(std::move(h), e.box, e.value);
    return h;
  }

 private:
  std::vector<Entry> entries_;
  ByteBox hull_;
  Index bytes_ = 0;
};

}  // namespace nuna::base
