// Which grid of blocks runs a box of threads.
#include "device/cuda/launch_shape.hpp"

#include <gtest/gtest.h>

#include <array>

namespace nuna::device::cuda {
namespace {

detail::BlockGrid grid_of(std::array<Index, 3> size, std::array<Index, 3> origin = {0, 0, 0}) {
  return {origin, size};
}
using Three = std::array<unsigned, 3>;

TEST(LaunchShape, TheLaunchsOwnBlockIsTakenWhereItFits) {
  const LaunchShape shape = shape_of_threads(Box{{0, 100}, {0, 1000}}, grid_of({8, 32, 1}));
  EXPECT_EQ(shape.block, (Three{32, 8, 1}));
  EXPECT_EQ(shape.grid, (Three{32, 13, 1}));
}

TEST(LaunchShape, OtherBlocksAreReplacedByUsualOnes) {
  const LaunchShape tall = shape_of_threads(Box{{0, 320}, {0, 320}, {0, 320}}, grid_of({1, 16, 328}));
  EXPECT_EQ(tall.block, (Three{64, 4, 1}));
  EXPECT_EQ(tall.grid, (Three{5, 80, 320}));
  const LaunchShape line = shape_of_threads(Box{{10, 100'000}}, grid_of({1, 1, 1}));
  EXPECT_EQ(line.block, (Three{256, 1, 1}));
  const LaunchShape thin = shape_of_threads(Box{{0, 5000}, {0, 3}}, grid_of({1, 1, 1}));
  EXPECT_EQ(thin.block, (Three{4, 64, 1}));
}

TEST(LaunchShape, AGridThatIsTooLargeIsStrided) {
  const LaunchShape shape = shape_of_threads(Box{{0, 1 << 20}, {0, 1 << 20}, {0, 64}}, grid_of({1, 1, 64}));
  EXPECT_EQ(shape.grid, (Three{1, 65'535, 65'535}));
}

TEST(LaunchShape, OneThreadIsOneBlock) {
  const LaunchShape shape = shape_of_threads(Box{{7, 8}}, grid_of({1, 1, 1}));
  EXPECT_EQ(shape, (LaunchShape{{1, 1, 1}, {1, 1, 1}}));
}

TEST(LaunchShape, BlocksThatMeetTheBoxAreCounted) {
  const LaunchShape whole = shape_of_blocks(Box{{0, 64}, {0, 33}}, grid_of({16, 16, 1}));
  EXPECT_EQ(whole.block, (Three{16, 16, 1}));
  EXPECT_EQ(whole.grid, (Three{4 * 3, 1, 1}));
  // a part that begins inside a block of the frame
  const LaunchShape part = shape_of_blocks(Box{{20, 36}}, grid_of({16, 1, 1}, {4, 0, 0}));
  EXPECT_EQ(part.grid[0], 1U);
  const LaunchShape two = shape_of_blocks(Box{{19, 36}}, grid_of({16, 1, 1}, {4, 0, 0}));
  EXPECT_EQ(two.grid[0], 2U);
}

}  // namespace
}  // namespace nuna::device::cuda
