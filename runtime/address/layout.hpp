#pragma once
// The bits of an address (D1): which rank, which of its memories, which byte.
//
//   GlobalAddress = rank + 1 (17 bits) | place (7 bits) | offset (40 bits)
//
// An address whose rank field is 0 is a raw local pointer, never a GlobalAddress of a rank: canonical user
// pointers have 47 bits, so the two cannot be mistaken for each other. Within a rank all instances of a
// buffer lie at the same offset of every place: moving to another memory is with_memory(), arithmetic without
// a look-up.
//
// Pure values: copyable, any thread. Making an address from numbers that do not fit is a broken invariant.

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "base/ids.hpp"
#include "nuna/box.hpp"

namespace nuna::address {

inline constexpr int kRankBits = 17;
inline constexpr int kPlaceBits = 7;
inline constexpr int kOffsetBits = 40;
static_assert(kRankBits + kPlaceBits + kOffsetBits == 64);
static_assert(base::kMaxPlaces <= 1 << kPlaceBits);

inline constexpr std::int32_t kMaxRanks = (1 << kRankBits) - 1;
inline constexpr Index kMaxOffset = (Index{1} << kOffsetBits) - 1;

/// One memory of the cluster.
struct MemoryId {
  base::RankId rank;
  base::PlaceId place;
  auto operator<=>(const MemoryId&) const = default;
  template <class H>
  friend H AbslHashValue(H h, MemoryId m) {
    return H::combine(std::move(h), m.rank, m.place);
  }
};

/// "rank 3, host memory" or "rank 3, place 2".
std::string to_string(MemoryId memory);

class GlobalAddress {
 public:
  /// The raw local null pointer.
  constexpr GlobalAddress() = default;

  static GlobalAddress make(MemoryId memory, Index offset);
  /// Of a raw local pointer; is_local() holds.
  static GlobalAddress local(const void* pointer);
  static constexpr GlobalAddress from_bits(std::uint64_t bits) { return GlobalAddress(bits); }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool is_local() const { return rank_field() == 0; }

  // The parts: for addresses that are not local.
  MemoryId memory() const;
  Index offset() const;
  /// The same offset in another memory.
  GlobalAddress with_memory(MemoryId other) const { return make(other, offset()); }
  /// `bytes` further, in the same memory.
  GlobalAddress advanced(Index bytes) const { return make(memory(), offset() + bytes); }

  auto operator<=>(const GlobalAddress&) const = default;
  template <class H>
  friend H AbslHashValue(H h, GlobalAddress a) {
    return H::combine(std::move(h), a.bits_);
  }

 private:
  constexpr explicit GlobalAddress(std::uint64_t bits) : bits_(bits) {}
  constexpr std::uint64_t rank_field() const { return bits_ >> (kPlaceBits + kOffsetBits); }

  std::uint64_t bits_ = 0;
};

/// "rank 3, place 2, offset 0x1000" or "local 0x7f0000001000".
std::string to_string(GlobalAddress address);

}  // namespace nuna::address
