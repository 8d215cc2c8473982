#include "coherence/segment_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace nuna::coherence {
namespace {

using ::testing::ElementsAre;
using Segment = std::tuple<Index, Index, int>;

template <class Value>
std::vector<std::tuple<Index, Index, Value>> segments_of(const SegmentMap<Value>& map, Interval range) {
  std::vector<std::tuple<Index, Index, Value>> found;
  map.for_each(
      range, [&](Interval bytes, const Value& value) { found.emplace_back(bytes.begin, bytes.end, value); });
  return found;
}

std::vector<Segment> segments_of(const SegmentMap<int>& map) { return segments_of(map, {0, map.size()}); }

TEST(SegmentMap, BeginsAsOneSegment) {
  const SegmentMap<int> map(100, 7);
  EXPECT_EQ(map.size(), 100);
  EXPECT_EQ(map.segments(), 1U);
  EXPECT_EQ(map.at(0), 7);
  EXPECT_EQ(map.at(99), 7);
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 100, 7)));
}

TEST(SegmentMap, OfSizeZeroHasNoSegments) {
  SegmentMap<int> map(0, 1);
  EXPECT_EQ(map.segments(), 0U);
  map.assign({0, 0}, 2);
  map.update({0, 0}, [](int v) { return v + 1; });
  map.for_each({0, 0}, [](Interval, int) { FAIL(); });
  EXPECT_EQ(map, SegmentMap<int>());
}

TEST(SegmentMap, AssignInTheMiddleLeavesBothSides) {
  SegmentMap<int> map(100);
  map.assign({20, 30}, 5);
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 20, 0), Segment(20, 30, 5), Segment(30, 100, 0)));
}

TEST(SegmentMap, AssignOfTheSameValueChangesNothing) {
  SegmentMap<int> map(100);
  map.assign({20, 30}, 0);
  EXPECT_EQ(map.segments(), 1U);
}

TEST(SegmentMap, AssignReachesBothEnds) {
  SegmentMap<int> map(100);
  map.assign({0, 10}, 1);
  map.assign({90, 100}, 2);
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 10, 1), Segment(10, 90, 0), Segment(90, 100, 2)));
  map.assign({0, 100}, 3);
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 100, 3)));
}

TEST(SegmentMap, NeighboursWithEqualValuesMeltTogether) {
  SegmentMap<int> map(100);
  map.assign({20, 30}, 5);
  map.assign({40, 50}, 5);
  map.assign({30, 40}, 5);
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 20, 0), Segment(20, 50, 5), Segment(50, 100, 0)));
  map.assign({20, 50}, 0);
  EXPECT_EQ(map.segments(), 1U);
}

TEST(SegmentMap, GrowsOneSegmentUnderSequentialAssigns) {
  SegmentMap<int> map(1000);
  for (Index i = 0; i < 1000; ++i) {
    map.assign({i, i + 1}, 9);
    EXPECT_LE(map.segments(), 2U);
  }
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 1000, 9)));
}

TEST(SegmentMap, ForEachClipsTheSegmentsAtBothEnds) {
  SegmentMap<int> map(100);
  map.assign({20, 30}, 5);
  EXPECT_THAT(segments_of(map, {25, 35}), ElementsAre(Segment(25, 30, 5), Segment(30, 35, 0)));
  EXPECT_THAT(segments_of(map, {22, 24}), ElementsAre(Segment(22, 24, 5)));
  EXPECT_THAT(segments_of(map, {20, 30}), ElementsAre(Segment(20, 30, 5)));
}

TEST(SegmentMap, UpdateTransformsOnlyTheRange) {
  SegmentMap<int> map(100);
  map.assign({20, 30}, 5);
  map.update({25, 40}, [](int v) { return v + 1; });
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 20, 0), Segment(20, 25, 5), Segment(25, 30, 6),
                                            Segment(30, 40, 1), Segment(40, 100, 0)));
}

TEST(SegmentMap, UpdateThatChangesNothingLeavesNoSplit) {
  SegmentMap<int> map(100);
  map.assign({20, 30}, 5);
  const SegmentMap<int> before = map;
  map.update({10, 25}, [](int v) { return v; });
  EXPECT_EQ(map, before);
  EXPECT_EQ(map.segments(), 3U);
}

TEST(SegmentMap, UpdateMeltsWithTheSegmentsOnBothSides) {
  SegmentMap<int> map(100);
  map.assign({20, 80}, 5);
  map.update({20, 80}, [](int) { return 0; });
  EXPECT_THAT(segments_of(map), ElementsAre(Segment(0, 100, 0)));
}

TEST(SegmentMap, UpdateCallsItsFunctionOnceASegmentInOrder) {
  SegmentMap<int> map(100);
  for (int i = 0; i < 10; ++i) map.assign({Index{10} * i, Index{10} * i + 10}, i);
  std::vector<int> seen;
  map.update({15, 55}, [&](int v) {
    seen.push_back(v);
    return 1;
  });
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(segments_of(map, {0, 60}),
              ElementsAre(Segment(0, 10, 0), Segment(10, 55, 1), Segment(55, 60, 5)));
}

TEST(SegmentMap, ACopyIsIndependent) {
  SegmentMap<int> map(100);
  SegmentMap<int> copy = map;
  copy.assign({0, 50}, 1);
  EXPECT_EQ(map.segments(), 1U);
  EXPECT_FALSE(map == copy);
  map = copy;
  EXPECT_EQ(map, copy);
}

TEST(SegmentMap, MapsOfDifferentSizesDiffer) { EXPECT_FALSE(SegmentMap<int>(10) == SegmentMap<int>(11)); }

TEST(SegmentMap, HoldsValuesThatOwnMemory) {
  SegmentMap<std::string> map(1000, std::string(40, 'a'));
  map.assign({100, 900}, std::string(40, 'b'));
  map.assign({200, 300}, std::string(40, 'c'));
  map.assign({250, 260}, std::string(40, 'd'));
  map.update({150, 255}, [](const std::string& s) { return s + "!"; });
  EXPECT_EQ(map.at(255), std::string(40, 'd'));
  EXPECT_EQ(map.at(254), std::string(40, 'd') + "!");
  EXPECT_EQ(map.at(280), std::string(40, 'c'));
  EXPECT_EQ(map.at(899), std::string(40, 'b'));
}

TEST(SegmentMap, NeedsNothingOfAValueButCopyAndEquality) {
  struct OnlyEqual {
    std::shared_ptr<int> held;
    bool operator==(const OnlyEqual& o) const { return held == o.held; }
  };
  const OnlyEqual one{std::make_shared<int>(1)};
  const OnlyEqual two{std::make_shared<int>(2)};
  SegmentMap<OnlyEqual> map(10, one);
  map.assign({2, 8}, two);
  map.assign({3, 4}, one);
  EXPECT_EQ(map.segments(), 5U);
  map.assign({0, 10}, one);
  EXPECT_EQ(two.held.use_count(), 1);
}

TEST(SegmentMap, RefusesRangesOutside) {
  const base::ThrowOnPanic throwing;
  SegmentMap<int> map(100);
  EXPECT_THROW(map.assign({-1, 5}, 1), base::BrokenInvariant);
  EXPECT_THROW(map.assign({90, 101}, 1), base::BrokenInvariant);
  EXPECT_THROW(map.update({90, 101}, [](int v) { return v; }), base::BrokenInvariant);
  EXPECT_THROW(map.for_each({100, 101}, [](Interval, int) {}), base::BrokenInvariant);
  EXPECT_THROW(map.at(100), base::BrokenInvariant);
  EXPECT_THROW(map.at(-1), base::BrokenInvariant);
  EXPECT_THROW(SegmentMap<int>(-1), base::BrokenInvariant);
  map.assign({50, 20}, 1);  // empty, wherever it lies
  EXPECT_EQ(map.segments(), 1U);
}

// The model: one value a byte.
using Model = std::vector<int>;

std::vector<Segment> segments_of(const Model& model, Interval range) {
  std::vector<Segment> found;
  for (Index i = range.begin; i < range.end; ++i) {
    const int value = model[static_cast<std::size_t>(i)];
    if (found.empty() || std::get<2>(found.back()) != value) found.emplace_back(i, i, value);
    std::get<1>(found.back()) = i + 1;
  }
  return found;
}

class AgainstAnArray : public ::testing::TestWithParam<unsigned> {
 protected:
  Index below(Index n) { return static_cast<Index>(random_() % static_cast<std::uint64_t>(n)); }
  Interval some_range(Index size) {
    const Index longest = below(8) == 0 ? size : 1 + size / 10;
    const Index begin = below(size + 1);
    return {begin, std::min(size, begin + below(longest + 1))};
  }
  std::mt19937_64 random_{GetParam()};
};

TEST_P(AgainstAnArray, ThousandsOfRandomOperationsAgree) {
  const Index size = 1 + below(2000);
  const Index values = 1 + below(5);  // few values: much melts together
  SegmentMap<int> map(size);
  Model model(static_cast<std::size_t>(size), 0);
  for (int step = 0; step < 3000; ++step) {
    const Interval range = some_range(size);
    const auto begin = model.begin() + range.begin;
    const auto end = model.begin() + range.end;
    const int value = static_cast<int>(below(values));
    switch (below(4)) {
      case 0:
      case 1:
        map.assign(range, value);
        std::fill(begin, end, value);
        break;
      case 2: {
        const auto change = [&](int v) { return (v * 3 + value) % static_cast<int>(values); };
        map.update(range, change);
        std::transform(begin, end, begin, change);
        break;
      }
      default:
        ASSERT_EQ(segments_of(map, range), segments_of(model, range)) << "step " << step;
    }
    if (step % 16 == 0) {
      ASSERT_EQ(segments_of(map), segments_of(model, {0, size})) << "step " << step;
      ASSERT_EQ(map.segments(), segments_of(model, {0, size}).size());
    }
    const Index probe = below(size);
    ASSERT_EQ(map.at(probe), model[static_cast<std::size_t>(probe)]);
  }
}

TEST_P(AgainstAnArray, EqualContentsAreEqualMapsWhateverTheirHistory) {
  const Index size = 1 + below(500);
  SegmentMap<int> map(size);
  for (int step = 0; step < 200; ++step) map.assign(some_range(size), static_cast<int>(below(3)));
  SegmentMap<int> byte_by_byte(size, -1);
  for (Index i = size; i-- > 0;) byte_by_byte.assign({i, i + 1}, map.at(i));
  EXPECT_EQ(map, byte_by_byte);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgainstAnArray, ::testing::Range(0U, 40U));

}  // namespace
}  // namespace nuna::coherence
