#include "access/rows.hpp"

#include <algorithm>
#include <map>

#include "access/row_bands.hpp"

namespace nuna::access {
namespace {

Rows run(Index begin, Index end) { return {begin, end - begin, end - begin, 1}; }

bool by_begin(const Rows& a, const Rows& b) { return a.begin < b.begin; }

/// Where rows of `bytes` begin, with as few levels as there can be: each is of larger steps than the one before.
struct Levels {
  Index bytes = 0;
  std::vector<Lattice::Step> steps;
  bool overlap = false;  ///< two combinations may have bytes in common
};

Levels levels_of(const Lattice& lattice, Index bytes) {
  std::vector<Lattice::Step> all = lattice.steps;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  Levels levels{bytes, {}, false};
  Index span = bytes;
  for (const Lattice::Step& step : all) {
    const auto continued =
        std::find_if(levels.steps.begin(), levels.steps.end(), [&](const Lattice::Step& level) {
          return step.step % level.step == 0 && step.step / level.step <= level.count;
        });
    if (step.step <= levels.bytes) {
      levels.bytes += step.step * (step.count - 1);
    } else if (continued != levels.steps.end()) {
      continued->count += step.step / continued->step * (step.count - 1);
      levels.overlap = levels.overlap || &*continued != &levels.steps.back();
    } else {
      levels.overlap = levels.overlap || step.step < span;
      levels.steps.push_back(step);
    }
    span += step.step * (step.count - 1);
  }
  return levels;
}

/// The level that becomes the stride: a long one, and of those the one of the smallest steps, so that rows of one plane lie together.
std::size_t level_of_stride(const Levels& levels) {
  constexpr Index kAsLong = 8;
  Index longest = 0;
  for (const Lattice::Step& step : levels.steps) longest = std::max(longest, step.count);
  std::size_t i = 0;
  while (levels.steps[i].count < longest / kAsLong) ++i;
  return i;
}

/// All of `rows` at `count` places. False: too many.
bool repeat(std::vector<Rows>* rows, const Lattice::Step& step) {
  const std::size_t before = rows->size();
  if (step.count > static_cast<Index>(kMaxRows / before)) return false;
  for (Index k = 1; k < step.count; ++k) {
    for (std::size_t i = 0; i < before; ++i) {
      rows->push_back((*rows)[i]);
      rows->back().begin += k * step.step;
    }
  }
  return true;
}

/// Neighbours that are one run, or rows of one stride, become one.
std::vector<Rows> compress(const std::vector<Rows>& rows) {
  std::vector<Rows> runs;
  for (const Rows& r : rows) {
    if (!runs.empty() && r.count == 1 && runs.back().count == 1 && r.begin <= end_of(runs.back())) {
      runs.back() = run(runs.back().begin, std::max(end_of(runs.back()), end_of(r)));
    } else {
      runs.push_back(r);
    }
  }
  std::vector<Rows> result;
  const auto follows = [&](const Rows& last, const Rows& next, Index stride) {
    return next.bytes == last.bytes && next.begin == last.begin + last.count * stride &&
           (next.count == 1 || next.stride == stride);
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Rows& next = runs[i];
    if (!result.empty()) {
      Rows& last = result.back();
      const bool third = i + 1 < runs.size() && runs[i + 1].bytes == next.bytes &&
                         runs[i + 1].begin - next.begin == next.begin - last.begin;
      const Index stride = last.count > 1   ? last.stride
                           : next.count > 1 ? next.stride
                           : third          ? next.begin - last.begin
                                            : 0;
      if (stride >= last.bytes && stride != 0 && follows(last, next, stride)) {
        last.stride = stride;
        last.count += next.count;
        continue;
      }
    }
    result.push_back(next);
  }
  return result;
}

bool append_one_by_one(std::span<const Rows> group, std::vector<Rows>* result) {
  Index total = 0;
  for (const Rows& r : group) total += std::min<Index>(r.count, kMaxRows + 1);
  if (total > static_cast<Index>(kMaxRows)) return false;
  std::vector<Rows> runs;
  for (const Rows& r : group) {
    for (Index k = 0; k < r.count; ++k)
      runs.push_back(run(r.begin + k * r.stride, r.begin + k * r.stride + r.bytes));
  }
  std::sort(runs.begin(), runs.end(), by_begin);
  for (std::size_t i = 0; i < runs.size();) {
    Index end = end_of(runs[i]);
    std::size_t next = i + 1;
    for (; next < runs.size() && runs[next].begin <= end; ++next) end = std::max(end, end_of(runs[next]));
    result->push_back(run(runs[i].begin, end));
    i = next;
  }
  return true;
}

/// The stride of most rows, or 0.
Index main_stride(std::span<const Rows> group) {
  std::map<Index, Index> counts;
  for (const Rows& r : group) {
    if (r.count > 1) counts[r.stride] += r.count;
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

bool contains(const Rows& large, const Rows& small) {
  if (small.begin < large.begin || end_of(small) > end_of(large)) return false;
  if (large.count == 1) return true;
  if (small.count > 1 && small.stride % large.stride != 0) return false;
  return (small.begin - large.begin) % large.stride + small.bytes <= large.bytes;
}

/// Drops what lies in one of the largest.
std::vector<Rows> without_contained(std::span<const Rows> group) {
  constexpr std::size_t kLargest = 8;
  std::vector<Rows> rows(group.begin(), group.end());
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(std::min(kLargest, rows.size()));
  std::partial_sort(rows.begin(), middle, rows.end(),
                    [](const Rows& a, const Rows& b) { return a.bytes * a.count > b.bytes * b.count; });
  std::vector<Rows> kept;
  for (const Rows& r : rows) {
    const std::span largest = std::span(kept).first(std::min(kLargest, kept.size()));
    if (std::none_of(largest.begin(), largest.end(), [&](const Rows& l) { return contains(l, r); }))
      kept.push_back(r);
  }
  std::sort(kept.begin(), kept.end(), by_begin);
  return kept;
}

/// Rows whose hulls overlap. False: too many.
bool append_united(std::span<const Rows> all, std::vector<Rows>* result) {
  if (all.size() == 1) {
    result->push_back(all.front());
    return true;
  }
  const std::vector<Rows> group = without_contained(all);
  const Index stride = main_stride(group);
  if (stride == 0) return append_one_by_one(group, result);
  std::vector<Rows> of_stride;
  std::vector<Rows> others;
  for (const Rows& r : group) (r.count == 1 || r.stride == stride ? of_stride : others).push_back(r);
  if (!others.empty() && !append_one_by_one(others, &of_stride)) return false;
  return append_bands(of_stride, stride, result) || append_one_by_one(group, result);
}

/// Whether [begin, end) meets a row.
bool meets(Index begin, Index end, const Rows& rows) {
  const Index k = std::min(begin < rows.begin ? -1 : (begin - rows.begin) / rows.stride, rows.count - 1);
  if (k >= 0 && begin < rows.begin + k * rows.stride + rows.bytes) return true;
  return k + 1 < rows.count && rows.begin + (k + 1) * rows.stride < end;
}

bool have_common_byte(const Rows& one, const Rows& other, Index* work) {
  const Rows& few = one.count <= other.count ? one : other;
  const Rows& many = one.count <= other.count ? other : one;
  if (few.count > 1 && few.stride == many.stride) {
    const Index shift = ((many.begin - few.begin) % few.stride + few.stride) % few.stride;
    if (shift >= few.bytes && shift + many.bytes <= few.stride) return false;
  }
  const Index first = std::max<Index>(0, (many.begin - few.begin) / few.stride - 1);
  for (Index k = first; k < few.count; ++k) {
    const Index begin = few.begin + k * few.stride;
    if (begin >= end_of(many)) return false;
    if (meets(begin, begin + few.bytes, many)) return true;
    if (--*work < 0) return false;
  }
  return false;
}

}  // namespace

bool append_rows(const Lattice& lattice, Index bytes, std::vector<Rows>* rows) {
  Wide end = Wide{lattice.first} + bytes;
  for (const Lattice::Step& step : lattice.steps) end += Wide{step.step} * (step.count - 1);
  narrow(end);

  Levels levels = levels_of(lattice, bytes);
  std::vector<Rows> made{run(lattice.first, lattice.first + levels.bytes)};
  if (!levels.steps.empty()) {
    const std::size_t of_stride = level_of_stride(levels);
    made.front().stride = levels.steps[of_stride].step;
    made.front().count = levels.steps[of_stride].count;
    levels.steps.erase(levels.steps.begin() + static_cast<std::ptrdiff_t>(of_stride));
  }
  for (const Lattice::Step& step : levels.steps) {
    if (!repeat(&made, step)) return false;
  }
  if (levels.overlap) {
    auto united = unite(std::move(made));
    if (!united) return false;
    made = std::move(*united);
  }
  if (rows->size() + made.size() > kMaxRows) {
    auto united = unite(std::move(*rows));
    if (!united || united->size() + made.size() > kMaxRows) return false;
    *rows = std::move(*united);
  }
  rows->insert(rows->end(), made.begin(), made.end());
  return true;
}

std::optional<std::vector<Rows>> unite(std::vector<Rows> rows) {
  std::sort(rows.begin(), rows.end(), by_begin);
  std::vector<Rows> result;
  for (std::size_t first = 0; first < rows.size();) {
    Index end = end_of(rows[first]);
    std::size_t last = first + 1;
    for (; last < rows.size() && rows[last].begin < end; ++last) end = std::max(end, end_of(rows[last]));
    if (!append_united(std::span(rows).subspan(first, last - first), &result)) return std::nullopt;
    first = last;
  }
  std::sort(result.begin(), result.end(), by_begin);
  result = compress(result);
  if (result.size() > kMaxRows) return std::nullopt;
  return result;
}

std::vector<Rows> without_narrow_gaps(std::vector<Rows> rows) {
  for (Rows& r : rows) {
    if (r.stride <= 2 * r.bytes) r = run(r.begin, end_of(r));
  }
  return rows;
}

Meetings find_meeting(std::span<const std::vector<Rows>> lists) {
  struct Member {
    Rows rows;
    std::size_t list = 0;
  };
  std::vector<Member> all;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const Rows& r : lists[i]) all.push_back({r, i});
  }
  std::sort(all.begin(), all.end(),
            [](const Member& a, const Member& b) { return a.rows.begin < b.rows.begin; });

  Index work = 4'000'000;
  std::vector<Member> open;
  for (const Member& member : all) {
    std::erase_if(open, [&](const Member& m) { return end_of(m.rows) <= member.rows.begin; });
    for (const Member& m : open) {
      if (--work < 0) return {false, {}};
      if (m.list != member.list && have_common_byte(m.rows, member.rows, &work))
        return {true, Meeting{std::min(m.list, member.list), std::max(m.list, member.list)}};
    }
    open.push_back(member);
  }
  if (work < 0) return {false, {}};
  return {true, {}};
}

}  // namespace nuna::access
