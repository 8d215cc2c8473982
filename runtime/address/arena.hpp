#pragma once
// Arena: hands out byte offsets inside a rank's slots. Pure: it owns no memory.
//
// All instances of a buffer lie at one offset, so a rank needs a single arena for all of its places. Ranks
// that make the same calls get the same offsets.
//
// Blocks are whole granules (a page by default, so that memory can be committed, protected and given back a
// block at a time). Best fit; freed neighbours melt together. Large blocks take *colours*: one after the
// other they begin at different pages modulo 64 KiB, because streams between equal low address bits run at
// half the speed. A colour gives way to an alignment above the granule, and to want of space.
//
// Bounds: O(log n) for n blocks and holes, as long as few holes are large enough but badly aligned. The arena
// remembers where released blocks began until their space is used again (8 bytes each), to tell a double
// release from a wrong offset.
//
// Threads: none; the owner locks. Failure: nuna::Error with sizes, the arena unchanged: allocate()
// out_of_memory, free() already_released or not_nuna_pointer. A negative size and an alignment that is no
// power of two are broken invariants.

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "nuna/box.hpp"

namespace nuna::address {

inline constexpr Index kPageBytes = 4096;
inline constexpr Index kColours = 16;
inline constexpr Index kColourPeriodBytes = kColours * kPageBytes;

class Arena {
 public:
  /// Blocks at least this large are coloured; the price is at most a sixteenth of their size in addresses.
  static constexpr Index kLargeBytes = 16 * kColourPeriodBytes;

  /// Allocates inside `range` (for arenas that divide the offsets of a slot). A granule is a power of two.
  explicit Arena(Interval range, Index granule_bytes = kPageBytes);
  explicit Arena(Index size_bytes, Index granule_bytes = kPageBytes)
      : Arena(Interval{0, size_bytes}, granule_bytes) {}

  /// The first byte of a new block, a multiple of `alignment_bytes` (a power of two). A block of no bytes
  /// takes a granule, so that it has an offset of its own.
  Index allocate(Index bytes, Index alignment_bytes = 1);

  /// Gives back the block that begins at `offset`.
  void free(Index offset);

  /// The block that contains the byte at `offset`, as it was asked for (without the rest of its last
  /// granule).
  std::optional<Interval> find(Index offset) const;

  std::size_t blocks() const { return blocks_.size(); }
  Index free_bytes() const { return free_bytes_; }
  Index largest_hole_bytes() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  struct Block {
    Index asked_bytes = 0;  ///< by the caller
    Index taken_bytes = 0;  ///< whole granules
  };
  /// Where a block may begin: at `remainder` modulo `period`.
  struct Fit {
    Index period = 1;
    Index remainder = 0;
  };

  std::optional<Index> place(Index bytes, Fit fit) const;
  void take(Interval block);
  void give(Interval block);
  void add_hole(Interval hole);
  void remove_hole(Interval hole);
  [[noreturn]] void refuse_free(Index offset) const;

  Index granule_bytes_;
  Index size_bytes_ = 0;
  Index free_bytes_ = 0;
  Index next_colour_ = 0;
  absl::btree_map<Index, Block> blocks_;              // begin -> block
  absl::btree_map<Index, Index> holes_;               // begin -> end; never touching each other
  absl::btree_set<std::pair<Index, Index>> by_size_;  // size, begin of the holes
  absl::btree_set<Index> released_;                   // begins of released blocks in holes
};

}  // namespace nuna::address
