#pragma once
// The memory behind a CUDA device's address range (D1): committed, accounted, given back.
//
// Two kinds. *Mapped*: an address range is reserved (at the wished address, if the driver honours it) and physical memory is
// mapped into it where it is committed, in chunks of whole granules (2 MiB on today's cards); a chunk goes back to the card
// when nothing of it is committed any more. *Plain*: cards without the virtual-memory calls, or NUNA_CUDA_MEMORY=plain, get one
// allocation of the whole limit at the start, and a range as large as that.
//
// Any thread. make() and commit() throw nuna::Error (out_of_memory) with sizes, and change nothing then; release() does not throw.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/card.hpp"
#include "nuna/box.hpp"

namespace nuna::device::cuda {

class CardMemory {
 public:
  struct Config {
    std::string owner;  ///< the device's name, for messages
    Card* card = nullptr;
    std::vector<Card*> peers;  ///< cards that are to reach this memory
    Index range_bytes = 0;     ///< of addresses; a plain one is cut to the limit
    Index limit_bytes = 0;
    std::byte* wished = nullptr;
    bool plain = false;
  };
  static std::unique_ptr<CardMemory> make(Config config);
  virtual ~CardMemory() = default;

  virtual std::byte* base() const = 0;
  virtual Index range_bytes() const = 0;
  virtual void commit(Interval bytes) = 0;
  virtual void release(Interval bytes) = 0;
};

}  // namespace nuna::device::cuda
