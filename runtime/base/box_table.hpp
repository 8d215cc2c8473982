#pragma once
// BoxTable: boxes with a value each, found by where they are, that come and go.
//
// Few boxes are looked at one by one. Of many, those that meet a region are found by where they begin on axis 0, on which lie the rows
// and ranges of which there may be many; boxes are told apart by how long they are there, so that one long box does not
// make all others be looked at. (BoxIndex is for boxes that stay.)
//
// Cost, of n boxes of c lengths (powers of two): insert and erase O(log n), for_each_meeting O(c log n + what meets the region on axis 0).
// Boxes are not empty. Functions that are handed in must not touch the table. Threads: as a standard container.

#include <absl/container/btree_set.h>

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/boxes.hpp"

namespace nuna::base {

template <class Value>
class BoxTable {
 public:
  static constexpr std::size_t kFew = 24;

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear() {
    entries_.clear();
    forget_order();
  }

  void insert(const ByteBox& box, Value value) {
    entries_.push_back({box, std::move(value)});
    if (!order_.empty()) {
      put_in_order(entries_.size() - 1);
    } else if (entries_.size() > kFew) {
      for (std::size_t e = 0; e < entries_.size(); ++e) put_in_order(e);
    }
  }

  /// Gives the first entry of this very box for which is(const Value&) holds another value; false: there is none.
  template <class F>
  bool replace(const ByteBox& box, F is, Value value) {
    std::size_t found = entries_.size();
    visit(box, [&](std::size_t e) {
      if (found == entries_.size() && entries_[e].box == box && is(entries_[e].value)) found = e;
    });
    if (found == entries_.size()) return false;
    entries_[found].value = std::move(value);
    return true;
  }

  /// Calls f(const ByteBox&, const Value&) for every box.
  template <class F>
  void for_each(F f) const {
    for (const Entry& e : entries_) f(e.box, e.value);
  }

  /// The same for those that meet `region`.
  template <class F>
  void for_each_meeting(const ByteBox& region, F f) const {
    visit(region, [&](std::size_t e) { f(entries_[e].box, entries_[e].value); });
  }

  /// Takes those out that meet `region` and for which gone(const ByteBox&, const Value&) holds.
  template <class F>
  void erase_meeting_if(const ByteBox& region, F gone) {
    std::vector<std::size_t> erased;
    visit(region, [&](std::size_t e) {
      if (gone(entries_[e].box, entries_[e].value)) erased.push_back(e);
    });
    erase(std::move(erased));
  }
  template <class F>
  void erase_if(F gone) {
    std::vector<std::size_t> erased;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      if (gone(entries_[e].box, entries_[e].value)) erased.push_back(e);
    }
    erase(std::move(erased));
  }

  /// Boxes that for_each_meeting and erase_meeting_if have looked at so far.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  struct Entry {
    ByteBox box;
    Value value;
  };
  static constexpr std::size_t kLengths = 64;
  struct Key {
    int length = 0;  ///< of a box that is shorter than 2^length on axis 0
    Index begin = 0;
    std::size_t entry = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Key key_of(std::size_t entry) const {
    const Interval& along = entries_[entry].box[0];
    return {static_cast<int>(std::bit_width(static_cast<std::uint64_t>(along.size()))), along.begin, entry};
  }
  void put_in_order(std::size_t entry) {
    const Key key = key_of(entry);
    order_.insert(key);
    if (++counts_[static_cast<std::size_t>(key.length)] == 1) lengths_ |= std::uint64_t{1} << key.length;
  }
  void take_out_of_order(std::size_t entry) {
    const Key key = key_of(entry);
    order_.erase(key);
    if (--counts_[static_cast<std::size_t>(key.length)] == 0) lengths_ &= ~(std::uint64_t{1} << key.length);
  }
  void forget_order() {
    order_.clear();
    counts_ = {};
    lengths_ = 0;
  }

  template <class F>
  void visit(const ByteBox& region, F f) const {
    const auto look = [&](std::size_t e) {
      ++looked_at_;
      if (entries_[e].box.overlaps(region)) f(e);
    };
    if (order_.empty()) {
      for (std::size_t e = 0; e < entries_.size(); ++e) look(e);
      return;
    }
    for (std::uint64_t left = lengths_; left != 0; left &= left - 1) {
      const int length = std::countr_zero(left);
      const Index farthest = (Index{1} << std::min(length, 62)) - 1;
      const Index begin = region[0].begin < std::numeric_limits<Index>::min() + farthest
                              ? std::numeric_limits<Index>::min()
                              : region[0].begin - farthest;
      for (auto key = order_.lower_bound(Key{length, begin, 0});
           key != order_.end() && key->length == length && key->begin < region[0].end; ++key)
        look(key->entry);
    }
  }

  /// The last one takes the place of each.
  void erase(std::vector<std::size_t> erased) {
    std::sort(erased.begin(), erased.end());
    for (; !erased.empty(); erased.pop_back()) {
      const std::size_t e = erased.back();
      const std::size_t last = entries_.size() - 1;
      if (!order_.empty()) {
        take_out_of_order(e);
        if (e != last) take_out_of_order(last);
      }
      const bool has_order = !order_.empty();
      if (e != last) entries_[e] = std::move(entries_[last]);
      entries_.pop_back();
      if (has_order && e != last) put_in_order(e);
    }
    if (entries_.size() <= kFew / 2) forget_order();
  }

  std::vector<Entry> entries_;
  absl::btree_set<Key> order_;  // of all entries, or of none
  std::array<std::uint32_t, kLengths> counts_{};
  std::uint64_t lengths_ = 0;  // bit l: counts_[l] > 0
  mutable std::uint64_t looked_at_ = 0;
};

}  // namespace nuna::base
