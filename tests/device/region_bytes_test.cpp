#include "device/region_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "device/host/split.hpp"

namespace nuna::device {
namespace {

// The addresses of a region's bytes in order, by a plain loop.
std::vector<std::byte*> addresses(const Region& r) {
  std::vector<std::byte*> all;
  for (Index i = 0; i < r.counts[0]; ++i) {
    for (Index j = 0; j < r.counts[1]; ++j) {
      for (Index k = 0; k < r.counts[2]; ++k) {
        std::byte* run = r.first + i * r.stride_bytes[0] + j * r.stride_bytes[1] + k * r.stride_bytes[2];
        for (Index b = 0; b < r.run_bytes; ++b) all.push_back(run + b);
      }
    }
  }
  return all;
}

// A region of 1 to 3 axes whose runs do not overlap, sometimes dense, with axes in any order of strides.
Region random_region(std::mt19937& random, std::byte* first, std::array<Index, 3> counts, Index run_bytes) {
  Region r{first, counts, {}, run_bytes};
  std::array<std::size_t, 3> order{2, 1, 0};
  if (random() % 4 == 0) std::shuffle(order.begin(), order.end(), random);
  Index stride = run_bytes;
  for (const std::size_t a : order) {
    if (random() % 2 == 0) stride += static_cast<Index>(random() % 5);
    r.stride_bytes[a] = stride;
    stride *= counts[a];
  }
  return r;
}

// Three factors and a rest whose product is `bytes`.
std::pair<std::array<Index, 3>, Index> random_shape(std::mt19937& random, Index bytes) {
  std::array<Index, 3> counts{1, 1, 1};
  for (Index& count : counts) {
    for (const Index factor : {2, 3, 5, 2}) {
      if (bytes % factor == 0 && random() % 3 == 0) {
        count *= factor;
        bytes /= factor;
      }
    }
  }
  return {counts, bytes};
}

TEST(RegionBytes, CopyEqualsAPlainLoopForRandomShapes) {
  int cursors = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const Index size = std::array<Index, 6>{1, 12, 60, 210, 720, 1800}[random() % 6];
    std::vector<std::byte> source(60'000);
    std::vector<std::byte> target(60'000, std::byte{0xee});
    for (std::byte& b : source) b = static_cast<std::byte>(random());
    const auto [from_counts, from_run] = random_shape(random, size);
    const auto [to_counts, to_run] = random_shape(random, size);
    const Region from = random_region(random, source.data() + random() % 64, from_counts, from_run);
    const Region to = random_region(random, target.data() + random() % 64, to_counts, to_run);
    cursors += from_run != to_run && std::max(from_run, to_run) % std::min(from_run, to_run) != 0;

    auto expected = target;
    const auto f = addresses(from);
    const auto t = addresses(to);
    ASSERT_EQ(f.size(), static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < f.size(); ++i)
      expected[static_cast<std::size_t>(t[i] - target.data())] = *f[i];

    const int parts = 1 + static_cast<int>(random() % 4);
    for (int p = parts; p-- > 0;) copy_part(to, from, host::part_of({0, size}, p, parts));
    ASSERT_EQ(target, expected) << "seed " << seed;
  }
  EXPECT_GT(cursors, 100);  // the general path was met
}

TEST(RegionBytes, FillTouchesTheRegionAndNothingElse) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const Index size = std::array<Index, 4>{1, 60, 210, 720}[random() % 4];
    std::vector<std::byte> target(30'000);
    const auto [counts, run] = random_shape(random, size);
    const Region to = random_region(random, target.data() + random() % 64, counts, run);
    auto expected = target;
    for (std::byte* a : addresses(to))
      expected[static_cast<std::size_t>(a - target.data())] = std::byte{0xff};
    const int parts = 1 + static_cast<int>(random() % 4);
    for (int p = 0; p < parts; ++p) fill_part(to, std::byte{0xff}, host::part_of({0, size}, p, parts));
    ASSERT_EQ(target, expected) << "seed " << seed;
  }
}

TEST(RegionBytes, EveryShortRunLengthIsCopied) {
  for (Index run = 1; run <= 40; ++run) {
    std::vector<std::byte> source(1000);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7);
    std::vector<std::byte> target(1000);
    const Region from{source.data(), {1, 1, 10}, {0, 0, 50}, run};
    const Region to{target.data(), {1, 1, 10}, {0, 0, 60}, run};
    copy_part(to, from, {0, bytes(to)});
    const auto f = addresses(from);
    const auto t = addresses(to);
    for (std::size_t i = 0; i < f.size(); ++i) ASSERT_EQ(*t[i], *f[i]) << run;
  }
}

TEST(RegionBytes, NegativeStridesWalkBackwards) {
  std::vector<std::byte> source(12);
  for (std::size_t i = 0; i < 12; ++i) source[i] = static_cast<std::byte>(i);
  std::vector<std::byte> target(12);
  const Region from{source.data() + 8, {1, 1, 3}, {0, 0, -4}, 4};
  EXPECT_EQ(hull(from).begin, source.data());
  EXPECT_EQ(hull(from).end, source.data() + 12);
  copy_part({target.data(), {1, 1, 1}, {}, 12}, from, {0, 12});
  EXPECT_EQ(target[0], std::byte{8});
  EXPECT_EQ(target[11], std::byte{3});
}

TEST(RegionBytes, AnEmptyRegionHasNoBytes) {
  const Region none{nullptr, {0, 3, 3}, {9, 3, 1}, 1};
  EXPECT_EQ(bytes(none), 0);
  EXPECT_EQ(hull(none).begin, hull(none).end);
  EXPECT_FALSE(overlap(none, none));
  copy_part(none, none, {0, 0});
  fill_part(none, std::byte{1}, {0, 0});
}

TEST(RegionBytes, OverlapIsExact) {
  int overlapping = 0;
  std::vector<std::byte> memory(60'000);
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto [a_counts, a_run] = random_shape(random, 60);
    const auto [b_counts, b_run] = random_shape(random, 60);
    const Region a = random_region(random, memory.data() + random() % 400, a_counts, a_run);
    const Region b = random_region(random, memory.data() + random() % 400, b_counts, b_run);
    const auto x = addresses(a);
    const std::set<std::byte*> in_a(x.begin(), x.end());
    const auto y = addresses(b);
    const bool expected = std::any_of(y.begin(), y.end(), [&](std::byte* p) { return in_a.count(p) > 0; });
    ASSERT_EQ(overlap(a, b), expected) << "seed " << seed;
    overlapping += expected;
  }
  EXPECT_GT(overlapping, 100);
  EXPECT_LT(overlapping, 1900);
}

TEST(RegionBytes, NeighbouringColumnsDoNotOverlap) {
  std::vector<std::byte> memory(4 * 4096);
  const Region left{memory.data(), {1, 1, 4096}, {0, 0, 4}, 1};
  Region right = left;
  right.first += 1;
  EXPECT_FALSE(overlap(left, right));
  right.first += 3;
  EXPECT_TRUE(overlap(left, right));
}

TEST(RegionBytes, IdenticalLooksThroughTheWayARegionIsWritten) {
  std::vector<std::byte> memory(256);
  const Region one{memory.data(), {1, 1, 1}, {}, 64};
  const Region rows{memory.data(), {1, 4, 4}, {0, 16, 4}, 4};
  EXPECT_TRUE(identical(one, rows));
  const Region turned{memory.data(), {1, 4, 4}, {0, 4, 16}, 4};
  EXPECT_FALSE(identical(one, turned));  // the same bytes in another order
  Region moved = one;
  moved.first += 1;
  EXPECT_FALSE(identical(one, moved));
}

}  // namespace
}  // namespace nuna::device
