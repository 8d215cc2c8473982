#pragma once
// Sets of bytes, by address. Plain values; no thread rules.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::cudart {

/// Disjoint ranges that do not touch, in order.
class ByteRanges {
 public:
  ByteRanges() = default;
  explicit ByteRanges(std::vector<Interval> ranges);  ///< in any order; they may meet, and be empty

  /// Whether all of `bytes` are in it. `near` is a guess where, and is corrected.
  bool holds(Interval bytes, std::size_t* near) const;
  /// The first range that ends behind `byte`.
  std::size_t first_behind(Index byte) const;
  const std::vector<Interval>& ranges() const { return ranges_; }

 private:
  std::vector<Interval> ranges_;
};

/// Which bytes of a set have been marked.
class MarkedBytes {
 public:
  explicit MarkedBytes(ByteRanges all);
  void mark(Interval bytes);  ///< those of them that are in the set
  /// What is left, at most `most` ranges.
  std::vector<Interval> unmarked(std::size_t most) const;

 private:
  ByteRanges all_;
  std::vector<std::size_t> starts_;  ///< of each range, in marks_
  std::vector<std::uint8_t> marks_;
  std::size_t near_ = 0;
};

}  // namespace nuna::cudart
