#pragma once
// What the parts of a launch touched while it ran whole, byte by byte, and what follows for later launches. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "byte_set.hpp"
#include "tiles.hpp"

namespace nuna::cudart {

/// Memory that is one buffer of Nuna's, so that each device may have a copy.
struct ChunkRange {
  std::uint64_t number = 0;  ///< of the buffer; no other has it, ever
  Interval addresses;        ///< as the program has them
};
using Chunks = std::vector<ChunkRange>;  ///< by address

/// What one part touched. One thread adds, any number ask afterwards.
class PartSets {
 public:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  explicit PartSets(std::shared_ptr<const Chunks> chunks)
      : chunks_(std::move(chunks)), sets_(chunks_->size()) {}

  /// The chunk that holds all of `addresses`; `near`: a guess.
  std::size_t chunk_of(Interval addresses, std::size_t near) const {
    if (near < chunks_->size() && (*chunks_)[near].addresses.contains(addresses)) return near;
    return search(addresses);
  }
  void add(std::size_t chunk, Interval addresses, bool writes) {
    (writes ? sets_[chunk].writes : sets_[chunk].reads).add(in_chunk(chunk, addresses));
  }
  /// All that is touched of a chunk, as another rank has recorded it.
  void set(std::size_t chunk, ByteSet reads, ByteSet writes) {
    sets_[chunk] = {std::move(reads), std::move(writes)};
  }
  bool holds(std::size_t chunk, Interval addresses, bool writes) const {
    return (writes ? sets_[chunk].writes : sets_[chunk].reads).holds(in_chunk(chunk, addresses));
  }
  /// Of bytes, counted from the chunk's first.
  const ByteSet& reads(std::size_t chunk) const { return sets_[chunk].reads; }
  const ByteSet& writes(std::size_t chunk) const { return sets_[chunk].writes; }

  /// Why sets of bytes do not tell what it did: "atomic update (file:line)". The first reason counts.
  void refuse(std::string why) {
    if (!refusal_) refusal_ = std::move(why);
  }
  const std::optional<std::string>& refusal() const { return refusal_; }

 private:
  struct Sets {
    ByteSet reads;
    ByteSet writes;
  };
  std::size_t search(Interval addresses) const;
  Interval in_chunk(std::size_t chunk, Interval addresses) const {
    const Index first = (*chunks_)[chunk].addresses.begin;
    return {addresses.begin - first, addresses.end - first};
  }

  std::shared_ptr<const Chunks> chunks_;
  std::vector<Sets> sets_;
  std::optional<std::string> refusal_;
};

/// Of a whole launch, whose blocks are cut into `parts` along `axis`: 0 is x.
class RecordedSets {
 public:
  RecordedSets(std::shared_ptr<const Chunks> chunks, const Grid& grid, int axis, int parts);

  const Chunks& chunks() const { return *chunks_; }
  int axis() const { return axis_; }
  int parts() const { return static_cast<int>(sets_.size()); }
  /// Nothing is recorded then.
  void clear();
  PartSets& part(int number) { return sets_[static_cast<std::size_t>(number)]; }
  const PartSets& part(int number) const { return sets_[static_cast<std::size_t>(number)]; }
  /// The blocks of a part along the axis.
  Interval blocks(int part) const { return blocks_of_part(blocks_, part, parts()); }
  /// The part that has all of these blocks along the axis; -1: none.
  int part_of(Interval blocks) const;

  /// What stands against sharing it out, whatever the axis.
  std::optional<std::string> refusal() const;
  /// Which byte is written by a part and touched by another.
  std::optional<std::string> conflict() const;
  /// Rows that parts write, of all parts.
  std::size_t written_rows() const;
  /// Whether both touch the same, part by part.
  friend bool operator==(const RecordedSets& a, const RecordedSets& b);

 private:
  std::shared_ptr<const Chunks> chunks_;
  int axis_;
  Index blocks_;
  std::vector<PartSets> sets_;
};

/// What becomes of the launches of a signature: they run whole and are recorded, until kStable in a row have touched the same; those
/// after them are shared out if no part writes a byte that another touches. One axis after the other is tried, the slowest first.
class LaunchHistory {
 public:
  static constexpr int kStable = 2;
  static constexpr int kMostRecordings = 8;  ///< that differ, or an axis was wrong
  static constexpr int kMostDeviations = 3;

  enum class Next { record, share, run_whole };

  LaunchHistory(const Grid& grid, int parts);

  Next next() const { return next_; }
  /// Of `record`: along which axis.
  int axis() const { return axes_[axis_]; }
  /// Of `share`: what each part may touch.
  const std::shared_ptr<const RecordedSets>& sets() const { return last_; }
  /// Of `run_whole`: why, for ever.
  const std::string& reason() const { return reason_; }

  void add(std::shared_ptr<const RecordedSets> recorded);
  /// A shared launch touched something else, and has been undone.
  void add_deviation();
  /// It runs whole from now on.
  void give_up(std::string why);

 private:
  std::vector<int> axes_;
  std::size_t axis_ = 0;
  Next next_ = Next::record;
  std::shared_ptr<const RecordedSets> last_;
  int stable_ = 0;
  int recordings_ = 0;
  int deviations_ = 0;
  std::string reason_;
};

}  // namespace nuna::cudart
