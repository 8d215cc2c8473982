#pragma once
// Streams: guesses from the faults so far which blocks the program will touch next (adaptive prefetch).
//
// A stream is a run of faults at a constant distance, forwards or backwards. Each fault that continues one doubles what is
// opened with it, up to a bound; any other fault opens its block alone. Kept apart for a few streams at once, so several
// threads, or several arrays of a loop in one buffer, do not disturb each other. A fault that was guessed right is seen
// only at the end of what was opened, so a stream goes on from there.
//
// Threads: any. Signals: safe. Races between threads cost a guess, never a byte.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"

namespace nuna::adsm {

/// Blocks first, first + stride, ... of which the first has faulted.
struct Guess {
  Index first = 0;
  Index count = 1;
  Index stride = 1;
  friend bool operator==(const Guess&, const Guess&) = default;
};

class Streams {
 public:
  /// `most`: blocks of one guess.
  explicit Streams(Index most) : most_(most) {}

  /// What to open at a fault of `block`.
  Guess at(Index block) noexcept;

 private:
  static constexpr std::size_t kStreams = 8;
  static constexpr Index kFarthest = 1024;  ///< blocks between two faults of one stream
  struct Stream {
    std::atomic<Index> last{-1};   ///< the last block that was opened by it
    std::atomic<Index> stride{0};  ///< 0: not known yet
    std::atomic<Index> count{1};   ///< that were opened with the last fault
    std::atomic<std::uint32_t> used{0};
  };

  Index most_;
  std::atomic<std::uint32_t> clock_{0};
  std::array<Stream, kStreams> streams_;
};

}  // namespace nuna::adsm
