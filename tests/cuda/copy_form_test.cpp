// Which strided copies a copy engine can make in one call.
#include "device/cuda/copy_form.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace nuna::device::cuda {
namespace {

Region region(Index first, std::array<Index, 3> counts, std::array<Index, 3> strides, Index run) {
  return {reinterpret_cast<std::byte*>(first), counts, strides, run};  // NOLINT(performance-no-int-to-ptr)
}
Region run(Index first, Index bytes) { return region(first, {1, 1, 1}, {0, 0, 0}, bytes); }

TEST(CopyForm, ARunIsARun) {
  const auto form = copy_form(*common_nest(run(64, 1000), run(4096, 1000)));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->width, 1000);
  EXPECT_EQ(form->height, 1);
  EXPECT_EQ(form->depth, 1);
}

TEST(CopyForm, RowsAgainstARunAreTwoDimensional) {
  const auto form = copy_form(*common_nest(region(0, {1, 1, 20}, {0, 0, 512}, 100), run(65536, 2000)));
  ASSERT_TRUE(form);
  EXPECT_EQ(*form, (CopyForm{100, 20, 1, 512, 100, 20, 20}));
}

TEST(CopyForm, PlanesOfWholeRowsAreThreeDimensional) {
  const auto planes = region(0, {1, 5, 20}, {0, 512 * 32, 512}, 100);
  const auto form = copy_form(*common_nest(planes, run(1 << 20, 10'000)));
  ASSERT_TRUE(form);
  EXPECT_EQ(*form, (CopyForm{100, 20, 5, 512, 100, 32, 20}));
}

TEST(CopyForm, WhatEnginesCannotSayIsLeftToAKernel) {
  const auto odd_planes = region(0, {1, 5, 20}, {0, 512 * 32 + 8, 512}, 100);
  EXPECT_FALSE(copy_form(*common_nest(odd_planes, run(1 << 20, 10'000))));
  const auto short_rows = region(0, {1, 1, 20}, {0, 0, 512}, 8);
  EXPECT_FALSE(copy_form(*common_nest(short_rows, run(1 << 20, 160))));
  const auto four_axes = region(0, {3, 5, 20}, {1 << 20, 512 * 32, 512}, 100);
  EXPECT_FALSE(copy_form(*common_nest(four_axes, run(1 << 24, 30'000))));
  const auto wide_pitch = region(0, {1, 1, 2}, {0, 0, Index{1} << 33}, 100);
  EXPECT_FALSE(copy_form(*common_nest(wide_pitch, run(1 << 20, 200))));
}

// Byte pairs of a form, counted as the engine does, are those of the regions.
TEST(CopyForm, MovesTheBytesOfTheRegions) {
  std::mt19937 random(7);
  int made = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto number = [&](Index most) {
      return 1 + static_cast<Index>(random() % static_cast<unsigned>(most));
    };
    const std::array<Index, 3> counts{1, number(3), number(4)};
    const Index width = 64 * number(2);
    const auto side = [&](Index first) {
      const Index pitch = width + 8 * (number(3) - 1);
      const Index slice = pitch * (counts[2] + number(2) - 1) + (random() % 4 == 0 ? 8 : 0);
      return region(first, counts, {0, slice, pitch}, width);
    };
    const Region to = side(1 << 20);
    const Region from = random() % 2 == 0 ? run(1 << 24, to.bytes()) : side(1 << 24);
    const auto form = copy_form(*common_nest(to, from));
    if (!form) continue;
    ++made;
    const auto address = [](const Region& r, Index n) {
      const Index row = n / r.run_bytes;
      return reinterpret_cast<Index>(r.first) + row / r.counts[2] % r.counts[1] * r.stride_bytes[1] +
             row % r.counts[2] * r.stride_bytes[2] + n % r.run_bytes;
    };
    std::set<std::pair<Index, Index>> wanted;
    for (Index n = 0; n < to.bytes(); n += 8)
      wanted.insert({address(to, n), from.counts[2] == 1 && from.counts[1] == 1
                                         ? reinterpret_cast<Index>(from.first) + n
                                         : address(from, n)});
    std::set<std::pair<Index, Index>> got;
    for (Index z = 0; z < form->depth; ++z) {
      for (Index y = 0; y < form->height; ++y) {
        for (Index x = 0; x < form->width; x += 8) {
          got.insert(
              {reinterpret_cast<Index>(to.first) + (z * form->to_rows + y) * form->to_pitch + x,
               reinterpret_cast<Index>(from.first) + (z * form->from_rows + y) * form->from_pitch + x});
        }
      }
    }
    ASSERT_EQ(got, wanted) << "round " << round;
  }
  EXPECT_GT(made, 500);
}

TEST(CopyUnit, DividesAddressesRunsAndStrides) {
  EXPECT_EQ(unit_of(run(64, 160), run(128, 160)), 16);
  EXPECT_EQ(unit_of(run(64, 160), run(132, 160)), 4);
  EXPECT_EQ(unit_of(run(65, 160), run(128, 160)), 1);
  EXPECT_EQ(unit_of(region(0, {1, 1, 4}, {0, 0, 24}, 16), run(0, 64)), 8);
  EXPECT_EQ(unit_of(region(0, {1, 1, 1}, {3, 5, 7}, 16), run(0, 16)), 16);  // strides of one do not matter
}

}  // namespace
}  // namespace nuna::device::cuda
