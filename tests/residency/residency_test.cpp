#include "residency/residency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace nuna::residency {
namespace {

using base::ByteBox;
using base::PlaceId;

constexpr Index kSide = 6;

ByteBox box(Interval i, Interval j) { return {{i, j, Interval{0, 1}, Interval{0, 4}}}; }

/// Boxes of one axis are held apart, and found by where they are; those of two may lie beside each other.
class ResidencyOfAxes : public testing::TestWithParam<int> {
 protected:
  bool one_axis() const { return GetParam() == 1; }
};
INSTANTIATE_TEST_SUITE_P(Axes, ResidencyOfAxes, testing::Values(1, 2));

TEST_P(ResidencyOfAxes, EqualsAnArrayOfPlaceSets) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    const auto interval = [&] {
      const Index a = below(kSide);
      return Interval{a, a + 1 + below(static_cast<int>(kSide - a))};
    };
    ResidencyState state;
    std::map<std::pair<Index, Index>, PlaceSet> model;
    for (int step = 0; step < 40; ++step) {
      const ByteBox b = box(interval(), one_axis() ? Interval{0, 1} : interval());
      const PlaceId place{below(4)};
      const int what = below(4);
      for (Index i = b[0].begin; i < b[0].end; ++i) {
        for (Index j = b[1].begin; j < b[1].end; ++j) {
          PlaceSet& held = model[{i, j}];
          if (what == 0) held = PlaceSet::only(place);
          if (what == 1 && !held.empty()) held = held.with(place);
          if (what == 2) held = held.without(place);
          if (what == 3) held = PlaceSet();
        }
      }
      if (what == 0) state.set(b, PlaceSet::only(place));
      if (what == 1) state.add(b, place);
      if (what == 2) state.remove(b, place);
      if (what == 3) state.drop(b);
      for (const auto& [at, held] : model) {
        const auto found = state.within(box({at.first, at.first + 1}, {at.second, at.second + 1}));
        ASSERT_LE(found.size(), 1U) << "holdings are disjoint, seed " << seed;
        ASSERT_EQ(found.empty() ? PlaceSet() : found[0].places, held) << "seed " << seed << ", step " << step;
      }
    }
  }
}

TEST_P(ResidencyOfAxes, HoldingsAreInOrderAndNoTwoAreOneBox) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  ResidencyState state;
  for (int step = 0; step < 2000; ++step) {
    const Index i = below(40);
    const Index j = one_axis() ? 0 : below(9);
    const ByteBox b = box({i, i + 1 + below(5)}, {j, j + 1 + (one_axis() ? 0 : below(3))});
    const PlaceId place{below(3)};
    if (step % 3 == 0) state.set(b, PlaceSet::only(place));
    if (step % 3 == 1) state.add(b, place);
    if (step % 3 == 2) state.remove(b, place);
    const std::vector<Holding> all(state.holdings().begin(), state.holdings().end());
    for (std::size_t one = 0; one < all.size(); ++one) {
      for (std::size_t other = one + 1; other < all.size(); ++other) {
        const auto begin = [](const Holding& h) { return std::make_pair(h.box[0].begin, h.box[1].begin); };
        ASSERT_LT(begin(all[one]), begin(all[other])) << "step " << step;
        ASSERT_FALSE(all[one].places == all[other].places && base::united(all[one].box, all[other].box))
            << "step " << step;
      }
    }
  }
}

TEST(Residency, UnitesNeighboursThatAreOneBox) {
  ResidencyState state;
  state.set(box({0, 3}, {0, 6}), PlaceSet::only({1}));
  state.set(box({3, 6}, {0, 6}), PlaceSet::only({2}));
  state.add(box({0, 6}, {0, 6}), {3});
  EXPECT_EQ(state.holdings().size(), 2U);
  state.set(box({0, 6}, {0, 6}), PlaceSet::only({0}));
  EXPECT_EQ(state.holdings().size(), 1U);
  EXPECT_EQ(state.bytes_at({0}), 6 * 6 * 4);
  EXPECT_EQ(state.bytes_at({1}), 0);
}

}  // namespace
}  // namespace nuna::residency
