#include "adsm/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>

#include "adsm/block_table.hpp"

namespace nuna::adsm {

std::atomic<Index> all_pieces{0};

Index most_pieces() {
  static const Index most = [] {
    Index limit = 65'530;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    return std::max<Index>(limit / 4, 64);
  }();
  return most;
}

int protection_of(std::uint32_t access) noexcept {
  if (access == word::kClosed) return PROT_NONE;
  return access == word::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
}

bool map_block(std::byte* first, std::size_t size, int protection, int file, Index offset) noexcept {
  if (mmap(first, size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, offset) == MAP_FAILED)
    return false;
  madvise(first, size, MADV_DONTDUMP);
  madvise(first, size, MADV_DONTFORK);
  return true;
}

void map_pages(const std::byte* first, Index bytes) noexcept {
  constexpr Index kAroundBytes = Index{64} << 10;
  for (Index at = 0; at < bytes; at += kAroundBytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(first + at));
  }
}

}  // namespace nuna::adsm
