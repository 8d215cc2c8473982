#include "adsm/streams.hpp"

#include <algorithm>
#include <cstdlib>

namespace nuna::adsm {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

Guess Streams::at(Index block) noexcept {
  const std::uint32_t now = clock_.fetch_add(1, kRelaxed) + 1;
  Stream* oldest = streams_.data();
  Stream* nearest = nullptr;
  for (Stream& s : streams_) {
    const Index last = s.last.load(kRelaxed);
    const Index stride = s.stride.load(kRelaxed);
    if (last >= 0 && stride != 0 && block == last + stride) {
      const Index count = std::min(most_, s.count.load(kRelaxed) * 2);
      s.last.store(last + stride * count, kRelaxed);
      s.count.store(count, kRelaxed);
      s.used.store(now, kRelaxed);
      return {block, count, stride};
    }
    const Index distance = last < 0 ? 0 : std::abs(block - last);
    if (distance != 0 && distance <= kFarthest &&
        (nearest == nullptr || distance < std::abs(block - nearest->last.load(kRelaxed)))) {
      nearest = &s;
    }
    if (now - s.used.load(kRelaxed) > now - oldest->used.load(kRelaxed)) oldest = &s;
  }
  // A second fault near a first one tells a distance; one near nothing begins anew.
  Stream& s = nearest != nullptr ? *nearest : *oldest;
  s.stride.store(nearest != nullptr ? block - s.last.load(kRelaxed) : 1, kRelaxed);
  s.last.store(block, kRelaxed);
  s.count.store(1, kRelaxed);
  s.used.store(now, kRelaxed);
  return {block, 1, 1};
}

}  // namespace nuna::adsm
