#include "coherence/distribution.hpp"

#include <algorithm>

#include "access/declared.hpp"

namespace nuna::coherence {

using access::Range;
using base::BoxList;
using base::ByteBox;

Distribution::Distribution(access::CutRef cut, AccessMap map, const base::Shape& shape, bool fast)
    : cut_(std::move(cut)), map_(std::move(map)), shape_(shape), fast_(fast) {
  if (map_.is_monotone()) {
    build_monotone();
  } else {
    build_function();
  }
}

void Distribution::build_monotone() {
  for (int a = 0; a < kMaxDims; ++a) {
    if (cut_->busy_along(a).empty()) return;  // no thread at all: nothing is touched
  }
  hull_ = shape_.whole();
  fills_hull_ = true;
  std::array<int, kMaxDims> followers{};
  for (int b = 0; b < shape_.extents.dims; ++b) {
    const AxisRule& rule = map_.rule(b);
    if (rule.from < 0) {
      hull_[b] = access::touched(rule, {}, shape_.extents[b]);
      continue;
    }
    AxisTable table = table_of(b);
    hull_[b] = {table.touched.front().begin, table.touched.back().end};
    fills_hull_ = fills_hull_ && table.gapless;
    // two buffer axes that follow one launch axis touch a diagonal
    if (++followers[static_cast<std::size_t>(rule.from)] > 1 && table.touched.size() > 1) fills_hull_ = false;
    tables_.push_back(std::move(table));
  }
}

Distribution::AxisTable Distribution::table_of(int buffer_axis) const {
  const AxisRule& rule = map_.rule(buffer_axis);
  const Index extent = shape_.extents[buffer_axis];
  const Range busy = cut_->busy_along(rule.from);
  AxisTable table{buffer_axis, rule.from, std::vector<Interval>(static_cast<std::size_t>(busy.size()))};
  int i = busy.begin;
  for (Interval& t : table.touched) t = access::touched(rule, cut_->threads_along(rule.from, i++), extent);
  for (std::size_t p = 0; p + 1 < table.touched.size(); ++p) {
    const Index end = table.touched[p].end;
    const Index next = table.touched[p + 1].begin;
    table.apart = table.apart && end <= next;
    table.gapless = table.gapless && end >= next;
  }
  return table;
}

void Distribution::build_function() {
  std::vector<base::BoxIndex<int>::Entry> entries;
  boxes_of_part_.resize(static_cast<std::size_t>(cut_->parts()));
  for (int p = 0; p < cut_->parts(); ++p) {
    const Part part = cut_->describe(p);
    if (part.threads.empty()) continue;
    BoxList& boxes = boxes_of_part_[static_cast<std::size_t>(p)];
    Index end = 0;  // of all so far, along axis 0
    for (const ByteBox& b : access::function_boxes(map_, shape_, part)) {
      BoxList fresh{b};
      if (b[0].begin < end) {  // a function may name an element twice
        for (const ByteBox& earlier : boxes) base::subtract(fresh, earlier);
      }
      boxes.insert(boxes.end(), fresh.begin(), fresh.end());
      end = std::max(end, b[0].end);
    }
    for (const ByteBox& b : boxes) entries.push_back({b, p});
  }
  boxes_ = base::BoxIndex<int>(std::move(entries));
  hull_ = boxes_.bounds();
  fills_hull_ = boxes_.bytes() == hull_.bytes() && !function_overlap();
}

BoxList Distribution::boxes(int part) const {
  if (!is_monotone()) return boxes_of_part_[static_cast<std::size_t>(part)];
  if (hull_.empty()) return {};
  const auto at = cut_->position(part);
  for (int a = 0; a < kMaxDims; ++a) {
    const Range busy = cut_->busy_along(a);
    if (at[static_cast<std::size_t>(a)] < busy.begin || at[static_cast<std::size_t>(a)] >= busy.end)
      return {};
  }
  ByteBox box = hull_;  // right on the axes that follow no launch axis
  for (const AxisTable& t : tables_) {
    const int i = at[static_cast<std::size_t>(t.launch_axis)] - cut_->busy_along(t.launch_axis).begin;
    box[t.buffer_axis] = t.touched[static_cast<std::size_t>(i)];
  }
  if (box.empty()) return {};
  return {box};
}

Range Distribution::range_meeting(const AxisTable& table, Interval region) const {
  const auto& t = table.touched;
  const auto first =
      std::partition_point(t.begin(), t.end(), [&](Interval i) { return i.end <= region.begin; });
  const auto last = std::partition_point(first, t.end(), [&](Interval i) { return i.begin < region.end; });
  const int busy = cut_->busy_along(table.launch_axis).begin;
  return {busy + static_cast<int>(first - t.begin()), busy + static_cast<int>(last - t.begin())};
}

void Distribution::parts_meeting(const ByteBox& region, PartList& parts) const {
  if (!region.overlaps(hull_)) return;
  if (!fast_) {
    for (int p = 0; p < cut_->parts(); ++p) {
      const BoxList mine = boxes(p);
      if (std::any_of(mine.begin(), mine.end(), [&](const ByteBox& b) { return b.overlaps(region); }))
        parts.push_back(p);
    }
    return;
  }
  if (is_monotone()) {
    std::array<Range, kMaxDims> range;
    for (int a = 0; a < kMaxDims; ++a) range[static_cast<std::size_t>(a)] = cut_->busy_along(a);
    for (const AxisTable& t : tables_) {
      Range& r = range[static_cast<std::size_t>(t.launch_axis)];
      const Range meeting = range_meeting(t, region[t.buffer_axis]);
      r = {std::max(r.begin, meeting.begin), std::min(r.end, meeting.end)};
    }
    for (int i = range[0].begin; i < range[0].end; ++i) {
      for (int j = range[1].begin; j < range[1].end; ++j) {
        for (int k = range[2].begin; k < range[2].end; ++k) {
          parts.push_back((i * cut_->parts_along(1) + j) * cut_->parts_along(2) + k);
        }
      }
    }
    return;
  }
  const std::size_t before = parts.size();
  boxes_.for_each_meeting(region, [&](const ByteBox&, int part) { parts.push_back(part); });
  const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(begin, parts.end());
  parts.erase(std::unique(begin, parts.end()), parts.end());
}

void Distribution::append_outside(const ByteBox& region, BoxList& outside) const {
  if (!is_monotone()) {
    boxes_.append_outside(region, outside);
    return;
  }
  BoxList left{region};
  for_each_meeting(region, [&](int, const ByteBox& box) { base::subtract(left, box); });
  outside.insert(outside.end(), left.begin(), left.end());
}

std::optional<Overlap> Distribution::find_overlap() const {
  if (hull_.empty()) return std::nullopt;
  return is_monotone() ? monotone_overlap() : function_overlap();
}

// Parts that differ along one launch axis only are kept apart by a buffer axis that follows it, or by nothing; for
// monotone maps it is enough to look at neighbours.
std::optional<Overlap> Distribution::monotone_overlap() const {
  for (int a = 0; a < kMaxDims; ++a) {
    const auto keeps_apart = [&](const AxisTable& t) { return t.launch_axis == a && t.apart; };
    if (std::any_of(tables_.begin(), tables_.end(), keeps_apart)) continue;
    const Range busy = cut_->busy_along(a);
    for (int i = 0; i + 1 < busy.size(); ++i) {
      const auto apart = [&](const AxisTable& t) {
        return t.launch_axis == a &&
               t.touched[static_cast<std::size_t>(i)].end <= t.touched[static_cast<std::size_t>(i) + 1].begin;
      };
      if (std::any_of(tables_.begin(), tables_.end(), apart)) continue;
      std::array<int, kMaxDims> at{};
      for (int x = 0; x < kMaxDims; ++x) at[static_cast<std::size_t>(x)] = cut_->busy_along(x).begin;
      at[static_cast<std::size_t>(a)] = busy.begin + i;
      const auto number = [&] {
        return (at[0] * cut_->parts_along(1) + at[1]) * cut_->parts_along(2) + at[2];
      };
      const int p = number();
      ++at[static_cast<std::size_t>(a)];
      const int q = number();
      const BoxList pb = boxes(p);
      const BoxList qb = boxes(q);
      if (pb.empty() || qb.empty()) continue;
      return Overlap{p, q, pb.front().intersect(qb.front())};
    }
  }
  return std::nullopt;
}

std::optional<Overlap> Distribution::function_overlap() const {
  const auto& entries = boxes_.entries();
  for (auto a = entries.begin(); a != entries.end(); ++a) {
    for (auto b = a + 1; b != entries.end() && b->box[0].begin < a->box[0].end; ++b) {
      if (a->value == b->value || !a->box.overlaps(b->box)) continue;
      return Overlap{std::min(a->value, b->value), std::max(a->value, b->value), a->box.intersect(b->box)};
    }
  }
  return std::nullopt;
}

std::optional<Overlap> Distribution::find_overlap(const Distribution& other) const {
  for (int p = 0; p < cut_->parts(); ++p) {
    for (const ByteBox& box : boxes(p)) {
      std::optional<Overlap> first;
      other.for_each_meeting(box, [&](int q, const ByteBox& b) {
        if (q != p && b.overlaps(box) && (!first || q < first->part_b))
          first = Overlap{p, q, b.intersect(box)};
      });
      if (first) return first;
    }
  }
  return std::nullopt;
}

}  // namespace nuna::coherence
