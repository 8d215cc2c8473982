#include "schedule/partition.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "nuna/error.hpp"

namespace nuna::schedule {
namespace {

using access::Team;
constexpr Index kLargest = Index{1} << 60;  // leaves room for sums of indices

using Parts = std::array<int, kMaxDims>;

[[noreturn]] void refuse(ErrorCode code, std::string_view what, const std::string& why) {
  throw Error(code, std::string(what) + ": " + why);
}

Index blocks_along(const Box& frame, const Extents& block, int axis) {
  const Index size = block[axis];
  return (frame[axis].size() + size - 1) / size;
}

void check_shape(const Domain& domain, const Extents& block, std::string_view what) {
  const Box& box = domain.box();
  const Box& frame = domain.frame();
  if (box.dims < 1 || box.dims > kMaxDims)
    refuse(ErrorCode::invalid_argument, what, "a domain has 1 to 3 axes");
  if (block.dims > kMaxDims || block.dims < 1)
    refuse(ErrorCode::invalid_argument, what, "a block has 1 to 3 axes");
  if (frame.dims != box.dims) {
    refuse(ErrorCode::invalid_argument, what,
           "the domain has " + std::to_string(box.dims) + " axes, its frame " + std::to_string(frame.dims));
  }
  if (box.empty()) refuse(ErrorCode::invalid_argument, what, "the domain " + to_string(box) + " is empty");
  if (!frame.contains(box)) {
    refuse(ErrorCode::out_of_bounds, what,
           "the domain " + to_string(box) + " leaves its frame " + to_string(frame));
  }
  for (int a = 0; a < kMaxDims; ++a) {
    if (frame[a].begin < -kLargest || frame[a].end > kLargest || block[a] > kLargest) {
      refuse(ErrorCode::invalid_argument, what,
             "indices and blocks beyond 2^60 (axis " + std::to_string(a) + ")");
    }
    if (block[a] < 1)
      refuse(ErrorCode::invalid_argument, what,
             "a block has at least one thread along axis " + std::to_string(a));
  }
}

// The user's parts per axis, checked.
Parts asked_parts(const Domain& domain, const Extents& block, const Team& team, std::string_view what) {
  const Parts parts = domain.parts_per_axis();
  Index product = 1;
  for (int a = 0; a < kMaxDims; ++a) {
    const int n = parts[static_cast<std::size_t>(a)];
    if (n < 1 || (a >= domain.box().dims && n != 1)) {
      refuse(ErrorCode::invalid_argument, what,
             "cannot cut into " + std::to_string(n) + " parts along axis " + std::to_string(a));
    }
    product *= n;
  }
  if (product != team.parts()) {
    refuse(ErrorCode::invalid_argument, what,
           "cut into " + std::to_string(product) + " parts, but there are " + std::to_string(team.parts()) +
               " devices (" + std::to_string(team.ranks) + " ranks x " + std::to_string(team.devices) + ")");
  }
  for (int a = 0; a < kMaxDims; ++a) {
    const Index blocks = blocks_along(domain.frame(), block, a);
    if (parts[static_cast<std::size_t>(a)] > blocks) {
      refuse(ErrorCode::too_few_blocks, what,
             std::to_string(parts[static_cast<std::size_t>(a)]) + " parts along axis " + std::to_string(a) +
                 ", but only " + std::to_string(blocks) +
                 " blocks: use fewer devices, smaller blocks or another axis");
    }
  }
  return parts;
}

Parts parts_along(const Domain& domain, const Extents& block, const Team& team, std::string_view what) {
  const int axis = domain.along_axis();
  if (axis >= domain.box().dims) {
    refuse(ErrorCode::invalid_argument, what,
           "cannot cut along axis " + std::to_string(axis) + " of " + to_string(domain.frame()));
  }
  const Index blocks = blocks_along(domain.frame(), block, axis);
  if (team.parts() > blocks) {
    refuse(ErrorCode::too_few_blocks, what,
           std::to_string(team.parts()) + " devices along axis " + std::to_string(axis) + ", but only " +
               std::to_string(blocks) + " blocks: use fewer devices, smaller blocks or another axis");
  }
  Parts parts{1, 1, 1};
  parts[static_cast<std::size_t>(axis)] = team.parts();
  return parts;
}

// Largest prime factors first, each to the axis with the most blocks per part. May give an axis more than it has.
Parts factored_parts(const Domain& domain, const Extents& block, int total) {
  std::vector<int> factors;
  for (int f = 2; total > 1;) {
    if (total % f == 0) {
      factors.push_back(f);
      total /= f;
    } else {
      ++f;
    }
  }
  Parts parts{1, 1, 1};
  for (auto f = factors.rbegin(); f != factors.rend(); ++f) {
    int best = 0;
    for (int a = 1; a < domain.box().dims; ++a) {
      const auto per_part = [&](int axis) {
        return blocks_along(domain.frame(), block, axis) / parts[static_cast<std::size_t>(axis)];
      };
      if (per_part(a) > per_part(best)) best = a;
    }
    parts[static_cast<std::size_t>(best)] *= *f;
  }
  return parts;
}

Parts chosen_parts(const Domain& domain, const Extents& block, const Team& team) {
  const int total = team.parts();
  const int dims = domain.box().dims;
  Parts parts{1, 1, 1};
  for (int a = 0; a < dims; ++a) {
    if (blocks_along(domain.frame(), block, a) >= total) {
      parts[static_cast<std::size_t>(a)] = total;
      return parts;
    }
  }
  parts = factored_parts(domain, block, total);
  bool fits = true;
  int widest = 0;
  for (int a = 0; a < dims; ++a) {
    const Index blocks = blocks_along(domain.frame(), block, a);
    fits = fits && parts[static_cast<std::size_t>(a)] <= blocks;
    if (blocks > blocks_along(domain.frame(), block, widest)) widest = a;
  }
  if (fits) return parts;
  parts = {1, 1, 1};
  parts[static_cast<std::size_t>(widest)] = total;
  return parts;
}

// Boundaries in blocks: equal parts, or shares of `weights`; every part gets a block as long as there are enough.
std::vector<Index> block_bounds(Index blocks, int parts, const std::vector<double>& weights) {
  std::vector<Index> bounds(static_cast<std::size_t>(parts) + 1, blocks);
  bounds[0] = 0;
  if (parts > blocks) {
    for (int i = 1; i <= parts; ++i) bounds[static_cast<std::size_t>(i)] = std::min<Index>(i, blocks);
    return bounds;
  }
  double sum = 0;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int i = 1; i < parts; ++i) {
    Index at = blocks / parts * i + std::min<Index>(i, blocks % parts);
    if (!weights.empty()) {
      sum += weights[static_cast<std::size_t>(i) - 1];
      at = static_cast<Index>(sum / total * static_cast<double>(blocks) + 0.5);
    }
    bounds[static_cast<std::size_t>(i)] =
        std::clamp(at, bounds[static_cast<std::size_t>(i) - 1] + 1, blocks - (parts - i));
  }
  return bounds;
}

std::vector<Index> bounds_along(const Domain& domain, const Extents& block, int axis, int parts,
                                std::string_view what) {
  const auto& weights = domain.weights_of(axis);
  if (!weights.empty()) {
    if (static_cast<int>(weights.size()) != parts) {
      refuse(ErrorCode::invalid_argument, what,
             std::to_string(weights.size()) + " weights for " + std::to_string(parts) + " parts along axis " +
                 std::to_string(axis));
    }
    if (std::any_of(weights.begin(), weights.end(), [](double w) { return !(w > 0) || w > 1e300; })) {
      refuse(ErrorCode::invalid_argument, what,
             "weights are positive numbers (axis " + std::to_string(axis) + ")");
    }
  }
  const Interval frame = domain.frame()[axis];
  std::vector<Index> bounds = block_bounds(blocks_along(domain.frame(), block, axis), parts, weights);
  for (Index& b : bounds) b = std::min(frame.begin + b * block[axis], frame.end);
  return bounds;
}

}  // namespace

access::Cut cut(const Domain& domain, const Extents& block, const access::Team& team, std::string_view what) {
  check_shape(domain, block, what);
  Parts parts;
  if (domain.parts_per_axis()[0] != 0) {
    parts = asked_parts(domain, block, team, what);
  } else if (domain.along_axis() >= 0) {
    parts = parts_along(domain, block, team, what);
  } else {
    parts = chosen_parts(domain, block, team);
  }
  std::array<std::vector<Index>, kMaxDims> bounds;
  for (int a = 0; a < kMaxDims; ++a) {
    bounds[static_cast<std::size_t>(a)] =
        bounds_along(domain, block, a, parts[static_cast<std::size_t>(a)], what);
  }
  return {domain.box(), block, std::move(bounds), 0, team.devices};
}

}  // namespace nuna::schedule
