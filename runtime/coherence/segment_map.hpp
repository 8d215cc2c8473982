#pragma once
// SegmentMap: a value for every byte of [0, size), kept as few segments as possible.
//
// Purpose: the directory and the residency attach a small value (who holds the newest bytes) to byte ranges
// of a buffer. Writes and reads change whole ranges; neighbours with equal values must melt together, or the
// map would grow with the number of accesses rather than with the number of different values.
//
// Guarantees: the map is total (every byte of [0, size) has a value) and canonical (neighbouring segments
// differ), so two maps are equal exactly when every byte is. A map of size 0 has no segment.
//
// Values need a copy, a move and ==. A default-constructed map has size 0.
//
// Bounds: ranges are half-open and must lie inside [0, size); an empty range touches nothing. With n
// segments, k of them inside the range: at() takes O(log n), the others O(log n + k). Memory: O(n).
//
// Threads: as a standard container: concurrent const calls are safe, anything else needs a lock. Functions
// that are handed in must not touch the map and must not throw (an update that is interrupted leaves it half
// transformed).
//
// Ownership: values are owned by the map; references from at() and for_each() live until the next change.
//
// Failure: a range outside [0, size) is a broken invariant (base::check); so is a negative size.
//
//   SegmentMap<Holders> map(buffer_bytes, Holders::nobody());
//   map.assign({0, 4096}, Holders::only(rank));
//   map.update({2048, 8192}, [&](const Holders& h) { return h.with(reader); });
//   map.for_each({0, 8192}, [](Interval bytes, const Holders& h) { ... });

#include <absl/container/btree_map.h>

#include <cstddef>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "nuna/box.hpp"

namespace nuna::coherence {

template <class Value>
class SegmentMap {
 public:
  SegmentMap() = default;
  /// Every byte of [0, size) has the value `initial`.
  explicit SegmentMap(Index size, Value initial = Value()) : size_(size) {
    base::check(size >= 0, "a segment map has a negative size");
    if (size > 0) starts_.emplace(0, std::move(initial));
  }

  Index size() const { return size_; }
  std::size_t segments() const { return starts_.size(); }

  /// The value of one byte.
  const Value& at(Index offset) const {
    base::check(0 <= offset && offset < size_, "an offset lies outside its segment map");
    return std::prev(starts_.upper_bound(offset))->second;
  }

  /// Calls f(Interval, const Value&) for every segment that meets `range`, clipped to it, in ascending order.
  template <class Function>
  void for_each(Interval range, Function f) const {
    check_inside(range);
    if (range.empty()) return;
    auto segment = std::prev(starts_.upper_bound(range.begin));
    Index begin = range.begin;
    const Value* value = &segment->second;
    for (++segment; segment != starts_.end() && segment->first < range.end; ++segment) {
      f(Interval{begin, segment->first}, *value);
      begin = segment->first;
      value = &segment->second;
    }
    f(Interval{begin, range.end}, *value);
  }

  /// The same for the whole of those segments, not clipped.
  template <class Function>
  void for_each_whole(Interval range, Function f) const {
    check_inside(range);
    if (range.empty()) return;
    for (auto segment = std::prev(starts_.upper_bound(range.begin));
         segment != starts_.end() && segment->first < range.end;) {
      const auto next = std::next(segment);
      f(Interval{segment->first, next == starts_.end() ? size_ : next->first}, segment->second);
      segment = next;
    }
  }

  /// Gives every byte of `range` the value `value`.
  void assign(Interval range, Value value) {
    check_inside(range);
    if (range.empty()) return;
    auto first = starts_.lower_bound(range.begin);
    const bool joins_left = first != starts_.begin() && std::prev(first)->second == value;
    auto last = first;
    while (last != starts_.end() && last->first < range.end) ++last;
    if (joins_left &&
        first == last) {  // all of the range had the value already, up to a segment that may join
      return join_right(last, range.end, value);
    }

    // The byte behind the range keeps its value: from its own start, or from the last start inside the range.
    const bool starts_behind = last != starts_.end() && last->first == range.end;
    const bool ends_inside = range.end < size_ && !starts_behind;
    if (starts_behind && last->second == value) ++last;
    if (ends_inside && !(std::prev(last)->second == value)) {
      return replace_and_split(first, last, range, std::move(value), joins_left);
    }
    replace(first, last, range.begin, std::move(value), joins_left);
  }

  /// Replaces the value v of every byte of `range` by f(v). `f` (const Value& -> Value) is called once a
  /// segment, in ascending order.
  template <class Function>
  void update(Interval range, Function f) {
    check_inside(range);
    if (range.empty()) return;
    split(range.end);
    auto scan = split(range.begin);
    auto kept = scan;  // the last segment that stays; what follows it up to `scan` has melted into it
    bool any_kept = false;
    if (scan != starts_.begin()) {
      kept = std::prev(scan);
      any_kept = true;
    }
    for (; scan != starts_.end() && scan->first < range.end; ++scan) {
      Value transformed = f(std::as_const(scan->second));
      if (any_kept && kept->second == transformed) continue;
      if (any_kept) scan = starts_.erase(std::next(kept), scan);
      scan->second = std::move(transformed);
      kept = scan;
      any_kept = true;
    }
    if (scan != starts_.end() && scan->second == kept->second) ++scan;
    starts_.erase(std::next(kept), scan);
  }

  friend bool operator==(const SegmentMap& a, const SegmentMap& b) {
    return a.size_ == b.size_ && a.starts_ == b.starts_;
  }

 private:
  // By start: a segment lasts to the next one's, or to size_.
  using Starts = absl::btree_map<Index, Value>;
  using Position = typename Starts::iterator;

  void check_inside(Interval range) const {
    base::check(range.empty() || (0 <= range.begin && range.end <= size_),
                "a range lies outside its segment map");
  }

  /// The range already continues the segment on its left; so does the one behind it, if it has the same
  /// value.
  void join_right(Position last, Index end, const Value& value) {
    if (last != starts_.end() && last->first == end && last->second == value) starts_.erase(last);
  }

  /// The starts in [first, last) give way to one at `begin`, unless the range joins the segment on its left.
  void replace(Position first, Position last, Index begin, Value value, bool joins_left) {
    if (!joins_left && first != last && first->first == begin) {
      first->second = std::move(value);
      if (++first != last) starts_.erase(first, last);
      return;
    }
    if (first != last) first = erase(first, last);
    if (!joins_left) starts_.emplace_hint(first, begin, std::move(value));
  }

  /// The same, and the segment that `range.end` cuts starts again there.
  void replace_and_split(Position first, Position last, Interval range, Value value, bool joins_left) {
    const Position cut = std::prev(last);
    Value behind = first == last ? cut->second : std::move(cut->second);
    if (!joins_left && first != last && first->first == range.begin) {
      first->second = std::move(value);
      if (++first != last) last = erase(first, last);
      starts_.emplace_hint(last, range.end, std::move(behind));
      return;
    }
    if (first != last) last = erase(first, last);
    last = starts_.emplace_hint(last, range.end, std::move(behind));
    if (!joins_left) starts_.emplace_hint(last, range.begin, std::move(value));
  }

  /// Usually there is a single start to erase, for which the tree has a shorter way.
  Position erase(Position first, Position last) {
    return std::next(first) == last ? starts_.erase(first) : starts_.erase(first, last);
  }

  /// Makes a segment start at `offset` (which may leave equal neighbours) and returns it; none starts at
  /// size_.
  Position split(Index offset) {
    auto at = starts_.lower_bound(offset);
    if (offset == size_ || (at != starts_.end() && at->first == offset)) return at;
    Value same = std::prev(at)->second;
    return starts_.emplace_hint(at, offset, std::move(same));
  }

  Index size_ = 0;
  Starts starts_;
};

}  // namespace nuna::coherence
