#include "base/boxes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <absl/hash/hash.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/check.hpp"

namespace nuna::base {
namespace {

// The model: a buffer as one counter per byte, in dense row-major order.
class Bytes {
 public:
  explicit Bytes(const Shape& shape) : shape_(shape), count_(static_cast<std::size_t>(shape.bytes())) {}

  void add(const ByteBox& box, int by = 1) {
    for (Index i = box[0].begin; i < box[0].end; ++i) {
      for (Index j = box[1].begin; j < box[1].end; ++j) {
        for (Index k = box[2].begin; k < box[2].end; ++k) {
          for (Index b = box[3].begin; b < box[3].end; ++b) count_[offset(i, j, k, b)] += by;
        }
      }
    }
  }
  void add(const BoxList& boxes) {
    for (const ByteBox& box : boxes) add(box);
  }
  void add_range(Interval range) {
    for (Index b = range.begin; b < range.end; ++b) ++count_[static_cast<std::size_t>(b)];
  }
  void clear(const ByteBox& box) {
    Bytes hole(shape_);
    hole.add(box);
    for (std::size_t b = 0; b < count_.size(); ++b) {
      if (hole.count_[b] != 0) count_[b] = 0;
    }
  }
  Bytes touched() const {
    Bytes t = *this;
    for (int& c : t.count_) c = std::min(c, 1);
    return t;
  }
  Interval hull() const {
    const auto set = [](int c) { return c != 0; };
    const auto first = std::find_if(count_.begin(), count_.end(), set);
    if (first == count_.end()) return {};
    const auto last = std::find_if(count_.rbegin(), count_.rend(), set);
    return {first - count_.begin(), count_.rend() - last};
  }
  friend bool operator==(const Bytes& a, const Bytes& b) { return a.count_ == b.count_; }

 private:
  std::size_t offset(Index i, Index j, Index k, Index b) const {
    return static_cast<std::size_t>(
        ((i * shape_.extents[1] + j) * shape_.extents[2] + k) * shape_.element_bytes + b);
  }
  Shape shape_;
  std::vector<int> count_;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Index below(Index n) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(n)); }
  Interval interval(Index n) {
    const Index a = below(n + 1);
    const Index b = below(n + 1);
    return below(12) == 0 ? Interval{a, b}
                          : Interval{std::min(a, b), std::max(a, b)};  // some inverted: empty
  }
  Shape shape() { return {{1 + below(5), 1 + below(5), 1 + below(5)}, 1 + below(4)}; }
  ByteBox box(const Shape& shape) {
    ByteBox box;
    for (int a = 0; a < 3; ++a) box[a] = interval(shape.extents[a]);
    box[kByteAxis] = below(2) == 0 ? Interval{0, shape.element_bytes} : interval(shape.element_bytes);
    return box;
  }
  BoxList boxes(const Shape& shape, Index most) {
    BoxList list;
    for (Index n = below(most + 1); n > 0; --n) list.push_back(box(shape));
    return list;
  }

 private:
  std::mt19937_64 engine_;
};

constexpr unsigned kSeeds = 2000;

bool disjoint(const BoxList& boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      if (boxes[i].overlaps(boxes[j])) return false;
    }
  }
  return true;
}

bool no_box_is_empty(const BoxList& boxes) {
  return std::none_of(boxes.begin(), boxes.end(), [](const ByteBox& b) { return b.empty(); });
}

TEST(Boxes, SubtractionLeavesExactlyTheRestInDisjointBoxes) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape = random.shape();
    const ByteBox from = random.box(shape);
    const ByteBox hole = random.box(shape);
    BoxList rest;
    subtract(from, hole, rest);
    EXPECT_LE(rest.size(), 8U);
    EXPECT_TRUE(disjoint(rest) && no_box_is_empty(rest)) << seed;
    Bytes expected(shape);
    expected.add(from);
    expected.clear(hole);
    Bytes actual(shape);
    actual.add(rest);
    ASSERT_EQ(actual, expected) << to_string(from) << " minus " << to_string(hole);
  }
}

TEST(Boxes, SubtractionAppendsToWhatIsThere) {
  const Shape shape{{4, 1, 1}, 1};
  BoxList out{shape.whole()};
  subtract(shape.whole(), shape.of(Box{{1, 2}}), out);
  EXPECT_THAT(out, testing::ElementsAre(shape.whole(), shape.of(Box{{0, 1}}), shape.of(Box{{2, 4}})));
}

TEST(Boxes, SubtractionFromAListKeepsTheOthersAndTheirMultiplicity) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape = random.shape();
    BoxList boxes = random.boxes(shape, 6);
    const ByteBox hole = random.box(shape);
    Bytes expected(shape);
    expected.add(boxes);
    expected.clear(hole);
    subtract(boxes, hole);
    Bytes actual(shape);
    actual.add(boxes);
    ASSERT_EQ(actual, expected) << seed;
  }
}

TEST(Boxes, UnitedBoxesHoldTheBytesOfBothAndNoOther) {
  int united_count = 0;
  for (unsigned seed = 0; seed < 4 * kSeeds; ++seed) {
    Random random(seed);
    const Shape shape{{3, 2, 2}, 2};
    const ByteBox a = random.box(shape);
    ByteBox b = random.box(shape);
    if (random.below(2) == 0) {  // make it likely that they touch
      const int axis = static_cast<int>(random.below(4));
      const Interval kept = b[axis];
      b = a;
      b[axis] = kept;
    }
    Bytes both(shape);
    both.add(a);
    both.add(b);
    const auto whole = united(a, b);
    EXPECT_EQ(whole.has_value(), united(b, a).has_value());
    // The hull has no other bytes: then they form one box.
    Bytes of_hull(shape);
    of_hull.add(hull(a, b));
    ASSERT_EQ(whole.has_value(), of_hull == both.touched()) << to_string(a) << " and " << to_string(b);
    if (!whole) continue;
    ++united_count;
    Bytes of_whole(shape);
    of_whole.add(*whole);
    ASSERT_EQ(of_whole, both.touched()) << to_string(a) << " and " << to_string(b);
  }
  EXPECT_GT(united_count, 1000);
}

TEST(Boxes, CoalescingKeepsTheBytesAndLeavesNoPairThatCouldUnite) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape{{1 + random.below(4), 1 + random.below(3), 2}, 1 + random.below(2)};
    BoxList boxes = random.boxes(shape, 10);
    Bytes expected(shape);
    expected.add(boxes);
    const std::size_t before = boxes.size();
    coalesce(boxes);
    EXPECT_LE(boxes.size(), before);
    Bytes actual(shape);
    actual.add(boxes);
    ASSERT_EQ(actual.touched(), expected.touched()) << seed;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (std::size_t j = i + 1; j < boxes.size(); ++j) EXPECT_FALSE(united(boxes[i], boxes[j])) << seed;
    }
  }
}

TEST(Boxes, CoalescingUndoesASubtractionThatIsPutBack) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape = random.shape();
    const ByteBox hole = random.box(shape);
    if (hole.empty()) continue;
    BoxList boxes;
    subtract(shape.whole(), hole, boxes);
    boxes.push_back(hole);
    coalesce(boxes);
    EXPECT_THAT(boxes, testing::ElementsAre(shape.whole())) << to_string(hole);
  }
}

TEST(Boxes, ARangeBecomesAtMostSevenDisjointBoxesThatCoverItExactly) {
  std::size_t most = 0;
  for (unsigned seed = 0; seed < 2 * kSeeds; ++seed) {
    Random random(seed);
    const Shape shape = random.shape();
    const Interval range = random.interval(shape.bytes());
    const BoxList boxes = boxes_of_range(shape, range);
    most = std::max(most, boxes.size());
    EXPECT_TRUE(disjoint(boxes) && no_box_is_empty(boxes)) << seed;
    Bytes expected(shape);
    expected.add_range(range);
    Bytes actual(shape);
    actual.add(boxes);
    ASSERT_EQ(actual, expected) << to_string(shape.extents) << " of " << shape.element_bytes << " bytes: ["
                                << range.begin << ", " << range.end << ")";
    const auto whole = [&](const ByteBox& b) { return b[kByteAxis] == Interval{0, shape.element_bytes}; };
    EXPECT_LE(std::count_if(boxes.begin(), boxes.end(), whole), 5);
  }
  EXPECT_EQ(most, 7U);
}

TEST(Boxes, EveryRangeOfASmallBufferIsCoveredInAscendingOrder) {
  const Shape shape{{3, 3, 3}, 2};
  for (Index begin = 0; begin <= shape.bytes(); ++begin) {
    for (Index end = begin; end <= shape.bytes(); ++end) {
      Index at = begin;
      for (const ByteBox& box : boxes_of_range(shape, {begin, end})) {
        const Interval piece = hull_range(shape, box);
        ASSERT_EQ(piece.begin, at);
        ASSERT_EQ(piece.size(), box.bytes()) << "not contiguous";
        at = piece.end;
      }
      ASSERT_EQ(at, end);
    }
  }
}

TEST(Boxes, ARangeOfWholeRowsIsOneBox) {
  const Shape shape{{8, 4, 2}, 4};
  EXPECT_THAT(boxes_of_range(shape, {0, shape.bytes()}), testing::ElementsAre(shape.whole()));
  EXPECT_THAT(boxes_of_range(shape, {64, 128}), testing::ElementsAre(shape.of(Box{{2, 4}, {0, 4}, {0, 2}})));
  EXPECT_THAT(boxes_of_range(shape, {40, 48}), testing::ElementsAre(shape.of(Box{{1, 2}, {1, 2}, {0, 2}})));
}

TEST(Boxes, LargeBuffersDoNotOverflow) {
  const Shape shape{{Index{1} << 20, Index{1} << 20, Index{1} << 19}, 8};  // 2^62 bytes
  const Interval range{3, shape.bytes() - 3};
  Index covered = 0;
  for (const ByteBox& box : boxes_of_range(shape, range)) covered += box.bytes();
  EXPECT_EQ(covered, range.size());
  EXPECT_EQ(hull_range(shape, shape.whole()), (Interval{0, shape.bytes()}));
}

TEST(Boxes, ARangeOutsideItsBufferIsABrokenInvariant) {
  const ThrowOnPanic throwing;
  EXPECT_THROW(boxes_of_range({{4, 1, 1}, 2}, {0, 9}), BrokenInvariant);
  EXPECT_THROW(boxes_of_range({{4, 1, 1}, 2}, {-1, 3}), BrokenInvariant);
  EXPECT_THROW(boxes_of_range({{0, 4, 4}, 2}, {0, 1}), BrokenInvariant);
  EXPECT_TRUE(boxes_of_range({{0, 4, 4}, 2}, {0, 0}).empty());
  EXPECT_TRUE(boxes_of_range({{4, 1, 1}, 2}, {20, 20}).empty());
}

TEST(Boxes, TheHullRangeIsTheSmallestThatHoldsTheBox) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape = random.shape();
    const ByteBox box = random.box(shape);
    Bytes bytes(shape);
    bytes.add(box);
    ASSERT_EQ(hull_range(shape, box), bytes.hull()) << to_string(box);
  }
}

TEST(Boxes, TheHullHoldsBothAndIgnoresEmptyBoxes) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape = random.shape();
    const ByteBox a = random.box(shape);
    const ByteBox b = random.box(shape);
    const ByteBox h = hull(a, b);
    EXPECT_TRUE(h.contains(a) && h.contains(b));
    if (a.empty()) {
      EXPECT_EQ(h, b);
    }
    if (b.empty() && !a.empty()) {
      EXPECT_EQ(h, a);
    }
    for (int axis = 0; axis < 4 && !a.empty() && !b.empty(); ++axis) {
      EXPECT_EQ(h[axis].begin, std::min(a[axis].begin, b[axis].begin));
      EXPECT_EQ(h[axis].end, std::max(a[axis].end, b[axis].end));
    }
  }
}

TEST(Boxes, ContainsAndOverlapsAgreeWithTheBytes) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Shape shape{{3, 2, 2}, 2};
    const ByteBox a = random.box(shape);
    const ByteBox b = random.box(shape);
    Bytes both(shape);
    both.add(a);
    Bytes cleared = both;
    cleared.clear(b);
    EXPECT_EQ(a.overlaps(b), !(cleared == both));
    EXPECT_EQ(b.contains(a), cleared == Bytes(shape));
    EXPECT_EQ(a.intersect(b).bytes(), b.intersect(a).bytes());
  }
}

TEST(Boxes, EqualBoxesHashAlike) {
  const Shape shape{{3, 2, 2}, 2};
  EXPECT_EQ(absl::HashOf(shape.whole()), absl::HashOf(shape.of(Box(shape.extents))));
  EXPECT_NE(absl::HashOf(shape.whole()), absl::HashOf(ByteBox{}));
}

TEST(Boxes, AreWrittenAsProducts) {
  EXPECT_EQ(to_string(Box{{0, 4}, {2, 8}}), "[0, 4) x [2, 8)");
  EXPECT_EQ(to_string(Extents{4, 8, 2}), "4 x 8 x 2");
  EXPECT_EQ(to_string(Extents{4}), "4");
  EXPECT_EQ(to_string(Shape{{4, 8}, 2}.whole()), "[0, 4) x [0, 8) x [0, 1) bytes [0, 2)");
}

TEST(Boxes, TextOfTooManyAxesIsCutAtThree) {
  EXPECT_EQ(to_string(Extents{4, 8, 2, 9}), "4 x 8 x 2");
  EXPECT_EQ(to_string(Box{{0, 1}, {0, 2}, {0, 3}, {0, 4}}), "[0, 1) x [0, 2) x [0, 3)");
}

}  // namespace
}  // namespace nuna::base
