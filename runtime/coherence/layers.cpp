#include "coherence/layers.hpp"

#include <algorithm>

namespace nuna::coherence {

using base::BoxList;
using base::ByteBox;

namespace {

bool same(const DistributionRef& a, const DistributionRef& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}
bool same(const std::shared_ptr<const Image>& a, const std::shared_ptr<const Image>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

// Every box of the layer's image with its holders. O(parts): for flattening only.
void append_image(const Layer& layer, std::vector<Image::Entry>& out) {
  if (layer.image != nullptr) {
    out.insert(out.end(), layer.image->entries().begin(), layer.image->entries().end());
    return;
  }
  const Distribution& d = *layer.written;
  for (int p = 0; p < d.cut().parts(); ++p) {
    const std::int32_t rank = d.cut().rank_of(p).value;
    for (const ByteBox& b : d.boxes(p)) out.push_back({b, {rank, rank + 1}});
  }
}

// Boxes that touch and are held alike become one. Disjoint boxes in, disjoint boxes out.
std::vector<Image::Entry> melted(std::vector<Image::Entry> boxes) {
  std::sort(boxes.begin(), boxes.end(),
            [](const auto& a, const auto& b) { return a.box[0].begin < b.box[0].begin; });
  std::vector<Image::Entry> fewer;
  for (const auto& held : boxes) {
    const auto both = fewer.empty() || fewer.back().value != held.value
                          ? std::nullopt
                          : base::united(fewer.back().box, held.box);
    if (both) {
      fewer.back().box = *both;
    } else {
      fewer.push_back(held);
    }
  }
  return fewer;
}

Layer flatten(const Layer& newer, const Layer& older) {
  std::vector<Image::Entry> image;
  append_image(newer, image);
  std::vector<Image::Entry> below;
  append_image(older, below);
  for (const auto& held : below) {
    BoxList visible{held.box};
    subtract_image(visible, newer);
    for (const ByteBox& b : visible) image.push_back({b, held.value});
  }
  return {nullptr, std::make_shared<const Image>(melted(std::move(image))), {}};
}

std::size_t boxes_in(const Layer& layer) {
  return layer.image != nullptr ? layer.image->size() : layer.written->box_count();
}

// Of the pair to flatten, the newer one's place in the stack.
std::size_t pair_to_flatten(const Layers& stack) {
  constexpr std::size_t kFew = 64;
  constexpr std::size_t kRatio = 8;
  for (std::size_t newer = stack.size() - 2; newer > 0; --newer) {
    if (boxes_in(stack[newer + 1]) <= std::max(kFew, kRatio * boxes_in(stack[newer]))) return newer;
  }
  return stack.size() - 2;
}

bool covers(const Layer& top, const Layer& below, const BoxList& clip) {
  if (top.written != nullptr && same(top.written, below.written)) return true;
  if (top.image != nullptr && same(top.image, below.image)) return true;
  if (!fills_hull(top)) return false;
  const ByteBox cover = hull_of(top);
  const ByteBox image = hull_of(below);
  if (cover.contains(image)) return true;
  return std::all_of(clip.begin(), clip.end(),
                     [&](const ByteBox& c) { return cover.contains(c.intersect(image)); });
}

}  // namespace

bool operator==(const Layer& a, const Layer& b) {
  if (!same(a.written, b.written) || !same(a.image, b.image) || a.readers.size() != b.readers.size())
    return false;
  return std::equal(a.readers.begin(), a.readers.end(), b.readers.begin(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

ByteBox hull_of(const Layer& layer) {
  return layer.written != nullptr ? layer.written->hull() : layer.image->bounds();
}

bool fills_hull(const Layer& layer) {
  if (layer.written != nullptr) return layer.written->fills_hull();
  return layer.image->bytes() == layer.image->bounds().bytes();
}

void subtract_image(BoxList& boxes, const Layer& layer) {
  const ByteBox hull = hull_of(layer);
  if (std::none_of(boxes.begin(), boxes.end(), [&](const ByteBox& b) { return b.overlaps(hull); })) return;
  if (fills_hull(layer)) {
    base::subtract(boxes, hull);
    return;
  }
  BoxList rest;
  for (const ByteBox& box : boxes) {
    if (layer.image != nullptr) {
      layer.image->append_outside(box, rest);
    } else {
      layer.written->append_outside(box, rest);
    }
  }
  boxes = std::move(rest);
}

Layers pushed(const Layers& layers, Layer top, const BoxList& clip, std::int64_t& flattened) {
  Layers stack;
  stack.push_back(std::move(top));
  for (const Layer& below : layers) {
    if (!covers(stack.front(), below, clip)) stack.push_back(below);
  }
  while (stack.size() > kMaxLayers) {
    const std::size_t newer = pair_to_flatten(stack);
    stack[newer] = flatten(stack[newer], stack[newer + 1]);
    stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(newer) + 1);
    ++flattened;
  }
  return stack;
}

Layers noted(const Layers& layers, const DistributionRef& reader) {
  Layers stack = layers;
  for (Layer& layer : stack) {
    if (!hull_of(layer).overlaps(reader->hull())) continue;
    if (same(layer.written, reader)) continue;  // every reader is the writer of what it read
    if (std::any_of(layer.readers.begin(), layer.readers.end(),
                    [&](const auto& r) { return same(r, reader); }))
      continue;
    if (layer.readers.size() == kMaxReaders)
      layer.readers.erase(layer.readers.begin());  // costs a resend, no more
    layer.readers.push_back(reader);
  }
  return stack;
}

}  // namespace nuna::coherence
