#include "address/arena.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/check.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::address {
namespace {

Index rounded_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }
Index rounded_down(Index value, Index multiple) { return value / multiple * multiple; }

bool is_power_of_two(Index value) { return value > 0 && (value & (value - 1)) == 0; }

// Odd, so that it meets all colours; not 1, so that neighbours in memory are further apart than a prefetch.
constexpr Index kColourStep = 5;

}  // namespace

Arena::Arena(Interval range, Index granule_bytes) : granule_bytes_(granule_bytes) {
  base::check(is_power_of_two(granule_bytes), "an arena's granule is no power of two");
  base::check(range.begin >= 0, "an arena begins at a negative offset");
  const Interval whole{rounded_up(range.begin, granule_bytes), rounded_down(range.end, granule_bytes)};
  size_bytes_ = whole.size();
  if (!whole.empty()) give(whole);
}

Index Arena::allocate(Index bytes, Index alignment_bytes) {
  base::check(bytes >= 0, "a block has a negative size");
  base::check(is_power_of_two(alignment_bytes), "an alignment is no power of two");
  const Fit plain{std::max(alignment_bytes, granule_bytes_), 0};
  const Index taken =
      bytes > size_bytes_ ? bytes : std::max(rounded_up(bytes, granule_bytes_), granule_bytes_);
  std::optional<Index> begin;
  if (taken >= kLargeBytes && plain.period <= kPageBytes) {
    begin = place(taken, {kColourPeriodBytes, next_colour_ * kPageBytes});
    if (begin) next_colour_ = (next_colour_ + kColourStep) % kColours;
  }
  if (!begin) begin = place(taken, plain);
  if (!begin) {
    throw Error(ErrorCode::out_of_memory,
                "no room for a block of " + base::rounded_bytes(bytes) + " in the address range of " +
                    base::rounded_bytes(size_bytes_) + ": " + base::rounded_bytes(free_bytes_) +
                    " are free, the largest piece is " + base::rounded_bytes(largest_hole_bytes()) +
                    "; destroy buffers that are no longer needed, or use smaller ones");
  }
  take({*begin, *begin + taken});
  blocks_.emplace(*begin, Block{bytes, taken});
  return *begin;
}

void Arena::free(Index offset) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) refuse_free(offset);
  give({offset, offset + block->second.taken_bytes});
  blocks_.erase(block);
  released_.insert(offset);
}

void Arena::refuse_free(Index offset) const {
  const std::string where = "offset " + std::to_string(offset);
  if (released_.contains(offset)) {
    throw Error(ErrorCode::already_released, where + " was released before; release a block once");
  }
  const auto inside = find(offset);
  const std::string why = inside ? " lies inside the block that begins at " + std::to_string(inside->begin)
                                 : " belongs to no block";
  throw Error(ErrorCode::not_nuna_pointer, where + why + "; release what an allocation returned");
}

std::optional<Interval> Arena::find(Index offset) const {
  auto block = blocks_.upper_bound(offset);
  if (block == blocks_.begin()) return std::nullopt;
  --block;
  const Interval asked{block->first, block->first + block->second.asked_bytes};
  if (!asked.contains(offset)) return std::nullopt;
  return asked;
}

/// The smallest hole that takes the block, and the first place in it. Holes that are larger by a period
/// always do.
std::optional<Index> Arena::place(Index bytes, Fit fit) const {
  for (auto hole = by_size_.lower_bound({bytes, 0}); hole != by_size_.end(); ++hole) {
    const auto [size, hole_begin] = *hole;
    const Index slack = size - bytes;
    const Index skip = (fit.remainder - hole_begin % fit.period + fit.period) % fit.period;
    if (skip <= slack) return hole_begin + skip;
  }
  return std::nullopt;
}

void Arena::take(Interval block) {
  const auto around = std::prev(holes_.upper_bound(block.begin));
  const Interval hole{around->first, around->second};
  remove_hole(hole);
  add_hole({hole.begin, block.begin});
  add_hole({block.end, hole.end});
  free_bytes_ -= block.size();
  released_.erase(released_.lower_bound(block.begin), released_.lower_bound(block.end));
}

void Arena::give(Interval block) {
  Interval hole = block;
  auto after = holes_.lower_bound(block.begin);
  if (after != holes_.end() && after->first == block.end) hole.end = after->second;
  if (after != holes_.begin() && std::prev(after)->second == block.begin)
    hole.begin = std::prev(after)->first;
  if (hole.end != block.end) remove_hole({block.end, hole.end});
  if (hole.begin != block.begin) remove_hole({hole.begin, block.begin});
  add_hole(hole);
  free_bytes_ += block.size();
}

void Arena::add_hole(Interval hole) {
  if (hole.empty()) return;
  holes_.emplace(hole.begin, hole.end);
  by_size_.emplace(hole.size(), hole.begin);
}

void Arena::remove_hole(Interval hole) {
  holes_.erase(hole.begin);
  by_size_.erase({hole.size(), hole.begin});
}

}  // namespace nuna::address
