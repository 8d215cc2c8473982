#include "access/row_bands.hpp"

#include <algorithm>

namespace nuna::access {
namespace {

struct Rectangle {
  Interval rows;
  Interval columns;
};

class Bands {
 public:
  Bands(std::span<const Rows> group, Index stride) : group_(group), stride_(stride) {}

  bool append(std::vector<Rows>* result) {
    choose_origin();
    for (const Rows& rows : group_) cut(rows);
    std::sort(rectangles_.begin(), rectangles_.end(),
              [](const Rectangle& a, const Rectangle& b) { return a.rows.begin < b.rows.begin; });
    if (!sweep()) return false;
    for (const Rectangle& r : made_) {
      const Index begin = origin_ + r.rows.begin * stride_ + r.columns.begin;
      const bool whole = r.columns.size() == stride_ || r.rows.size() == 1;
      const Index bytes = whole ? (r.rows.size() - 1) * stride_ + r.columns.size() : r.columns.size();
      result->push_back({begin, bytes, whole ? bytes : stride_, whole ? 1 : r.rows.size()});
    }
    return true;
  }

 private:
  Index column_of(Index begin, Index origin) const {
    return ((begin - origin) % stride_ + stride_) % stride_;
  }

  /// So that few rows go over the end of a line.
  void choose_origin() {
    constexpr std::size_t kCandidates = 8;
    std::size_t fewest = group_.size() + 1;
    for (const Rows& candidate : group_.first(std::min(group_.size(), kCandidates))) {
      std::size_t cut_in_two = 0;
      for (const Rows& rows : group_) {
        if (column_of(rows.begin, candidate.begin) + rows.bytes > stride_) ++cut_in_two;
      }
      if (cut_in_two < fewest) fewest = cut_in_two, origin_ = candidate.begin;
    }
  }

  void cut(const Rows& rows) {
    const Index column = column_of(rows.begin, origin_);
    const Index row = (rows.begin - origin_ - column) / stride_;
    const Index end = column + rows.bytes;  // of a row; over several lines if it is a single one
    const Index lines = end / stride_;
    if (lines == 0) {
      rectangles_.push_back({{row, row + rows.count}, {column, end}});
      return;
    }
    rectangles_.push_back({{row, row + rows.count}, {column, stride_}});
    if (lines > 1) rectangles_.push_back({{row + 1, row + lines}, {0, stride_}});
    if (end % stride_ != 0) {
      rectangles_.push_back({{row + lines, row + lines + rows.count}, {0, end % stride_}});
    }
  }

  bool sweep() {
    std::vector<Index> borders;
    for (const Rectangle& r : rectangles_) borders.insert(borders.end(), {r.rows.begin, r.rows.end});
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());

    Index work = 2'000'000;
    std::size_t next = 0;
    std::vector<Rectangle> open;
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const Interval band{borders[i], borders[i + 1]};
      std::erase_if(open, [&](const Rectangle& r) { return r.rows.end <= band.begin; });
      for (; next < rectangles_.size() && rectangles_[next].rows.begin <= band.begin; ++next) {
        open.push_back(rectangles_[next]);
      }
      work -= static_cast<Index>(open.size()) + 1;
      if (work < 0) return false;
      add_band(band, open);
    }
    return true;
  }

  void add_band(Interval band, const std::vector<Rectangle>& open) {
    std::vector<Interval> columns;
    columns.reserve(open.size());
    for (const Rectangle& r : open) columns.push_back(r.columns);
    std::sort(columns.begin(), columns.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
    std::vector<std::size_t> band_made;
    const auto add = [&](Interval interval) {
      for (const std::size_t above : last_band_) {
        Rectangle& r = made_[above];
        if (r.columns == interval) {
          r.rows.end = band.end;
          band_made.push_back(above);
          return;
        }
      }
      band_made.push_back(made_.size());
      made_.push_back({band, interval});
    };
    Interval merged{0, 0};
    for (const Interval interval : columns) {
      if (!merged.empty() && interval.begin <= merged.end) {
        merged.end = std::max(merged.end, interval.end);
        continue;
      }
      if (!merged.empty()) add(merged);
      merged = interval;
    }
    if (!merged.empty()) add(merged);
    last_band_ = std::move(band_made);
  }

  std::span<const Rows> group_;
  const Index stride_;
  Index origin_ = 0;
  std::vector<Rectangle> rectangles_;
  std::vector<Rectangle> made_;
  std::vector<std::size_t> last_band_;  ///< of made_, by column
};

}  // namespace

bool append_bands(std::span<const Rows> group, Index stride, std::vector<Rows>* result) {
  return Bands(group, stride).append(result);
}

}  // namespace nuna::access
