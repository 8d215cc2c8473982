#pragma once
// Layers: what a segment of the directory knows about who holds its newest bytes (D4).
//
// A segment's value is a stack of at most kMaxLayers layers, newest first. A byte belongs to the first layer whose image
// contains it; it is then held by the rank of the part that wrote it (or by the ranks of the image's entry) and by the
// ranks whose parts read it since. A byte in no image was never written. Immutable values, compared and hashed by
// content.

#include <absl/container/inlined_vector.h>
#include <absl/hash/hash.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/box_index.hpp"
#include "base/boxes.hpp"
#include "base/ids.hpp"
#include "coherence/distribution.hpp"

namespace nuna::coherence {

inline constexpr std::size_t kMaxLayers = 8;
inline constexpr std::size_t kMaxReaders = 4;

/// Ranks [begin, end).
struct RankRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool contains(base::RankId r) const { return begin <= r.value && r.value < end; }
  int size() const { return end - begin; }
  friend bool operator==(RankRange, RankRange) = default;
  template <class H>
  friend H AbslHashValue(H h, RankRange r) {
    return H::combine(std::move(h), r.begin, r.end);
  }
};

/// Disjoint boxes, each held alike by a range of ranks: the image of a host write (one box, all ranks) or of flattened layers. There
/// may be very many, so they are hashed once: states that share an image are looked up with each launch.
class Image : public base::BoxIndex<RankRange> {
 public:
  explicit Image(std::vector<Entry> entries) : BoxIndex(std::move(entries)) {
    hash_ = absl::HashOf(static_cast<const BoxIndex&>(*this));
  }
  template <class H>
  friend H AbslHashValue(H h, const Image& image) {
    return H::combine(std::move(h), image.hash_);
  }

 private:
  std::size_t hash_ = 0;
};

struct Layer {
  DistributionRef written;                                    ///< by a launch; or null and
  std::shared_ptr<const Image> image;                         ///< by the host, or flattened
  absl::InlinedVector<DistributionRef, kMaxReaders> readers;  ///< oldest first

  friend bool operator==(const Layer& a, const Layer& b);
  template <class H>
  friend H AbslHashValue(H h, const Layer& l) {
    if (l.image != nullptr) h = H::combine(std::move(h), *l.image);
    if (l.written != nullptr) h = H::combine(std::move(h), *l.written);
    for (const DistributionRef& reader : l.readers) h = H::combine(std::move(h), *reader);
    return H::combine(std::move(h), l.readers.size());
  }
};

using Layers = absl::InlinedVector<Layer, 2>;

/// The smallest box that holds the layer's image, and whether the image fills it.
base::ByteBox hull_of(const Layer& layer);
bool fills_hull(const Layer& layer);
/// Removes the layer's image from `boxes`.
void subtract_image(base::BoxList& boxes, const Layer& layer);

/// The stack after a layer was pushed in a segment whose bytes lie in `clip`: layers that the new one covers are
/// dropped; when there are too many, two neighbours are flattened into one (`flattened` counts): the oldest that are few boxes or
/// of about one size, so that many small writes cost few copies of each box (as in a log-structured merge tree).
Layers pushed(const Layers& layers, Layer top, const base::BoxList& clip, std::int64_t& flattened);
/// The stack after `reader` read: every layer that it may have read notes it.
Layers noted(const Layers& layers, const DistributionRef& reader);

}  // namespace nuna::coherence
