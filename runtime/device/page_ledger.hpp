#pragma once
// Which bytes of an address range are committed, and which pages that takes. Pure.
//
// Bytes are kept exactly, pages are derived: a page is held as long as one byte on it is committed, so
// neighbours that share a page can come and go in any order. Logarithmic in the number of intervals, plus
// those met.

#include <absl/container/btree_map.h>
#include <absl/container/inlined_vector.h>

#include "nuna/box.hpp"

namespace nuna::device {

class PageLedger {
 public:
  using Ranges = absl::InlinedVector<Interval, 4>;

  explicit PageLedger(Index page_bytes) : page_bytes_(page_bytes) {}

  /// Bytes of the pages held.
  Index held_bytes() const { return held_bytes_; }

  /// The ranges of pages, ascending, that commit(bytes) would add.
  Ranges missing(Interval bytes) const;
  /// The ranges of pages, ascending, that release(bytes) would free.
  Ranges freed(Interval bytes) const;

  void commit(Interval bytes);
  /// Takes `bytes` out; what was not committed is ignored.
  void release(Interval bytes);

 private:
  using Map = absl::btree_map<Index, Index>;  // begin -> end; disjoint, not touching

  Interval pages_around(Interval bytes) const;
  /// The first interval that ends after `position`.
  Map::const_iterator first_ending_after(Index position) const;

  Index page_bytes_;
  Index held_bytes_ = 0;
  Map committed_;
};

/// Sum of sizes.
Index total(const PageLedger::Ranges& ranges);

}  // namespace nuna::device
