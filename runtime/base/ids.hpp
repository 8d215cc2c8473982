#pragma once
// Ids as types: a rank is not a place is not a device.

#include <compare>
#include <cstdint>
#include <utility>

namespace nuna::base {

/// A rank of a Context's communicator, from 0.
struct RankId {
  std::int32_t value = 0;
  auto operator<=>(const RankId&) const = default;
  template <class H>
  friend H AbslHashValue(H h, RankId r) {
    return H::combine(std::move(h), r.value);
  }
};

/// A memory of one rank: 0 is its host memory, the others belong to devices that have memory of their own.
struct PlaceId {
  std::int32_t value = 0;
  auto operator<=>(const PlaceId&) const = default;
  template <class H>
  friend H AbslHashValue(H h, PlaceId p) {
    return H::combine(std::move(h), p.value);
  }
};
inline constexpr PlaceId kHostPlace{0};
inline constexpr int kMaxPlaces = 64;

/// A device of one rank, from 0.
struct DeviceId {
  std::int32_t value = 0;
  auto operator<=>(const DeviceId&) const = default;
};

}  // namespace nuna::base
