#include "byte_ranges.hpp"

#include <algorithm>
#include <utility>

namespace nuna::cudart {

ByteRanges::ByteRanges(std::vector<Interval> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (const Interval& range : ranges) {
    if (range.empty()) continue;
    if (!ranges_.empty() && range.begin <= ranges_.back().end) {
      ranges_.back().end = std::max(ranges_.back().end, range.end);
    } else {
      ranges_.push_back(range);
    }
  }
}

std::size_t ByteRanges::first_behind(Index byte) const {
  const auto found = std::upper_bound(ranges_.begin(), ranges_.end(), byte,
                                      [](Index at, const Interval& range) { return at < range.end; });
  return static_cast<std::size_t>(found - ranges_.begin());
}

bool ByteRanges::holds(Interval bytes, std::size_t* near) const {
  const auto is_in = [&](std::size_t at) {
    return at < ranges_.size() && ranges_[at].begin <= bytes.begin && bytes.end <= ranges_[at].end;
  };
  if (is_in(*near)) return true;
  if (is_in(*near + 1)) {
    ++*near;
    return true;
  }
  const std::size_t found = first_behind(bytes.begin);
  if (!is_in(found)) return bytes.empty();
  *near = found;
  return true;
}

MarkedBytes::MarkedBytes(ByteRanges all) : all_(std::move(all)) {
  std::size_t bytes = 0;
  for (const Interval& range : all_.ranges()) {
    starts_.push_back(bytes);
    bytes += static_cast<std::size_t>(range.size());
  }
  marks_.resize(bytes);
}

void MarkedBytes::mark(Interval bytes) {
  const auto& ranges = all_.ranges();
  if (!all_.holds(bytes, &near_)) near_ = all_.first_behind(bytes.begin);
  for (std::size_t i = near_; i < ranges.size() && ranges[i].begin < bytes.end; ++i) {
    const Interval here = ranges[i].intersect(bytes);
    if (here.empty()) continue;
    const auto first =
        marks_.begin() + static_cast<std::ptrdiff_t>(starts_[i]) + (here.begin - ranges[i].begin);
    std::fill(first, first + here.size(), std::uint8_t{1});
  }
}

std::vector<Interval> MarkedBytes::unmarked(std::size_t most) const {
  std::vector<Interval> left;
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const Interval range = all_.ranges()[i];
    const auto begin = marks_.begin() + static_cast<std::ptrdiff_t>(starts_[i]);
    const auto end = begin + range.size();
    for (auto at = std::find(begin, end, 0); at != end; at = std::find(at, end, 0)) {
      const auto behind = std::find(at, end, 1);
      if (left.size() == most) return left;
      left.push_back({range.begin + (at - begin), range.begin + (behind - begin)});
      at = behind;
    }
  }
  return left;
}

}  // namespace nuna::cudart
