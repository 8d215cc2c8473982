// Planning for 8,192 ranks on one machine: the plan of any rank, without the others.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/planner.hpp"
#include "schedule/partition.hpp"

namespace nuna::plan {
namespace {

constexpr Index kHalo = 4;

// A 3-D array of doubles, 598 TB, in 32 x 16 x 16 parts.
struct Huge {
  Extents extents{55'000, 40'000, 34'000};
  base::Shape shape{extents, 8};
  access::Team team{8192, 1};

  LaunchShape step() const {
    LaunchShape launch;
    launch.domain = Domain(extents).parts(32, 16, 16);
    launch.block = {8, 8, 32};
    launch.uses = {{0, shape, halo(kHalo), true, false, false}, {1, shape, one_to_one(), false, true, false}};
    return launch;
  }
};

Planner planner_of(const Huge& huge, int rank) { return Planner({huge.team, schedule::cut, {rank}}); }

// The plan of one rank for the second of two steps that swap their buffers: what was written is read with a halo.
RankPlan second_step(const Huge& huge, int rank) {
  Planner planner = planner_of(huge, rank);
  const LaunchShape launch = huge.step();
  const auto fresh = planner.fresh(huge.shape);
  const Planned& first = planner.plan(launch, {fresh, fresh}, "launch 'first'");
  const States swapped{first.next[1], first.next[0]};
  return *planner.plan(launch, swapped, "launch 'second'").plan;
}

std::vector<const Message*> towards(const std::vector<Message>& messages, int peer) {
  std::vector<const Message*> found;
  for (const Message& m : messages) {
    if (m.peer.value == peer) found.push_back(&m);
  }
  return found;
}

TEST(PlanningForManyRanks, GivesA600TerabyteBufferToPartsOf73Gigabytes) {
  const Huge huge;
  EXPECT_GT(huge.shape.bytes(), Index{598} * 1000 * 1000 * 1000 * 1000 - 1);
  const RankPlan plan = second_step(huge, 4000);
  ASSERT_EQ(plan.runs.size(), 1U);
  EXPECT_NEAR(static_cast<double>(plan.runs[0].threads.count()) * 8 / 1e9, 73.0, 3.0);
}

TEST(PlanningForManyRanks, AnInnerPartTalksToItsTwentySixNeighboursOnly) {
  const Huge huge;
  const int inner = (10 * 16 + 7) * 16 + 7;
  const RankPlan plan = second_step(huge, inner);
  EXPECT_EQ(plan.receives.size(), 26U);
  EXPECT_EQ(plan.sends.size(), 26U);
  const RankPlan corner = second_step(huge, 0);
  EXPECT_EQ(corner.receives.size(), 7U);
  EXPECT_EQ(corner.sends.size(), 7U);
}

TEST(PlanningForManyRanks, ReceivesTheHaloAndNothingElse) {
  const Huge huge;
  const int inner = (10 * 16 + 7) * 16 + 7;
  const RankPlan plan = second_step(huge, inner);
  const Box part = plan.runs[0].threads;
  Index bytes = 0;
  for (const Message& m : plan.receives) bytes += m.bytes();
  const auto grown = [&](int axis) { return part[axis].size() + 2 * kHalo; };
  EXPECT_EQ(bytes, 8 * (grown(0) * grown(1) * grown(2) - part.count()));
}

TEST(PlanningForManyRanks, AnyRanksReceivesEqualTheSendersLists) {
  const Huge huge;
  std::mt19937 random(20261128);
  int pairs = 0;
  while (pairs < 500) {
    const int receiver = std::uniform_int_distribution<int>(0, huge.team.ranks - 1)(random);
    const RankPlan plan = second_step(huge, receiver);
    for (const Message& wanted : plan.receives) {
      if (pairs >= 500 || std::uniform_int_distribution<int>(0, 3)(random) != 0) continue;
      const RankPlan peer = second_step(huge, wanted.peer.value);
      const auto sent = towards(peer.sends, receiver);
      ASSERT_EQ(sent.size(), 1U) << "rank " << wanted.peer.value << " to rank " << receiver;
      EXPECT_EQ(sent[0]->items, wanted.items) << "rank " << wanted.peer.value << " to rank " << receiver;
      ++pairs;
    }
    // and nobody else sends to it
    const int stranger = (receiver + huge.team.ranks / 2) % huge.team.ranks;
    EXPECT_EQ(towards(second_step(huge, stranger).sends, receiver).size(),
              towards(plan.receives, stranger).size());
  }
}

TEST(PlanningForManyRanks, ARepeatedStepComesFromTheCacheAndTheStatesRecur) {
  const Huge huge;
  Planner planner = planner_of(huge, 4000);
  const LaunchShape launch = huge.step();
  const auto fresh = planner.fresh(huge.shape);
  States states{fresh, fresh};
  for (int step = 0; step < 20; ++step) {
    const Planned planned = planner.plan(launch, states, "launch 'step'");
    states = {planned.next[1], planned.next[0]};
  }
  EXPECT_LE(planner.counts().misses, 4);
  EXPECT_GE(planner.counts().hits, 16);
  EXPECT_EQ(planner.counts().flattened, 0);
  EXPECT_LE(states[0]->highest_stack(), 1U);
}

TEST(PlanningForManyRanks, IsTheSameWithoutTheFastPath) {
  const base::Shape shape{{64, 48, 40}, 4};
  LaunchShape launch;
  launch.domain = Domain({64, 48, 40}).parts(4, 4, 4);
  launch.block = {1, 1, 1};
  launch.uses = {{0, shape, halo(2), true, false, false}, {1, shape, one_to_one(), false, true, false}};
  for (int rank = 0; rank < 64; rank += 7) {
    std::vector<std::vector<Message>> receives;
    std::vector<std::vector<Message>> sends;
    for (const bool fast : {true, false}) {
      Planner planner({{64, 1}, schedule::cut, {rank}, fast});
      const auto fresh = planner.fresh(shape);
      const Planned first = planner.plan(launch, {fresh, fresh}, "launch 'first'");
      const Planned& second = planner.plan(launch, {first.next[1], first.next[0]}, "launch 'second'");
      receives.push_back(second.plan->receives);
      sends.push_back(second.plan->sends);
    }
    EXPECT_EQ(receives[0], receives[1]) << "rank " << rank;
    EXPECT_EQ(sends[0], sends[1]) << "rank " << rank;
  }
}

}  // namespace
}  // namespace nuna::plan
