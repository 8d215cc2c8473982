#include "plan/launch_key.hpp"

#include <absl/hash/hash.h>

#include <algorithm>
#include <bit>

#include "plan/planner.hpp"

namespace nuna::plan {

namespace {

constexpr std::size_t kWordsOfDomain = 3 + 2 * 2 * kMaxDims + 2 * kMaxDims;
constexpr std::size_t kWordsOfUse = 4 + 5 * kMaxDims;

std::uint64_t bits(int value) { return static_cast<std::uint32_t>(value); }

// More axes than there can be are refused when the launch is planned; they only must not look like fewer.
std::uint64_t dims_bits(int dims) { return static_cast<std::uint64_t>(std::clamp(dims, 0, 15)); }

std::size_t most_words(const LaunchShape& launch) {
  std::size_t most = kWordsOfDomain + launch.uses.size() * kWordsOfUse;
  for (int a = 0; a < kMaxDims; ++a) most += launch.domain.weights_of(a).size();
  return most;
}

bool weighted(const Domain& domain) {
  return !domain.weights_of(0).empty() || !domain.weights_of(1).empty() || !domain.weights_of(2).empty();
}

// The functions below write words from `to` on and return where the next one goes.
using Next = std::uint64_t*;

Next put(Index word, Next to) {
  *to = static_cast<std::uint64_t>(word);
  return to + 1;
}

Next put_box(const Box& box, Next to) {
  for (const Interval& i : box.axis) to = put(i.end, put(i.begin, to));
  return to;
}

Next put_weights(const Domain& domain, Next to) {
  for (int a = 0; a < kMaxDims; ++a) {
    const auto& weights = domain.weights_of(a);
    to = put(static_cast<Index>(weights.size()), to);
    for (const double w : weights) to = put(std::bit_cast<Index>(w), to);
  }
  return to;
}

Next put_domain(const LaunchShape& launch, Next to) {
  const Domain& domain = launch.domain;
  const auto& parts = domain.parts_per_axis();
  const bool framed = domain.frame() != domain.box();
  const bool weights = weighted(domain);
  const int who = launch.team == LaunchShape::Team::one_device ? launch.device : launch.root.value;
  *to++ = dims_bits(domain.box().dims) | dims_bits(domain.frame().dims) << 4 |
          dims_bits(launch.block.dims) << 8 | static_cast<std::uint64_t>(launch.team) << 12 |
          static_cast<std::uint64_t>(framed) << 16 | static_cast<std::uint64_t>(weights) << 17 |
          static_cast<std::uint64_t>(launch.uses.size()) << 18 | bits(who) << 32;
  *to++ = bits(parts[0]) | bits(parts[1]) << 32;
  *to++ = bits(parts[2]) | bits(domain.along_axis()) << 32;
  to = put_box(domain.box(), to);
  if (framed) to = put_box(domain.frame(), to);
  for (const Index size : launch.block.size) to = put(size, to);
  return weights ? put_weights(domain, to) : to;
}

// One axis of a map is a byte of the argument's first word; its bits say which of the rule's numbers follow, because
// they are not the usual ones.
Next put_rule(const AxisRule& rule, int axis, std::uint64_t& head, Next to) {
  const bool odd_from = rule.from < AxisRule::kFixed || rule.from >= kMaxDims;
  std::uint64_t byte = odd_from ? 7U : static_cast<std::uint64_t>(rule.from - AxisRule::kFixed);
  if (odd_from) to = put(rule.from, to);
  const auto put_unusual = [&](Index value, Index usual, std::uint64_t bit) {
    if (value == usual) return;
    byte |= bit;
    to = put(value, to);
  };
  put_unusual(rule.tile, 1, 8U);
  put_unusual(rule.offset, 0, 16U);
  put_unusual(rule.before, 0, 32U);
  put_unusual(rule.after, 0, 64U);
  head |= byte << (8 + 8 * axis);
  return to;
}

Next put_use(const ArgumentUse& use, Next to) {
  const int dims = use.shape.extents.dims;
  std::uint64_t head = bits(use.buffer) << 32 | (use.reads ? 1U : 0U) | (use.writes ? 2U : 0U) |
                       (use.may ? 4U : 0U) | dims_bits(dims) << 4 | dims_bits(use.map.axes()) << 60;
  Next next = to + 1;
  if (!use.map.is_monotone()) {
    head |= 8U;
    *next++ = reinterpret_cast<std::uint64_t>(use.map.identity());
  }
  if (use.device) {
    head |= std::uint64_t{1} << 59;
    next = put(*use.device, next);
  }
  for (int b = 0; b < std::min(dims, kMaxDims); ++b) next = put_rule(use.map.rule(b), b, head, next);
  *to = head;
  return next;
}

}  // namespace

// The first word of each group says which words follow, so no two different launches have the same sequence.
void LaunchKey::assign(const LaunchShape& launch, std::size_t more) {
  const std::size_t most = most_words(launch) + more;
  if (words_.size() < most) words_.resize(most);
  Next next = put_domain(launch, words_.data());
  for (const ArgumentUse& use : launch.uses) next = put_use(use, next);
  size_ = static_cast<std::size_t>(next - words_.data());
}

std::size_t KeyHash::operator()(LaunchKey::Words words) const { return absl::HashOf(words); }

}  // namespace nuna::plan
