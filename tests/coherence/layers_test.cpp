#include "coherence/layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace nuna::coherence {
namespace {

using base::BoxList;
using base::ByteBox;

constexpr Index kElements = 4096;

ByteBox elements(Index begin, Index end) {
  return ByteBox{{Interval{begin, end}, Interval{0, 1}, Interval{0, 1}, Interval{0, 1}}};
}

Layer host_write(const ByteBox& box, RankRange ranks) {
  return {nullptr, std::make_shared<const Image>(std::vector<Image::Entry>{{box, ranks}}), {}};
}

/// A segment that is written here and there, and who wrote each of its elements last.
class Written {
 public:
  void write(Index begin, Index end, RankRange ranks) {
    const Layers before = layers_;
    layers_ = pushed(layers_, host_write(elements(begin, end), ranks), {elements(0, kElements)}, flattened_);
    for (const Layer& layer : layers_) {
      const auto is_same = [&](const Layer& old) { return old.image == layer.image; };
      if (std::none_of(before.begin(), before.end(), is_same)) made_ += layer.image->size();
    }
    std::fill(holders_.begin() + begin, holders_.begin() + end, ranks);
  }

  RankRange holders(Index element) const {
    RankRange found;
    for (const Layer& layer : layers_) {
      layer.image->for_each_meeting(elements(element, element + 1),
                                    [&](const ByteBox&, RankRange ranks) { found = ranks; });
      if (found.size() > 0) break;
    }
    return found;
  }
  RankRange expected(Index element) const { return holders_[static_cast<std::size_t>(element)]; }

  const Layers& layers() const { return layers_; }
  std::int64_t flattened() const { return flattened_; }
  /// Boxes of all images so far.
  std::size_t made() const { return made_; }

 private:
  Layers layers_;
  std::vector<RankRange> holders_{kElements};
  std::int64_t flattened_ = 0;
  std::size_t made_ = 0;
};

TEST(Layers, OfManyWritesSayWhoWroteEachByteLast) {
  std::mt19937 random(7);
  Written written;
  for (int i = 0; i < 3000; ++i) {
    const auto begin = static_cast<Index>(random() % kElements);
    const auto bytes = static_cast<Index>(1 + random() % 3);
    const auto rank = static_cast<std::int32_t>(random() % 5);
    written.write(begin, std::min(begin + bytes, kElements), {rank, rank + 1});
    ASSERT_LE(written.layers().size(), kMaxLayers);
  }
  EXPECT_GT(written.flattened(), 1000);
  for (Index e = 0; e < kElements; ++e) ASSERT_EQ(written.holders(e), written.expected(e)) << "element " << e;
}

TEST(Layers, OfManySmallWritesAreNotCopiedWithEachOfThem) {
  Written written;
  constexpr int kWrites = 2000;
  for (int i = 0; i < kWrites; ++i) written.write(2 * i, 2 * i + 1, {i % 2, i % 2 + 1});
  EXPECT_LT(written.made(), std::size_t{kWrites} * 100)
      << "each flattening copies all that was written before";
}

TEST(Layers, ThatAreEqualHaveEqualHashes) {
  const Layer one = host_write(elements(3, 9), {1, 2});
  EXPECT_EQ(one, host_write(elements(3, 9), {1, 2}));
  EXPECT_EQ(absl::HashOf(one), absl::HashOf(host_write(elements(3, 9), {1, 2})));
  EXPECT_NE(absl::HashOf(one), absl::HashOf(host_write(elements(3, 8), {1, 2})));
}

}  // namespace
}  // namespace nuna::coherence
