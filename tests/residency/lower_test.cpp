// Arguments that lie on a device: used in place where the device that runs can reach it, copied otherwise.

#include "residency/lower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/plan_print.hpp"
#include "schedule/partition.hpp"

namespace nuna::residency {
namespace {

using base::PlaceId;
using plan::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const base::Shape kLine{{60}, 4};
constexpr PlaceId kFirst{1};
constexpr PlaceId kSecond{2};

enum class Reach { own, all };

/// Rank 0 of some ranks of two devices, with two buffers.
class TwoDevices {
 public:
  explicit TwoDevices(Reach reach, int ranks = 1)
      : planner_({{ranks, 2}, schedule::cut, {0}}), lowering_(config(reach)) {
    for (int b = 0; b < 2; ++b) {
      known_.push_back(planner_.fresh(kLine));
      held_.push_back(lowering_.intern({}));
    }
  }

  /// Performs a launch on one device, or on all (-1).
  plan::PlacePlan launch(int device, plan::Uses uses) {
    plan::LaunchShape shape;
    shape.domain = Domain({60});
    if (device >= 0) shape.run_on(device);
    shape.uses = std::move(uses);
    const plan::Planned& planned = planner_.plan(shape, known_, "launch");
    const Lowered& lowered = lowering_.lower(planned, shape.uses, held_, {});
    known_ = planned.next;
    held_ = lowered.next;
    return *lowered.plan;
  }
  std::vector<Holding> held(std::size_t buffer) const {
    return {held_[buffer]->holdings().begin(), held_[buffer]->holdings().end()};
  }

 private:
  static Lowering::Config config(Reach reach) {
    Lowering::Config c;
    c.place_of_slot = {kFirst, kSecond};
    c.fewest_ahead = 1;
    const PlaceSet both = PlaceSet::only(kFirst).with(kSecond);
    if (reach == Reach::all) c.reached_by_slot = {both, both};
    if (reach == Reach::own) c.reached_by_slot = {PlaceSet::only(kFirst), PlaceSet::only(kSecond)};
    return c;
  }

  plan::Planner planner_;
  Lowering lowering_;
  plan::States known_;
  States held_;
};

plan::ArgumentUse reading(int buffer, std::optional<int> device = std::nullopt,
                          AccessMap map = one_to_one()) {
  return {buffer, kLine, std::move(map), true, false, false, device};
}
plan::ArgumentUse writing(int buffer, std::optional<int> device = std::nullopt) {
  return {buffer, kLine, one_to_one(), false, true, false, device};
}

std::vector<Kind> kinds(const plan::PlacePlan& plan) {
  std::vector<Kind> all;
  for (const auto& step : plan.instructions) all.push_back(step.kind);
  return all;
}

TEST(Lower, AnArgumentOnAReachedDeviceIsUsedInPlace) {
  TwoDevices rank(Reach::all);
  rank.launch(1, {writing(0), writing(1)});
  const plan::PlacePlan plan = rank.launch(0, {reading(0, 1), writing(1)});
  ASSERT_THAT(kinds(plan), ElementsAre(Kind::run));
  const plan::Instruction& run = plan.instructions[0];
  EXPECT_EQ(run.slot, 0);
  EXPECT_EQ(run.reads[0].place, kSecond);
  EXPECT_EQ(run.writes[0].place, kFirst);
  EXPECT_EQ(rank.held(0)[0].places, PlaceSet::only(kSecond));
  EXPECT_THAT(plan::to_text(plan, {0}),
              HasSubstr("run on device 0: threads [0, 60), argument 0 in place 2\n"));
}

TEST(Lower, AnArgumentOnADeviceThatIsNotReachedIsCopied) {
  TwoDevices rank(Reach::own);
  rank.launch(1, {writing(0), writing(1)});
  const plan::PlacePlan plan = rank.launch(0, {reading(0, 1), writing(1)});
  ASSERT_THAT(kinds(plan), ElementsAre(Kind::copy, Kind::run));
  EXPECT_EQ(plan.instructions[1].reads[0].place, kFirst);
  EXPECT_THAT(plan::to_text(plan, {0}), HasSubstr("from place 2 to place 1"));
  EXPECT_THAT(kinds(rank.launch(0, {reading(0, 1), writing(1)})), ElementsAre(Kind::run)) << "it stays there";
}

TEST(Lower, ADeviceOfAnotherRankIsNotReached) {
  TwoDevices rank(Reach::all, 2);
  rank.launch(1, {writing(0), writing(1)});
  const plan::PlacePlan plan = rank.launch(0, {reading(0, 3), writing(1)});
  EXPECT_THAT(kinds(plan), ElementsAre(Kind::copy, Kind::run));
}

TEST(Lower, BytesThatAreNotThereYetAreCopiedToTheDeviceThatIsNamed) {
  TwoDevices rank(Reach::all);
  rank.launch(-1, {writing(0), writing(1)});
  const plan::PlacePlan plan = rank.launch(0, {reading(0, 1, whole()), writing(1)});
  ASSERT_THAT(kinds(plan), ElementsAre(Kind::copy, Kind::run));
  EXPECT_EQ(plan.instructions[0].reads[0].place, kFirst);
  EXPECT_EQ(plan.instructions[0].writes[0].place, kSecond);
  EXPECT_EQ(plan.instructions[0].writes[0].box.bytes(), 30 * 4);
}

TEST(Lower, WhatIsWrittenOnADeviceIsHeldThere) {
  TwoDevices rank(Reach::all);
  const plan::PlacePlan plan = rank.launch(-1, {writing(0, 0), writing(1)});
  EXPECT_THAT(kinds(plan), ElementsAre(Kind::run, Kind::run));
  ASSERT_EQ(rank.held(0).size(), 1U);
  EXPECT_EQ(rank.held(0)[0].places, PlaceSet::only(kFirst));
  EXPECT_EQ(rank.held(1).size(), 2U);
}

TEST(Lower, ThreadsThatReadWhatArrivesElsewhereDoNotRunAhead) {
  TwoDevices rank(Reach::all);
  rank.launch(-1, {writing(0), writing(1)});
  // The second half of what device 0 reads on device 1 lies there, the first half arrives.
  const plan::PlacePlan plan = rank.launch(0, {reading(0, 1, halo(1)), writing(1)});
  ASSERT_THAT(kinds(plan), ElementsAre(Kind::run, Kind::copy, Kind::run));
  EXPECT_EQ(plan.instructions[0].threads, (Box{{31, 60}}));
  EXPECT_EQ(plan.instructions[2].threads, (Box{{0, 31}}));
}

}  // namespace
}  // namespace nuna::residency
