#pragma once
// BlockTable: one word for each block of a buffer, which says what threads of the program may do with it now (D7).
//
// The words live in memory of their own, of which only the pages in use exist: a terabyte of closed blocks costs addresses.
// A word is zero until its block is touched. Which are not zero is known by bits, so that looking for them costs by their
// number, not the buffer's size.
//
// Threads: words may be read and changed from any, also in signal handlers; clear() and for_each() only while nobody else
// changes words (the gate is paused). Failure: the constructor throws Error (out_of_memory).

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"

namespace nuna::adsm {

/// What a word says.
namespace word {
inline constexpr std::uint32_t kAccess = 3;   ///< one of the next four
inline constexpr std::uint32_t kClosed = 0;   ///< a touch faults
inline constexpr std::uint32_t kServing = 1;  ///< some thread is about to open it
inline constexpr std::uint32_t kRead = 2;     ///< open for reading
inline constexpr std::uint32_t kWrite = 3;    ///< open for both
inline constexpr std::uint32_t kCurrent =
    4;  ///< the host place has the newest bytes, though the residency need not know
inline constexpr std::uint32_t kDirty = 8;   ///< the program may have written since this was last asked for
inline constexpr std::uint32_t kTwin = 64;   ///< the program sees the twin, not the host place's memory
inline constexpr std::uint32_t kAsked = 32;  ///< the service thread was asked for its bytes
inline constexpr std::uint32_t kNews =
    16;  ///< the host place's memory was used since this was last asked for
}  // namespace word

using Word = std::atomic<std::uint32_t>;

class BlockTable {
 public:
  explicit BlockTable(Index blocks);
  ~BlockTable();
  BlockTable(const BlockTable&) = delete;
  BlockTable& operator=(const BlockTable&) = delete;

  Index blocks() const { return blocks_; }
  Word& operator[](Index block) const { return words_[block]; }

  /// A word that is about to differ from zero. Before it does.
  void touch(Index block) noexcept;
  /// Forgets the word: it is zero.
  void clear(Index block) noexcept;
  bool untouched() const noexcept { return touched_.load(std::memory_order_relaxed) == 0; }

  /// Calls f(block) for the touched blocks in [range), ascending; f may clear its block.
  template <class F>
  void for_each(Interval range, F f) const {
    for (Index block = next(range.begin); block < range.end; block = next(block + 1)) f(block);
  }
  /// The first touched block from `block` on; blocks() or more if there is none.
  Index next(Index block) const noexcept;

 private:
  static constexpr Index kBits = 64;
  using Bits = std::atomic<std::uint64_t>;

  Index blocks_;
  std::size_t bytes_ = 0;  // of the mapping
  std::byte* memory_ = nullptr;
  Word* words_ = nullptr;
  Bits* fine_ = nullptr;    // a bit for a block
  Bits* coarse_ = nullptr;  // a bit for a word of fine_
  std::atomic<Index> touched_{0};
};

}  // namespace nuna::adsm
