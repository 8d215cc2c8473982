#include "adsm/pages.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  // Not by the C library: a sanitizer that stands in for it would take the mapping for a write of all of its bytes.
  const long got =
      syscall(SYS_mmap, first, size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, offset);
  if (got == -1) return false;
  madvise(first, size, MADV_DONTDUMP);
  madvise(first, size, MADV_DONTFORK);
  return true;
}

// What is read is not used; other threads may write it.
__attribute__((no_sanitize("thread"))) void map_pages(const std::byte* first, Index bytes) noexcept {
  constexpr Index kAroundBytes = Index{64} << 10;
  for (Index at = 0; at < bytes; at += kAroundBytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(first + at));
  }
}

}  // namespace nuna::adsm
