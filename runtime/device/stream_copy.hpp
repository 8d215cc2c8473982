#pragma once
// Copying past the caches, for regions that no cache would keep: the written lines are not read first, and what others have in
// the cache stays there.

#include <cstddef>

namespace nuna::device {

/// memcpy with non-temporal stores where the CPU has them. Ordered: visible to whoever learns that the copy is complete.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace nuna::device
