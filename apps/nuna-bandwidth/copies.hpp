#pragma once
// The schemes within a rank, on the queues of its places, as one writes them with streams and events: nothing waits but for
// what it needs, and the host only at the end.
//
// Threads: the one that measures. Memory: the places' and the staging buffers stay until run() returns.

#include <cstddef>
#include <vector>

#include "execute/places.hpp"
#include "nuna-bandwidth/scheme.hpp"
#include "transfer/mover.hpp"

namespace nuna_bandwidth {

/// One direction. The buffers are of the largest size.
struct Leg {
  nuna::base::PlaceId from_place;
  nuna::base::PlaceId to_place;
  std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::byte* unpinned = nullptr;
  std::byte* pinned = nullptr;
};

class Copies {
 public:
  Copies(const nuna::execute::Places& places, nuna::transfer::Mover& mover, std::vector<Leg> legs)
      : places_(places), mover_(mover), legs_(std::move(legs)) {}

  /// Moves `bytes` on every leg and returns when they are there. `block_bytes`: of double buffering. Throws what a copy failed
  /// with.
  void run(Scheme scheme, nuna::Index bytes, nuna::Index block_bytes) const;

 private:
  void naive(nuna::Index bytes) const;
  void pinned(nuna::Index bytes) const;
  void double_buffered(nuna::Index bytes, nuna::Index block_bytes) const;
  void direct(nuna::Index bytes) const;
  void nuna(nuna::Index bytes) const;
  nuna::base::Ticket nuna_copy(const Leg& leg, nuna::Index bytes) const;
  nuna::device::Device& source(const Leg& leg) const { return places_.at(leg.from_place); }
  nuna::device::Device& target(const Leg& leg) const { return places_.at(leg.to_place); }

  const nuna::execute::Places& places_;
  nuna::transfer::Mover& mover_;
  const std::vector<Leg> legs_;
};

/// One run of bytes.
nuna::device::Region region_of(std::byte* first, nuna::Index bytes);

}  // namespace nuna_bandwidth
