#pragma once
// Lanes: what the two ends of one message say to each other beside it.

#include <cstdint>

#include "cluster/communicator.hpp"

namespace nuna::transfer {

enum class Lane : std::uint8_t { answer = 1, more, chunks, sum };

/// The message's envelope for one of its lanes, which no other message has.
inline cluster::Envelope in_lane(const cluster::Envelope& envelope, Lane lane) {
  cluster::Envelope own = envelope;
  own.lane = (envelope.hash ^ (envelope.sequence << 20)) * 0x9e3779b97f4a7c15U +
             (std::uint64_t{envelope.message} << 3) + static_cast<std::uint64_t>(lane);
  own.lane |= std::uint64_t{1} << 63;  // not zero
  return own;
}

}  // namespace nuna::transfer
