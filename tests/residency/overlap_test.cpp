#include "residency/overlap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "plan/planner.hpp"
#include "residency/lower.hpp"
#include "schedule/partition.hpp"

namespace nuna::residency {
namespace {

using base::ByteBox;
using plan::Instruction;
using plan::Kind;
using testing::ElementsAre;

constexpr Index kSide = 100;
const base::Shape kShape{{kSide, kSide}, 4};

plan::ArgumentUse reading(int buffer, AccessMap map) {
  return {buffer, kShape, std::move(map), true, false, false};
}
plan::ArgumentUse writing(int buffer, AccessMap map) {
  return {buffer, kShape, std::move(map), false, true, false};
}

/// Rows `rows` and columns `columns`.
ByteBox bytes(Interval rows, Interval columns) { return {{rows, columns, Interval{0, 1}, Interval{0, 4}}}; }
Box threads(Interval rows, Interval columns) { return {rows, columns}; }

access::Cut rows_cut(Index block = 1) {
  return {Box{{0, kSide}, {0, kSide}},
          Extents{block, block},
          {std::vector<Index>{0, 20, 60, 100}, {0, kSide}, {0, 1}},
          0,
          1};
}

constexpr Interval kAll{0, kSide};
const Box kPart = threads({20, 60}, kAll);

TEST(Overlap, TheInteriorNeedsNoHalo) {
  const plan::Uses uses{reading(0, halo(2)), writing(1, one_to_one())};
  const std::vector<Moving> halos{{0, bytes({18, 20}, kAll)}, {0, bytes({60, 62}, kAll)}};
  const Division d = divide(rows_cut(), kPart, uses, halos);
  ASSERT_TRUE(d.interior);
  EXPECT_EQ(*d.interior, threads({22, 58}, kAll));
  EXPECT_THAT(d.boundary, ElementsAre(threads({20, 22}, kAll), threads({58, 60}, kAll)));
}

TEST(Overlap, HalosOfAPlaneCutLeaveAFrame) {
  const plan::Uses uses{reading(0, halo(1)), writing(1, one_to_one())};
  const Box part = threads({20, 60}, {30, 70});
  const std::vector<Moving> halos{{0, bytes({19, 20}, {29, 71})},
                                  {0, bytes({60, 61}, {29, 71})},
                                  {0, bytes({20, 60}, {29, 30})},
                                  {0, bytes({20, 60}, {70, 71})}};
  const Division d = divide(rows_cut(), part, uses, halos);
  ASSERT_TRUE(d.interior);
  EXPECT_EQ(*d.interior, threads({21, 59}, {31, 69}));
  EXPECT_THAT(d.boundary, ElementsAre(threads({20, 21}, {30, 70}), threads({59, 60}, {30, 70}),
                                      threads({21, 59}, {30, 31}), threads({21, 59}, {69, 70})));
}

TEST(Overlap, BlocksStayWhole) {
  const plan::Uses uses{reading(0, halo(1)), writing(1, one_to_one())};
  const Division d = divide(rows_cut(8), kPart, uses, std::vector<Moving>{{0, bytes({19, 20}, kAll)}});
  ASSERT_TRUE(d.interior);
  EXPECT_EQ(*d.interior, threads({24, 60}, kAll)) << "blocks begin at multiples of 8";
}

TEST(Overlap, WhatOthersOnlyReadMayBeReadButNotWritten) {
  const std::vector<Moving> sent{{0, bytes({58, 60}, kAll), false}};
  const plan::Uses outside{reading(0, halo(2)), writing(1, one_to_one())};
  EXPECT_EQ(divide(rows_cut(), kPart, outside, sent).interior, kPart);
  const plan::Uses in_place{writing(0, one_to_one())};
  EXPECT_EQ(divide(rows_cut(), kPart, in_place, sent).interior, threads({20, 58}, kAll));
}

TEST(Overlap, OtherBuffersAndOtherElementsDoNotMatter) {
  const plan::Uses uses{reading(0, halo(2)), writing(1, one_to_one())};
  EXPECT_EQ(divide(rows_cut(), kPart, uses, std::vector<Moving>{{1, bytes({18, 20}, kAll)}}).interior, kPart);
  EXPECT_EQ(divide(rows_cut(), kPart, uses, std::vector<Moving>{{0, bytes({70, 80}, kAll)}}).interior, kPart);
}

TEST(Overlap, NothingRunsAheadWhenEveryThreadNeedsWhatArrives) {
  const plan::Uses uses{reading(0, whole()), writing(1, one_to_one())};
  const Division d = divide(rows_cut(), kPart, uses, std::vector<Moving>{{0, bytes({0, 1}, kAll)}});
  EXPECT_FALSE(d.interior);
  EXPECT_THAT(d.boundary, ElementsAre(kPart));
}

TEST(Overlap, AUsersFunctionIsDividedWhenItsPiecesAddUp) {
  const std::vector<Moving> halo_above{{0, bytes({19, 20}, kAll)}};
  const auto row_above = mapped([](const Part& part, std::vector<Box>& elements) {
    elements.push_back({{part.threads[0].begin - 1, part.threads[0].end}, kAll});
  });
  EXPECT_EQ(divide(rows_cut(), kPart, {reading(0, row_above)}, halo_above).interior, threads({21, 60}, kAll));

  const auto knows_parts = mapped([](const Part& part, std::vector<Box>& elements) {
    if (part.threads[0].size() == 40) elements.push_back({{19, 60}, kAll});
  });
  EXPECT_FALSE(divide(rows_cut(), kPart, {reading(0, knows_parts)}, halo_above).interior);

  const auto refuses = mapped([](const Part& part, std::vector<Box>& elements) {
    if (part.threads[0].begin != 20 || part.threads[0].end != 60) throw std::out_of_range("no such part");
    elements.push_back({{19, 60}, kAll});
  });
  EXPECT_FALSE(divide(rows_cut(), kPart, {reading(0, refuses)}, halo_above).interior);
}

// --- in the order of steps --------------------------------------------------------------------------------------------

std::vector<std::string> steps_of(const plan::PlacePlan& plan) {
  std::vector<std::string> all;
  for (const Instruction& s : plan.instructions) {
    all.push_back(std::string(to_string(s.kind)) + (s.kind == Kind::run ? " " + to_string(s.threads) : ""));
  }
  return all;
}

/// The steps of rank 1 of 3 in the second launch of a loop that swaps two buffers.
std::vector<std::string> second_step(Index fewest_ahead, bool whole_parts = false) {
  constexpr base::RankId kMiddle{1};
  plan::Planner planner({{3, 1}, schedule::cut, kMiddle});
  Lowering::Config config;
  config.place_of_slot = {base::kHostPlace};
  config.fewest_ahead = fewest_ahead;
  Lowering lowering(config);
  plan::States known{planner.fresh(kShape), planner.fresh(kShape)};
  States held{lowering.intern({}), lowering.intern({})};
  std::vector<std::string> steps;
  for (int step = 0; step < 2; ++step) {
    plan::LaunchShape launch;
    launch.domain = Domain({99, 100});
    launch.uses = {reading(step % 2, halo(1)), writing(1 - step % 2, one_to_one())};
    const plan::Planned& planned = planner.plan(launch, known, "launch");
    const Lowered& lowered = lowering.lower(planned, launch.uses, held, {.whole_parts = whole_parts});
    known = planned.next;
    held = lowered.next;
    steps = steps_of(*lowered.plan);
  }
  return steps;
}

TEST(Overlap, ARankComputesWhileItsHalosTravel) {
  EXPECT_THAT(second_step(1), ElementsAre("send", "send", "run [34, 65) x [0, 100)", "receive", "receive",
                                          "run [33, 34) x [0, 100)", "run [65, 66) x [0, 100)"));
}

TEST(Overlap, APartWithFewThreadsIsNotDivided) {
  EXPECT_THAT(second_step(3101),
              ElementsAre("send", "send", "receive", "receive", "run [33, 66) x [0, 100)"));
  EXPECT_THAT(second_step(0), ElementsAre("send", "send", "receive", "receive", "run [33, 66) x [0, 100)"));
}

TEST(Overlap, APartThatIsTakenAsAWholeIsNotDivided) {
  EXPECT_THAT(second_step(1, true),
              ElementsAre("send", "send", "receive", "receive", "run [33, 66) x [0, 100)"));
}

TEST(Overlap, WhatWasLoweredForThreadsIsNotTakenForAWholePart) {
  plan::Planner planner({{3, 1}, schedule::cut, base::RankId{1}});
  Lowering lowering({.place_of_slot = {base::kHostPlace}});
  const plan::States fresh{planner.fresh(kShape)};
  plan::LaunchShape launch;
  launch.domain = Domain({kSide, kSide});
  launch.uses = {writing(0, one_to_one())};
  const plan::Planned& planned = planner.plan(launch, fresh, "launch");
  const States held{lowering.intern({})};
  const Lowered* threads = &lowering.lower(planned, launch.uses, held, {});
  const std::array keys{static_cast<const ResidencyState*>(held.front().get())};
  EXPECT_EQ(lowering.find(planned, keys, {}), threads);
  EXPECT_EQ(lowering.find(planned, keys, {.whole_parts = true}), nullptr);
}

}  // namespace
}  // namespace nuna::residency
