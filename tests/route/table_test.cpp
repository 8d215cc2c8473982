#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "base/check.hpp"
#include "route/machines.hpp"
#include "route/route.hpp"

namespace nuna::route {
namespace {

using topology::Machine;

Step best(const Machine& machine, const Ends& ends, Index bytes, bool contiguous) {
  const Way way = ways(machine, {}, ends, {bytes, contiguous, contiguous}).front();
  return {bytes, way.kind, way.chunk_bytes, way.blocks};
}

bool alike(const Step& a, const Step& b) {
  return a.kind == b.kind && a.chunk_bytes == b.chunk_bytes && a.blocks == b.blocks;
}

TEST(RouteTable, BeginsAtZeroAndAscends) {
  const Table table = table_of(host_devices(), {}, {memory(0, 0), memory(1, 0)}, true);
  ASSERT_FALSE(table.steps().empty());
  EXPECT_EQ(table.steps().front().from_bytes, 0);
  for (std::size_t i = 1; i < table.steps().size(); ++i) {
    EXPECT_LT(table.steps()[i - 1].from_bytes, table.steps()[i].from_bytes);
    EXPECT_FALSE(alike(table.steps()[i - 1], table.steps()[i]));
  }
}

TEST(RouteTable, SwitchesAtTheVeryByteAtWhichAnotherWayIsQuicker) {
  const Ends ends{memory(0, 0), memory(1, 0)};
  const Table table = table_of(host_devices(), {}, ends, true);
  ASSERT_EQ(table.steps().size(), 2U);  // one latency in place, or two and a quicker copy
  const Index from = table.steps()[1].from_bytes;
  EXPECT_EQ(best(host_devices(), ends, from - 1, true).kind, Kind::in_place);
  EXPECT_EQ(best(host_devices(), ends, from, true).kind, Kind::mapped);
}

TEST(RouteTable, AgreesWithTheWaysAtEverySize) {
  for (const bool contiguous : {true, false}) {
    for (const Ends& ends : {Ends{memory(0, 1), memory(0, 3)}, Ends{memory(0, 1), memory(1, 1)},
                             Ends{memory(0, 1), memory(0, 2)}}) {
      const Table table = table_of(hpe(), {}, ends, contiguous);
      for (int e = 0; e <= 40; ++e)
        EXPECT_TRUE(alike(table.at(Index{1} << e), best(hpe(), ends, Index{1} << e, contiguous))) << e;
      for (const Step& step : table.steps()) {
        EXPECT_TRUE(alike(step, best(hpe(), ends, step.from_bytes, contiguous)));
        if (step.from_bytes == 0) continue;
        EXPECT_FALSE(alike(step, best(hpe(), ends, step.from_bytes - 1, contiguous)));
      }
    }
  }
}

TEST(RouteTable, GoesOnBeyondTheLargestSizeItLookedAt) {
  const Table table = table_of(hpe(), {}, {memory(0, 1), memory(0, 2)}, true);
  EXPECT_EQ(table.at(Index{1} << 50).kind, Kind::direct);
}

TEST(RouteTable, GrowsItsChunksWithTheSize) {
  const Table table = table_of(hpe(), {}, {memory(0, 1), memory(0, 3)}, true);
  Index before = 0;
  for (const Step& step : table.steps()) {
    EXPECT_EQ(step.kind, Kind::staged);
    before = std::max(before, step.chunk_bytes);
  }
  EXPECT_EQ(before, Limits().most_chunk_bytes);
  EXPECT_EQ(table.at(Index{1} << 40).chunk_bytes, before);
}

TEST(RouteTable, IsEmptyWithoutAWay) {
  const Table table = table_of(hpe(), {}, {memory(0, 1), memory(0, 9)}, true);
  EXPECT_TRUE(table.steps().empty());
  const base::ThrowOnPanic throwing;
  EXPECT_THROW(table.at(0), base::BrokenInvariant);
}

TEST(RouteTable, RefusesNegativeSizes) {
  const Table table = table_of(hpe(), {}, {memory(0, 1), memory(0, 2)}, true);
  const base::ThrowOnPanic throwing;
  EXPECT_THROW(table.at(-1), base::BrokenInvariant);
}

}  // namespace
}  // namespace nuna::route
