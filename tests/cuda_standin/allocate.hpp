#pragma once
// Memory of a card, with the card's limit.

#include <memory>

#include "state.hpp"

namespace standin {

/// Null if the card has not that much left.
std::shared_ptr<Block> take_memory(int device, std::size_t size_bytes, bool shareable);

/// Memory as cuMemAlloc gives it: reserved, and to be used by its card; 0 if there is no more.
/// `owned`: by the driver, so that the program cannot free it.
std::uint64_t allocate(Context& context, std::size_t size_bytes, bool owned = false);

/// Gives back the addresses of a range that allocate() made and that was removed.
void release_addresses(const Range& range);

}  // namespace standin
