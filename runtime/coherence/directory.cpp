#include "coherence/directory.hpp"

#include <algorithm>

namespace nuna::coherence {

using access::Range;
using base::BoxList;
using base::ByteBox;
using base::RankId;

namespace {

SegmentValue value_of(Layers layers) { return {std::make_shared<const Layers>(std::move(layers))}; }

std::shared_ptr<const Image> image_of(const ByteBox& box, RankRange ranks) {
  return std::make_shared<const Image>(std::vector<Image::Entry>{{box, ranks}});
}

// The rank that sends bytes which a range of ranks holds alike: spread over the holders.
RankId sender_among(RankRange holders, RankId receiver) {
  return {holders.begin + receiver.value % holders.size()};
}

BoxList all_boxes(const Distribution& distribution) {
  if (distribution.fills_hull()) return {distribution.hull()};
  BoxList all;
  for (int p = 0; p < distribution.cut().parts(); ++p) {
    const BoxList boxes = distribution.boxes(p);
    all.insert(all.end(), boxes.begin(), boxes.end());
  }
  return all;
}

// Removes from `boxes` what `rank` read from the layer.
void subtract_readings(BoxList& boxes, const Layer& layer, RankId rank) {
  for (const DistributionRef& reader : layer.readers) {
    const Range mine = reader->parts_of(rank);
    BoxList rest;
    for (const ByteBox& box : boxes) {
      BoxList left{box};
      reader->for_each_meeting(box, [&](int p, const ByteBox& b) {
        if (mine.begin <= p && p < mine.end) base::subtract(left, b);
      });
      rest.insert(rest.end(), left.begin(), left.end());
    }
    boxes = std::move(rest);
  }
}

// Calls f(holder, box) for every box of the layer's image that meets `region`, in an order that does not depend on
// `only_from` (which leaves others out). The holder is the rank that sends it to `receiver`.
template <class F>
void for_each_holder(const Layer& layer, const ByteBox& region, RankId receiver,
                     std::optional<RankId> only_from, F f) {
  if (layer.image != nullptr) {
    layer.image->for_each_meeting(region, [&](const ByteBox& box, RankRange ranks) {
      const RankId holder = ranks.contains(receiver) ? receiver : sender_among(ranks, receiver);
      if (!only_from || holder == *only_from) f(holder, box);
    });
    return;
  }
  const Distribution& d = *layer.written;
  d.for_each_meeting(region, [&](int part, const ByteBox& box) {
    const RankId holder = d.cut().rank_of(part);
    if ((!only_from || holder == *only_from) && box.overlaps(region)) f(holder, box);
  });
}

}  // namespace

DirectoryState::DirectoryState(const base::Shape& shape, int ranks)
    : shape_(shape), alone_(ranks == 1), map_(shape.bytes(), value_of({})) {}

BoxList DirectoryState::clip_of(Interval segment) const {
  if (segment.begin == 0 && segment.end == shape_.bytes()) return {shape_.whole()};
  return base::boxes_of_range(shape_, segment);
}

void DirectoryState::pieces_for_region(const Layers& layers, const ByteBox& region, int reader_part,
                                       RankId rank, std::optional<RankId> only_from,
                                       std::vector<Piece>& pieces) const {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for_each_holder(layers[l], region, rank, only_from, [&](RankId holder, const ByteBox& image) {
      if (holder == rank) return;
      BoxList boxes{region.intersect(image)};
      for (std::size_t newer = 0; newer < l && !boxes.empty(); ++newer) subtract_image(boxes, layers[newer]);
      subtract_readings(boxes, layers[l], rank);
      for (const ByteBox& b : boxes) pieces.push_back({holder, reader_part, b});
    });
  }
}

void DirectoryState::pieces_into(const Distribution& reading, RankId rank, std::optional<RankId> only_from,
                                 std::vector<Piece>& pieces) const {
  const Range parts = reading.parts_of(rank);
  for (int q = parts.begin; q < parts.end; ++q) {
    BoxList wanted;
    for (const ByteBox& box : reading.boxes(q)) {
      BoxList fresh{box};
      for (int earlier = parts.begin; earlier < q; ++earlier) {
        for (const ByteBox& b : reading.boxes(earlier)) base::subtract(fresh, b);
      }
      wanted.insert(wanted.end(), fresh.begin(), fresh.end());
    }
    for (const ByteBox& box : wanted) {
      map_.for_each(base::hull_range(shape_, box), [&](Interval clipped, const SegmentValue& value) {
        if (value.layers->empty()) return;
        if (clipped == base::hull_range(shape_, box)) {
          pieces_for_region(*value.layers, box, q, rank, only_from, pieces);
          return;
        }
        for (const ByteBox& clip : base::boxes_of_range(shape_, clipped)) {
          const ByteBox region = box.intersect(clip);
          if (!region.empty()) pieces_for_region(*value.layers, region, q, rank, only_from, pieces);
        }
      });
    }
  }
}

std::vector<RankId> DirectoryState::receivers_from(const Distribution& reading, RankId rank) const {
  std::vector<RankId> ranks;
  const auto note_readers = [&](const ByteBox& box) {
    PartList parts;
    reading.parts_meeting(box, parts);
    for (const int p : parts) {
      const RankId r = reading.cut().rank_of(p);
      if (r != rank && (ranks.empty() || ranks.back() != r)) ranks.push_back(r);
    }
  };
  if (reading.hull().empty()) return ranks;
  const RankId first_reader = reading.cut().rank_of(0);
  const RankId last_reader = reading.cut().rank_of(reading.cut().parts() - 1);
  map_.for_each(base::hull_range(shape_, reading.hull()), [&](Interval segment, const SegmentValue& value) {
    const bool whole = segment == base::hull_range(shape_, reading.hull());
    const BoxList clip = whole ? BoxList{reading.hull()} : base::boxes_of_range(shape_, segment);
    for (const Layer& layer : *value.layers) {
      const auto visit = [&](const ByteBox& image) {
        for (const ByteBox& c : clip) {
          if (image.overlaps(c)) note_readers(image.intersect(c));
        }
      };
      if (layer.image != nullptr) {
        for (const ByteBox& c : clip) {
          layer.image->for_each_meeting(c, [&](const ByteBox& box, RankRange holders) {
            const bool everybody = holders.contains(first_reader) && holders.contains(last_reader);
            if (holders.contains(rank) && !everybody) note_readers(box.intersect(c));
          });
        }
        continue;
      }
      const Range mine = layer.written->parts_of(rank);
      for (int p = mine.begin; p < mine.end; ++p) {
        for (const ByteBox& b : layer.written->boxes(p)) visit(b);
      }
    }
  });
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

BoxList DirectoryState::never_written(const ByteBox& region) const {
  BoxList rest;
  map_.for_each(base::hull_range(shape_, region), [&](Interval segment, const SegmentValue& value) {
    for (const ByteBox& clip : base::boxes_of_range(shape_, segment)) {
      BoxList boxes;
      if (clip.overlaps(region)) boxes.push_back(clip.intersect(region));
      for (const Layer& layer : *value.layers) subtract_image(boxes, layer);
      rest.insert(rest.end(), boxes.begin(), boxes.end());
    }
  });
  return rest;
}

BoxList DirectoryState::held_by(RankId rank, const ByteBox& region) const {
  BoxList held;
  map_.for_each(base::hull_range(shape_, region), [&](Interval segment, const SegmentValue& value) {
    const Layers& layers = *value.layers;
    for (const ByteBox& clip : base::boxes_of_range(shape_, segment)) {
      BoxList left;
      if (clip.overlaps(region)) left.push_back(clip.intersect(region));
      for (const Layer& layer : layers) {
        BoxList below = left;
        subtract_image(below, layer);
        BoxList visible = left;  // what of `left` belongs to this layer
        for (const ByteBox& b : below) base::subtract(visible, b);
        BoxList lacking = visible;
        if (layer.image != nullptr) {
          for (const auto& part : layer.image->entries()) {
            if (part.value.contains(rank)) base::subtract(lacking, part.box);
          }
        } else {
          const Range mine = layer.written->parts_of(rank);
          for (int p = mine.begin; p < mine.end; ++p) {
            for (const ByteBox& b : layer.written->boxes(p)) base::subtract(lacking, b);
          }
        }
        subtract_readings(lacking, layer, rank);
        for (const ByteBox& b : lacking) base::subtract(visible, b);
        held.insert(held.end(), visible.begin(), visible.end());
        left = std::move(below);
      }
    }
  });
  base::coalesce(held);
  return held;
}

BoxList DirectoryState::produced_by(RankId rank) const {
  BoxList produced;
  map_.for_each({0, shape_.bytes()}, [&](Interval segment, const SegmentValue& value) {
    const BoxList clip = clip_of(segment);
    const Layers& layers = *value.layers;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto visit = [&](const ByteBox& image) {
        BoxList boxes;
        for (const ByteBox& c : clip) {
          if (c.overlaps(image)) boxes.push_back(c.intersect(image));
        }
        for (std::size_t newer = 0; newer < l; ++newer) subtract_image(boxes, layers[newer]);
        produced.insert(produced.end(), boxes.begin(), boxes.end());
      };
      if (layers[l].image != nullptr) {
        for (const auto& held : layers[l].image->entries()) {
          if (held.value.contains(rank)) visit(held.box);
        }
        continue;
      }
      const Range mine = layers[l].written->parts_of(rank);
      for (int p = mine.begin; p < mine.end; ++p) {
        for (const ByteBox& b : layers[l].written->boxes(p)) visit(b);
      }
    }
  });
  base::coalesce(produced);
  return produced;
}

// Renews the values of all segments that meet `range`, whole: a layer is clipped by its image, not by splitting.
template <class F>
void DirectoryState::renew(Interval range, F value_after) {
  std::vector<std::pair<Interval, SegmentValue>> renewed;
  map_.for_each_whole(range, [&](Interval segment, const SegmentValue& v) {
    renewed.emplace_back(segment, value_after(segment, v));
  });
  for (auto& [segment, value] : renewed) map_.assign(segment, std::move(value));
}

void DirectoryState::push(const ByteBox& hull, const Layer& top, std::int64_t& flattened) {
  renew(base::hull_range(shape_, hull), [&](Interval segment, const SegmentValue& v) {
    return value_of(pushed(*v.layers, top, clip_of(segment), flattened));
  });
}

DirectoryState DirectoryState::after_read(const DistributionRef& reading) const {
  if (alone_ || reading->hull().empty()) return *this;
  DirectoryState next = *this;
  next.renew(base::hull_range(shape_, reading->hull()),
             [&](Interval, const SegmentValue& v) { return value_of(noted(*v.layers, reading)); });
  return next;
}

DirectoryState DirectoryState::after_write(const DistributionRef& writing, std::int64_t& flattened) const {
  if (writing->hull().empty()) return *this;
  if (alone_) return after_own_write(all_boxes(*writing));
  DirectoryState next = *this;
  next.push(writing->hull(), Layer{writing, nullptr, {}}, flattened);
  return next;
}

DirectoryState DirectoryState::after_host_write(const ByteBox& box, RankRange ranks,
                                                std::int64_t& flattened) const {
  if (box.empty()) return *this;
  if (alone_) return after_own_write({box});
  DirectoryState next = *this;
  next.push(box, Layer{nullptr, image_of(box, ranks), {}}, flattened);
  return next;
}

DirectoryState DirectoryState::after_host_write(Interval range, RankRange ranks) const {
  if (range.empty()) return *this;
  if (alone_) return after_own_write(base::boxes_of_range(shape_, range));
  DirectoryState next = *this;
  next.map_.assign(range, value_of({Layer{nullptr, image_of(shape_.whole(), ranks), {}}}));
  return next;
}

// Of the only rank: `boxes`, which lie apart, are written, too.
DirectoryState DirectoryState::after_own_write(const BoxList& boxes) const {
  BoxList written;
  for (const ByteBox& box : boxes) {
    const BoxList fresh = never_written(box);
    written.insert(written.end(), fresh.begin(), fresh.end());
  }
  if (written.empty()) return *this;
  for (const Layer& layer : *map_.at(0).layers) {
    for (const auto& known : layer.image->entries()) written.push_back(known.box);
  }
  base::coalesce(written);
  std::vector<Image::Entry> entries;
  for (const ByteBox& box : written) entries.push_back({box, {0, 1}});
  DirectoryState next = *this;
  const auto image = std::make_shared<const Image>(std::move(entries));
  next.map_.assign({0, shape_.bytes()}, value_of({Layer{nullptr, image, {}}}));
  return next;
}

std::size_t DirectoryState::weight() const {
  std::size_t boxes = 1;
  map_.for_each({0, shape_.bytes()}, [&](Interval, const SegmentValue& v) {
    for (const Layer& l : *v.layers) boxes += 2 + (l.image != nullptr ? l.image->size() : 0);
  });
  return boxes;
}

std::size_t DirectoryState::highest_stack() const {
  std::size_t highest = 0;
  map_.for_each({0, shape_.bytes()},
                [&](Interval, const SegmentValue& v) { highest = std::max(highest, v.layers->size()); });
  return highest;
}

}  // namespace nuna::coherence
