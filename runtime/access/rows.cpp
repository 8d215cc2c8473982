#include "access/rows.hpp"

#include <algorithm>

#include "access/row_bands.hpp"

namespace nuna::access {
namespace {

Rows run(Index begin, Index end) { return {begin, end - begin, end - begin, 1}; }

bool by_begin(const Rows& a, const Rows& b) { return a.begin < b.begin; }

/// Adds `step` to every byte's place [0, count) times, if that is again rows of one stride.
bool extend(Rows* rows, const Lattice::Step& step) {
  if (rows->count == 1 && step.step <= rows->bytes) {
    *rows = run(rows->begin, rows->begin + rows->bytes + step.step * (step.count - 1));
    return true;
  }
  if (rows->count == 1) {
    *rows = {rows->begin, rows->bytes, step.step, step.count};
    return true;
  }
  if (step.step % rows->stride != 0 || step.step / rows->stride > rows->count) return false;
  rows->count += step.step / rows->stride * (step.count - 1);
  return true;
}

/// The same, in any case. False: too many.
bool repeat(std::vector<Rows>* rows, Lattice::Step step) {
  constexpr Index kManyCopies = 4096;
  Rows& only = rows->front();
  if (rows->size() == 1 && step.count > kManyCopies && only.count < step.count) {
    // Fewer the other way round.
    const Lattice::Step inner{only.stride, only.count};
    only.stride = step.step;
    only.count = step.count;
    step = inner;
  }
  const std::size_t before = rows->size();
  if (before * static_cast<std::size_t>(step.count) > kMaxRows) return false;
  Index first = rows->front().begin;
  Index end = first;
  for (const Rows& r : *rows) first = std::min(first, r.begin), end = std::max(end, end_of(r));
  for (Index k = 1; k < step.count; ++k) {
    for (std::size_t i = 0; i < before; ++i) {
      Rows copy = (*rows)[i];
      copy.begin += k * step.step;
      rows->push_back(copy);
    }
  }
  if (step.step >= end - first) return true;
  auto united = unite(std::move(*rows));
  if (!united) return false;
  *rows = std::move(*united);
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
  Index count = 1;
  Index stride = 0;
  for (const Rows& r : group) {
    if (r.count > count) count = r.count, stride = r.stride;
  }
  return stride;
}

/// Rows whose hulls overlap. False: too many.
bool append_united(std::span<const Rows> group, std::vector<Rows>* result) {
  if (group.size() == 1) {
    result->push_back(group.front());
    return true;
  }
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
  std::vector<Lattice::Step> steps = lattice.steps;
  std::sort(steps.begin(), steps.end(),
            [](const Lattice::Step& a, const Lattice::Step& b) { return a.step < b.step; });
  Wide end = Wide{lattice.first} + bytes;
  for (const Lattice::Step& step : steps) end += Wide{step.step} * (step.count - 1);
  narrow(end);

  std::vector<Rows> made{run(lattice.first, lattice.first + bytes)};
  for (const Lattice::Step& step : steps) {
    if (made.size() == 1 && extend(&made.front(), step)) continue;
    if (!repeat(&made, step)) return false;
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
