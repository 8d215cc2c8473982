#pragma once
// Pages of a buffer's view: opening, closing and mapping them, and how many pieces of mapping that makes.
//
// Signals: everything here but the first call of most_pieces() is safe in handlers.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"

namespace nuna::adsm {

inline constexpr Index kPageBytes = 4096;
inline Index whole_pages(Index bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

/// Pieces of mapping that the views of all buffers of the process have, about; and how many they may have: a quarter of the
/// mappings that the kernel allows.
extern std::atomic<Index> all_pieces;
Index most_pieces();

/// The memory protection that lets the program do what a block's word says (block_table.hpp).
int protection_of(std::uint32_t access) noexcept;
/// Maps pages of a file; neither dumped in a core nor inherited by children. False if the kernel refuses.
bool map_block(std::byte* first, std::size_t size, int protection, int file, Index offset) noexcept;
/// Makes the page tables know pages that are open: the kernel maps the pages around one that is read, up to 64 KiB, which costs
/// a seventh of a fault for each; and pages of shared memory that were mapped by a read may be written (decision 0023).
void map_pages(const std::byte* first, Index bytes) noexcept;

}  // namespace nuna::adsm
