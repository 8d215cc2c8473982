// The pure parts of the library.

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "cpu_features.hpp"
#include "free_list.hpp"
#include "tiles.hpp"

namespace nuna::cudart {
namespace {

TEST(Tiles, CoverEachBlockOnce) {
  for (const Grid grid : {Grid{7, 5, 3}, Grid{1, 1, 1}, Grid{100, 1, 2}, Grid{2, 90, 4}, Grid{1, 2, 300}}) {
    for (const std::uint64_t each : {0, 1, 3, 8, 50, 100000}) {
      const Tiles tiles(grid, each);
      std::multiset<std::uint64_t> seen;
      for (std::uint64_t t = 0; t < tiles.count(); ++t) {
        std::uint32_t first[3];
        std::uint32_t last[3];
        tiles.tile(t, first, last);
        for (std::uint32_t z = first[2]; z < last[2]; ++z)
          for (std::uint32_t y = first[1]; y < last[1]; ++y)
            for (std::uint32_t x = first[0]; x < last[0]; ++x)
              seen.insert((std::uint64_t{z} * grid[1] + y) * grid[0] + x);
      }
      EXPECT_EQ(seen.size(), std::uint64_t{grid[0]} * grid[1] * grid[2]);
      EXPECT_EQ(std::set<std::uint64_t>(seen.begin(), seen.end()).size(), seen.size());
    }
  }
}

TEST(Tiles, OfTheLargestGridAreFew) {
  const Tiles tiles({2147483647u, 65535u, 65535u}, 1ull << 60);
  EXPECT_LT(tiles.count(), 64u);
}

TEST(FreeLists, GiveDisjointPiecesAndJoinThemAgain) {
  FreeList list;
  list.add(1 << 20, 1 << 16);
  list.add((1 << 20) + (1 << 16), 1 << 16);  // a neighbour, but another range
  std::mt19937 random(7);
  std::vector<std::uintptr_t> taken;
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0) {
      if (const std::uintptr_t piece = list.take(1 + random() % 5000)) taken.push_back(piece);
    } else if (!taken.empty()) {
      const std::size_t i = random() % taken.size();
      list.give(taken[i]);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::set<std::uintptr_t> ends;
    std::uintptr_t end = 0;
    for (const std::uintptr_t piece : std::set<std::uintptr_t>(taken.begin(), taken.end())) {
      ASSERT_GE(piece, end);
      end = piece + list.taken_bytes(piece);
    }
  }
  for (const std::uintptr_t piece : taken) list.give(piece);
  EXPECT_EQ(list.unused().size(), 2u);
  EXPECT_EQ(list.take((1 << 16) + 1), 0u);
  EXPECT_NE(list.take(1 << 16), 0u);
  EXPECT_EQ(list.unused().size(), 1u);
}

TEST(CpuFeatures, AreMissedByName) {
  const auto none = [](std::string_view) { return false; };
  const auto not_fma = [](std::string_view name) { return name != "fma"; };
  EXPECT_EQ(missing_feature("", none), "");
  EXPECT_EQ(missing_feature("+avx2,+fma", none), "avx2");
  EXPECT_EQ(missing_feature("+avx2,+fma,-sse4a", not_fma), "fma");
  EXPECT_EQ(missing_feature("-avx2", none), "");
}

}  // namespace
}  // namespace nuna::cudart
