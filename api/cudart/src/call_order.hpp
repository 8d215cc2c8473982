#pragma once
// In which order the calls of several host threads take effect, on all ranks the same. Pure.
//
// Each rank tells which calls wait there: one of each thread, at most. What waits on all ranks goes on, as it came on the first one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nuna::cudart {

/// A call that waits for its turn.
struct WaitingCall {
  std::uint64_t place = 0;  ///< which call of which thread (host_thread.hpp)
  std::uint64_t what = 0;   ///< a hash of what it does
  friend bool operator==(const WaitingCall&, const WaitingCall&) = default;
};

/// The place of the end of the program, whichever thread ends it.
inline constexpr std::uint64_t kEndPlace = 0;

/// What a rank tells in a round, calls in the order in which they came.
struct RoundList {
  bool impatient = false;  ///< nothing has had its turn for long; of the first rank that counts
  std::vector<WaitingCall> calls;
};
std::vector<std::byte> packed(const RoundList& list);
/// Nothing where the bytes are no list.
std::optional<RoundList> unpacked(std::span<const std::byte> bytes);

/// Two ranks whose calls differ: the call of one, and what the other does instead.
struct Parting {
  std::size_t rank = 0;
  std::uint64_t place = 0;
  std::size_t other_rank = 0;
  std::uint64_t other_place = 0;
  friend bool operator==(const Parting&, const Parting&) = default;
};

struct Round {
  std::vector<std::uint64_t>
      admitted;  ///< places, in order; one that is the end of the program is the last of all
  std::optional<Parting> parting;  ///< the calls that come next are no longer the same
};
/// What all ranks make of their lists, given in the order of ranks: the same everywhere.
Round round_of(const std::vector<RoundList>& lists);

}  // namespace nuna::cudart
