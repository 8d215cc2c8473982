#include <gmock/gmock.h>

#include <vector>

#include "nuna_cudart/image.h"

namespace {

using testing::ElementsAre;

constexpr std::uint32_t kAll = 0xffffffffu;

/// A warp of four lanes; regions 0 to 3, of which 2 and 3 are behind meetings of one kind, 1 of another.
class LanesOfAWarp : public testing::Test {
 protected:
  /// Has a lane wait for those of `mask` before `region`.
  void wait(std::uint32_t lane, std::uint32_t region, std::uint32_t mask) {
    counters_[lane] = region;
    masks_[lane] = mask;
  }
  void end(std::uint32_t lane) { counters_[lane] = NUNA_ENDED; }
  void wait_for_block(std::uint32_t lane) { counters_[lane] = 1 | NUNA_WAITS; }

  /// The region, the lanes that run it, and whom they have met.
  std::vector<std::uint32_t> pick() {
    run_ = 0;
    std::uint32_t met = 0;
    const auto region = __nuna_pick_lanes(counters_, masks_, kKinds, 4, &run_, &met);
    return {region, run_, met};
  }
  /// Those that were picked come to their ends.
  void run_to_end() {
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      if ((run_ >> lane & 1u) != 0) end(lane);
    }
  }

 private:
  static constexpr std::uint8_t kKinds[] = {0, 4, 8, 8};
  std::uint32_t counters_[4] = {};
  std::uint32_t masks_[4] = {};
  std::uint32_t run_ = 0;
};

TEST_F(LanesOfAWarp, StartTogether) { EXPECT_THAT(pick(), ElementsAre(0, 0b1111, 0b1111)); }

TEST_F(LanesOfAWarp, MeetInDifferentArmsOfABranch) {
  for (const std::uint32_t lane : {0u, 2u}) wait(lane, 2, kAll);
  for (const std::uint32_t lane : {1u, 3u}) wait(lane, 3, kAll);
  EXPECT_THAT(pick(), ElementsAre(2, 0b0101, 0b1111));
  run_to_end();
  EXPECT_THAT(pick(), ElementsAre(3, 0b1010, 0b1111));  // who has met does not wait again
  run_to_end();
  EXPECT_EQ(NUNA_NO_REGION, pick()[0]);
}

TEST_F(LanesOfAWarp, WaitForLanesThatAreOnTheirWay) {
  for (const std::uint32_t lane : {0u, 1u, 2u}) wait(lane, 2, kAll);
  wait(3, 3, 0b1000);
  EXPECT_THAT(pick(), ElementsAre(3, 0b1000, 0b1000));
  run_to_end();
  EXPECT_THAT(pick(), ElementsAre(2, 0b0111, 0b0111));
}

TEST_F(LanesOfAWarp, MeetThoseOfTheirMaskOnly) {
  for (const std::uint32_t lane : {0u, 1u}) wait(lane, 2, 0b0011);
  wait(2, 2, 0b1100);
  wait(3, 3, 0b1100);
  EXPECT_THAT(pick(), ElementsAre(2, 0b0111, 0b1111));
  run_to_end();
  EXPECT_THAT(pick(), ElementsAre(3, 0b1000, 0b1100));
}

TEST_F(LanesOfAWarp, DoNotGoOnWithOthersWhileSomeOfTheirsAreElsewhere) {
  for (const std::uint32_t lane : {0u, 1u}) wait(lane, 2, 0b0011);
  wait(2, 2, 0b1100);
  wait(3, 1, 0b1000);
  EXPECT_THAT(pick(), ElementsAre(1, 0b1000, 0b1000));
  wait_for_block(3);
  EXPECT_THAT(pick(), ElementsAre(2, 0b0011, 0b0011));
}

TEST_F(LanesOfAWarp, OfMeetingsOfOtherKindsGoOnAlone) {
  for (const std::uint32_t lane : {0u, 1u}) wait(lane, 1, kAll);
  for (const std::uint32_t lane : {2u, 3u}) wait(lane, 2, kAll);
  EXPECT_THAT(pick(), ElementsAre(1, 0b0011, 0b0011));
}

TEST_F(LanesOfAWarp, GoOnWithoutThoseThatWaitForTheBlock) {
  for (const std::uint32_t lane : {0u, 1u}) wait(lane, 2, kAll);
  for (const std::uint32_t lane : {2u, 3u}) wait_for_block(lane);
  EXPECT_THAT(pick(), ElementsAre(2, 0b0011, 0b0011));
  run_to_end();
  EXPECT_EQ(NUNA_NO_REGION, pick()[0]);
}

}  // namespace
