#include "adsm/block_table.hpp"

#include <sys/mman.h>

#include <bit>
#include <string>

#include "nuna/error.hpp"

namespace nuna::adsm {
namespace {

Index rounded(Index value, Index step) { return (value + step - 1) / step * step; }

}  // namespace

BlockTable::BlockTable(Index blocks) : blocks_(blocks) {
  constexpr Index kPage = 4096;
  const Index fine = rounded(blocks, kBits) / kBits;
  const Index coarse = rounded(fine, kBits) / kBits;
  const Index words_bytes = rounded(blocks * static_cast<Index>(sizeof(Word)), kPage);
  const Index fine_bytes = rounded(fine * static_cast<Index>(sizeof(Bits)), kPage);
  bytes_ = static_cast<std::size_t>(words_bytes + fine_bytes + coarse * static_cast<Index>(sizeof(Bits)));
  void* const got =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    throw Error(
        ErrorCode::out_of_memory,
        "no address space for the states of " + std::to_string(blocks) +
            " blocks of a buffer that the host is to use: raise the limit on address space (ulimit -v)");
  }
  memory_ = static_cast<std::byte*>(got);
  words_ = reinterpret_cast<Word*>(memory_);
  fine_ = reinterpret_cast<Bits*>(memory_ + words_bytes);
  coarse_ = reinterpret_cast<Bits*>(memory_ + words_bytes + fine_bytes);
}

BlockTable::~BlockTable() { munmap(memory_, bytes_); }

// Fine before coarse: who sees the coarse bit finds the fine one.
void BlockTable::touch(Index block) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (block % kBits);
  Bits& fine = fine_[block / kBits];
  if ((fine.load(std::memory_order_relaxed) & bit) != 0) return;
  const std::uint64_t before = fine.fetch_or(bit, std::memory_order_relaxed);
  if ((before & bit) != 0) return;
  touched_.fetch_add(1, std::memory_order_relaxed);
  if (before == 0) {
    const Index word = block / kBits;
    coarse_[word / kBits].fetch_or(std::uint64_t{1} << (word % kBits), std::memory_order_relaxed);
  }
}

void BlockTable::clear(Index block) noexcept {
  words_[block].store(0, std::memory_order_relaxed);
  const std::uint64_t bit = std::uint64_t{1} << (block % kBits);
  Bits& fine = fine_[block / kBits];
  const std::uint64_t before = fine.fetch_and(~bit, std::memory_order_relaxed);
  if ((before & bit) == 0) return;
  touched_.fetch_sub(1, std::memory_order_relaxed);
  if (before != bit) return;
  const Index word = block / kBits;
  coarse_[word / kBits].fetch_and(~(std::uint64_t{1} << (word % kBits)), std::memory_order_relaxed);
}

Index BlockTable::next(Index block) const noexcept {
  if (untouched()) return blocks_;
  while (block < blocks_) {
    const Index word = block / kBits;
    const std::uint64_t fine = fine_[word].load(std::memory_order_relaxed) >> (block % kBits);
    if (fine != 0) return block + std::countr_zero(fine);
    // The next word of fine bits that has one: in this coarse word, or in a later one.
    Index from = word + 1;
    for (;; from = rounded(from + 1, kBits)) {
      if (from * kBits >= blocks_) return blocks_;
      const std::uint64_t coarse = coarse_[from / kBits].load(std::memory_order_relaxed) >> (from % kBits);
      if (coarse == 0) continue;
      block = (from + std::countr_zero(coarse)) * kBits;
      break;
    }
  }
  return blocks_;
}

}  // namespace nuna::adsm
