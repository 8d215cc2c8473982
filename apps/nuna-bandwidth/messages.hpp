#pragma once
// The schemes between two ranks: sides that send or receive, driven by the thread that measures.
//
//   auto side = sending_side(scheme, end, bytes, block_bytes);   // the peer makes a receiving_side
//   side->start();
//   while (!side->step()) {}
//
// Written by hand they use MPI as a program does, on a communicator of their own. Only with MPI built in; else each function
// throws nuna::Error (unsupported).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "nuna-bandwidth/scheme.hpp"
#include "transfer/carrier.hpp"

namespace nuna_bandwidth {

class Side {
 public:
  virtual ~Side() = default;
  virtual void start() = 0;
  /// Does what can be done at once; true when the bytes may be used again, or are there.
  virtual bool step() = 0;
};

/// This rank's end of one direction.
struct End {
  int peer = 0;
  nuna::base::PlaceId place;
  nuna::device::Device* queue =
      nullptr;  ///< of the place; null: MPI reads and writes the memory itself, nothing is staged
  std::byte* memory = nullptr;
  std::byte* unpinned = nullptr;
  std::byte* pinned = nullptr;
  nuna::transfer::Carrier* carrier = nullptr;
  std::uint64_t number = 0;  ///< of the message between the two ranks
};

std::unique_ptr<Side> sending_side(Scheme scheme, const End& end, nuna::Index bytes, nuna::Index block_bytes);
std::unique_ptr<Side> receiving_side(Scheme scheme, const End& end, nuna::Index bytes,
                                     nuna::Index block_bytes);

/// Starts all sides, then takes steps until all are done.
void run(const std::vector<std::unique_ptr<Side>>& sides);

}  // namespace nuna_bandwidth
