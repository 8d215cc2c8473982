#include "address/arena.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::address {
namespace {

constexpr Index kMiB = Index{1} << 20;

template <class Call>
ErrorCode code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::unsupported;
}

TEST(Arena, HandsOutGranulesFromTheStart) {
  Arena arena(kMiB);
  EXPECT_EQ(arena.allocate(1), 0);
  EXPECT_EQ(arena.allocate(4097), 4096);
  EXPECT_EQ(arena.allocate(10), 4096 + 8192);
  EXPECT_EQ(arena.blocks(), 3U);
  EXPECT_EQ(arena.free_bytes(), kMiB - 4 * 4096);
}

TEST(Arena, KeepsInsideItsRange) {
  Arena arena(Interval{10000, 20000});
  EXPECT_EQ(arena.free_bytes(), 4096);  // one whole page lies inside
  EXPECT_EQ(arena.allocate(4096), 12288);
  EXPECT_EQ(code_of([&] { arena.allocate(1); }), ErrorCode::out_of_memory);
}

TEST(Arena, HonoursAlignment) {
  Arena arena(64 * kMiB);
  arena.allocate(1);
  EXPECT_EQ(arena.allocate(100, kMiB), kMiB);
  EXPECT_EQ(arena.allocate(4 * kMiB, 2 * kMiB) % (2 * kMiB), 0);
}

TEST(Arena, GivesABlockOfNoBytesAnOffsetOfItsOwn) {
  Arena arena(kMiB);
  const Index a = arena.allocate(0);
  EXPECT_NE(a, arena.allocate(0));
  EXPECT_EQ(arena.find(a), std::nullopt);
  arena.free(a);
  EXPECT_EQ(arena.blocks(), 1U);
}

TEST(Arena, FindsTheBlockAroundAnOffset) {
  Arena arena(kMiB);
  arena.allocate(4096);
  const Index b = arena.allocate(5000);
  EXPECT_EQ(arena.find(b), (Interval{b, b + 5000}));
  EXPECT_EQ(arena.find(b + 4999), (Interval{b, b + 5000}));
  EXPECT_EQ(arena.find(b + 5000), std::nullopt);  // the rest of the last page
  EXPECT_EQ(arena.find(-1), std::nullopt);
  EXPECT_EQ(arena.find(kMiB), std::nullopt);
}

TEST(Arena, TakesTheSmallestHoleThatFits) {
  Arena arena(kMiB);
  const Index large = arena.allocate(5 * 4096);
  arena.allocate(1);
  const Index small = arena.allocate(2 * 4096);
  arena.allocate(1);
  arena.free(large);
  arena.free(small);
  EXPECT_EQ(arena.allocate(2 * 4096), small);
  EXPECT_EQ(arena.allocate(3 * 4096), large);
}

TEST(Arena, MeltsFreedNeighboursTogether) {
  Arena arena(3 * 4096);
  const Index a = arena.allocate(4096);
  const Index b = arena.allocate(4096);
  const Index c = arena.allocate(4096);
  arena.free(a);
  arena.free(c);
  EXPECT_EQ(arena.largest_hole_bytes(), 4096);
  arena.free(b);
  EXPECT_EQ(arena.largest_hole_bytes(), 3 * 4096);
  EXPECT_EQ(arena.allocate(3 * 4096), 0);
}

TEST(Arena, TellsADoubleReleaseFromAWrongOffset) {
  Arena arena(kMiB);
  const Index a = arena.allocate(3 * 4096);
  EXPECT_EQ(code_of([&] { arena.free(a + 4096); }), ErrorCode::not_nuna_pointer);
  EXPECT_EQ(code_of([&] { arena.free(a + 5 * 4096); }), ErrorCode::not_nuna_pointer);
  arena.free(a);
  EXPECT_EQ(code_of([&] { arena.free(a); }), ErrorCode::already_released);
  EXPECT_EQ(code_of([&] { arena.free(a + 4096); }), ErrorCode::not_nuna_pointer);
}

TEST(Arena, ReleasedSpaceThatIsUsedAgainIsABlockLikeAnyOther) {
  Arena arena(kMiB);
  const Index a = arena.allocate(4096);
  const Index b = arena.allocate(4096);
  arena.free(a);
  arena.free(b);
  EXPECT_EQ(arena.allocate(8192), a);
  EXPECT_EQ(code_of([&] { arena.free(b); }), ErrorCode::not_nuna_pointer);
  arena.free(a);
}

TEST(Arena, RefusesWithSizesAndStaysUsable) {
  Arena arena(kMiB);
  arena.allocate(kMiB / 2);
  try {
    arena.allocate(kMiB);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("1 MiB"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("512 KiB"));
  }
  EXPECT_EQ(code_of([&] { arena.allocate(INT64_MAX); }), ErrorCode::out_of_memory);
  EXPECT_EQ(arena.allocate(kMiB / 2), kMiB / 2);
  EXPECT_EQ(arena.free_bytes(), 0);
}

TEST(Arena, RefusesSizesAndAlignmentsWithoutMeaning) {
  const base::ThrowOnPanic throwing;
  Arena arena(kMiB);
  EXPECT_THROW(arena.allocate(-1), base::BrokenInvariant);
  EXPECT_THROW(arena.allocate(1, 3), base::BrokenInvariant);
  EXPECT_THROW(arena.allocate(1, 0), base::BrokenInvariant);
  EXPECT_THROW(Arena(kMiB, 100), base::BrokenInvariant);
}

TEST(Arena, LargeBlocksBeginAtDifferentColours) {
  Arena arena(Index{1} << 40);
  std::set<Index> colours;
  for (Index i = 0; i < kColours; ++i) {
    colours.insert(arena.allocate(128 * kMiB) % kColourPeriodBytes / kPageBytes);
  }
  EXPECT_EQ(colours.size(), static_cast<std::size_t>(kColours));
}

TEST(Arena, AColourGivesWayToWantOfSpace) {
  Arena arena(2 * kMiB);
  arena.allocate(kMiB);
  EXPECT_EQ(arena.allocate(kMiB), kMiB);
  EXPECT_EQ(arena.free_bytes(), 0);
}

TEST(Arena, AColourGivesWayToAlignment) {
  Arena arena(Index{1} << 30);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(arena.allocate(4 * kMiB, 2 * kMiB) % (2 * kMiB), 0);
}

TEST(Arena, SmallGranulesServeOtherUses) {
  Arena arena(1024, 64);
  EXPECT_EQ(arena.allocate(1), 0);
  EXPECT_EQ(arena.allocate(65), 64);
  EXPECT_EQ(arena.allocate(1), 192);
}

class RandomArena : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomArena, BlocksNeverOverlapAndNothingIsLost) {
  std::mt19937_64 random(GetParam());
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  const Index size = 32 * kMiB;
  Arena arena(size);
  std::map<Index, Index> model;  // begin -> bytes asked for
  for (int step = 0; step < 3000; ++step) {
    if (below(2) == 0 || model.empty()) {
      const Index bytes = below(10) == 0 ? below(4 * kMiB) : 1 + below(100000);
      const Index alignment = Index{1} << below(18);
      try {
        const Index begin = arena.allocate(bytes, alignment);
        ASSERT_EQ(begin % alignment, 0);
        ASSERT_EQ(begin % kPageBytes, 0);
        ASSERT_GE(begin, 0);
        ASSERT_LE(begin + bytes, size);
        const auto next = model.lower_bound(begin);
        ASSERT_TRUE(next == model.end() || begin + bytes <= next->first);
        ASSERT_TRUE(next == model.begin() || std::prev(next)->first + std::prev(next)->second <= begin);
        model[begin] = bytes;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::out_of_memory);
        ASSERT_LT(arena.largest_hole_bytes(), bytes + std::max(alignment, kPageBytes) + kPageBytes);
      }
    } else {
      const auto chosen = std::next(model.begin(), below(static_cast<Index>(model.size())));
      if (chosen->second > 0) {
        const Index inside = chosen->first + below(chosen->second);
        ASSERT_EQ(arena.find(inside), (Interval{chosen->first, chosen->first + chosen->second}));
      }
      arena.free(chosen->first);
      model.erase(chosen);
    }
    ASSERT_EQ(arena.blocks(), model.size());
  }
  for (const auto& [begin, bytes] : model) arena.free(begin);
  EXPECT_EQ(arena.free_bytes(), size);
  EXPECT_EQ(arena.largest_hole_bytes(), size);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomArena, ::testing::Range(0U, 10U));

}  // namespace
}  // namespace nuna::address
