#include "access/cut.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace nuna::access {

Cut::Cut(const Box& domain, const Extents& block, std::array<std::vector<Index>, kMaxDims> bounds,
         int first_rank, int parts_per_rank)
    : domain_(domain),
      block_(block),
      bounds_(std::move(bounds)),
      first_rank_(first_rank),
      parts_per_rank_(parts_per_rank) {
  base::check(parts_per_rank_ > 0, "a cut gives each rank at least one part");
  for (int a = 0; a < kMaxDims; ++a) {
    const auto& b = bounds_[static_cast<std::size_t>(a)];
    base::check(b.size() >= 2 && std::is_sorted(b.begin(), b.end()), "cut boundaries ascend");
    parts_[static_cast<std::size_t>(a)] = static_cast<int>(b.size()) - 1;
    Range busy{parts_along(a), 0};
    int with_threads = 0;
    for (int i = 0; i < parts_along(a); ++i) {
      if (threads_along(a, i).empty()) continue;
      busy = {std::min(busy.begin, i), i + 1};
      ++with_threads;
    }
    base::check(busy.size() == with_threads, "only the first and last parts of a cut may be empty");
    busy_[static_cast<std::size_t>(a)] = busy;
  }
}

std::array<int, kMaxDims> Cut::position(int part) const {
  return {part / (parts_[1] * parts_[2]), part / parts_[2] % parts_[1], part % parts_[2]};
}

Box Cut::threads(int part) const {
  const auto at = position(part);
  Box box = domain_;
  for (int a = 0; a < kMaxDims; ++a) box[a] = threads_along(a, at[static_cast<std::size_t>(a)]);
  return box;
}

Part Cut::describe(const Box& threads) const {
  Part p{domain_, threads};
  for (int a = 0; a < kMaxDims; ++a) {
    const Index size = std::max<Index>(block_[a], 1);
    const Interval t = threads[a];
    p.blocks[a] = t.empty() ? Interval{0, 0}
                            : Interval{(t.begin - origin(a)) / size, (t.end - 1 - origin(a)) / size + 1};
  }
  return p;
}

Range Cut::parts_of(base::RankId rank) const {
  const int begin = (rank.value - first_rank_) * parts_per_rank_;
  return {std::clamp(begin, 0, parts()), std::clamp(begin + parts_per_rank_, 0, parts())};
}

Cut Cut::on(base::RankId rank, int slot) const {
  base::check(parts() == 1, "one device runs one part");
  Cut moved = *this;
  moved.first_rank_ = rank.value;
  moved.parts_per_rank_ = 1;
  moved.first_slot_ = slot;
  return moved;
}

bool operator==(const Cut& a, const Cut& b) {
  return a.dims() == b.dims() && a.domain_ == b.domain_ && a.block_ == b.block_ && a.bounds_ == b.bounds_ &&
         a.first_rank_ == b.first_rank_ && a.parts_per_rank_ == b.parts_per_rank_ &&
         a.first_slot_ == b.first_slot_;
}

Cut one_part_per_rank(int ranks) {
  std::vector<Index> bounds(static_cast<std::size_t>(ranks) + 1);
  std::iota(bounds.begin(), bounds.end(), Index{0});
  return {Box{{0, ranks}}, Extents{1}, {std::move(bounds), {0, 1}, {0, 1}}, 0, 1};
}

Cut one_part_on(base::RankId only) {
  return {Box{{0, 1}}, Extents{1}, {std::vector<Index>{0, 1}, {0, 1}, {0, 1}}, only.value, 1};
}

}  // namespace nuna::access
