#include "plan/planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nuna/error.hpp"
#include "schedule/partition.hpp"

namespace nuna::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const base::Shape kSquare{{64, 64}, 4};

Planner planner(int ranks, int devices, int rank = 0) {
  return Planner({{ranks, devices}, schedule::cut, {rank}});
}

LaunchShape launch_of(Uses uses, Domain domain = {64, 64}) {
  LaunchShape launch;
  launch.domain = std::move(domain);
  launch.block = {1, 1};
  launch.uses = std::move(uses);
  return launch;
}

ArgumentUse reading(int buffer, AccessMap map) {
  return {buffer, kSquare, std::move(map), true, false, false};
}
ArgumentUse writing(int buffer, AccessMap map) {
  return {buffer, kSquare, std::move(map), false, true, false};
}

ErrorCode refused(Planner& p, const LaunchShape& launch, const States& states, std::string* text = nullptr) {
  try {
    p.plan(launch, states, "launch 'test' at here.cpp:1");
  } catch (const Error& e) {
    if (text != nullptr) *text = e.what();
    return e.code();
  }
  ADD_FAILURE() << "the launch was not refused";
  return ErrorCode::unsupported;
}

TEST(Planner, RefusesPartitionsThatWriteTheSameElementsAndNamesThem) {
  Planner p = planner(2, 1);
  std::string text;
  EXPECT_EQ(refused(p, launch_of({writing(0, halo(1))}), {p.fresh(kSquare)}, &text),
            ErrorCode::overlapping_writes);
  EXPECT_THAT(text, HasSubstr("launch 'test' at here.cpp:1"));
  EXPECT_THAT(text, HasSubstr("buffer argument 0 (write)"));
  EXPECT_THAT(text, HasSubstr("elements [31, 33) x [0, 64)"));
  EXPECT_THAT(text, HasSubstr("part 0 (rank 0"));
  EXPECT_THAT(text, HasSubstr("part 1 (rank 1"));
}

TEST(Planner, RefusesTwoWritingArgumentsThatShareElementsOfOneBuffer) {
  Planner p = planner(1, 2);
  const auto shifted = one_to_one().shifted({-1, 0});
  const LaunchShape launch =
      launch_of({writing(0, one_to_one()), writing(0, shifted)}, Domain(Box{{1, 64}, {0, 64}}));
  EXPECT_EQ(refused(p, launch, {p.fresh(kSquare)}), ErrorCode::overlapping_writes);
}

TEST(Planner, AllowsEveryPartToReadWhatAnotherOneWrites) {
  Planner p = planner(2, 2);
  const auto fresh = p.fresh(kSquare);
  EXPECT_NO_THROW(
      p.plan(launch_of({reading(0, halo(3)), writing(0, one_to_one())}), {fresh}, "launch 'in place'"));
}

TEST(Planner, RefusesAccessOutsideTheBuffer) {
  Planner p = planner(1, 1);
  std::string text;
  const LaunchShape launch = launch_of({writing(0, one_to_one())}, Domain({65, 64}));
  EXPECT_EQ(refused(p, launch, {p.fresh(kSquare)}, &text), ErrorCode::out_of_bounds);
  EXPECT_THAT(text, HasSubstr("[0, 65) along axis 0"));
}

TEST(Planner, RefusesMorePartsThanBlocksWhenAskedForThem) {
  Planner p = planner(1, 4);
  LaunchShape launch = launch_of({writing(0, one_to_one())}, Domain({64, 64}).parts(4));
  launch.block = {32, 64};
  EXPECT_EQ(refused(p, launch, {p.fresh(kSquare)}), ErrorCode::too_few_blocks);
}

TEST(Planner, LeavesDevicesIdleWhenNobodyAskedForParts) {
  Planner p = planner(1, 4);
  LaunchShape launch = launch_of({writing(0, one_to_one())});
  launch.block = {32, 64};
  EXPECT_EQ(p.plan(launch, {p.fresh(kSquare)}, "launch").plan->runs.size(), 2U);
}

TEST(Planner, ARefusedLaunchChangesNothing) {
  Planner p = planner(2, 1);
  const auto fresh = p.fresh(kSquare);
  refused(p, launch_of({writing(0, whole())}), {fresh});
  const Planned& after = p.plan(launch_of({writing(0, one_to_one())}), {fresh}, "launch");
  EXPECT_TRUE(after.plan->receives.empty());
  EXPECT_TRUE(after.plan->sends.empty());
}

TEST(Planner, FetchesMayWritesFirstButCallsNothingUndefined) {
  Planner p = planner(2, 1);
  const auto fresh = p.fresh(kSquare);
  const States written = p.plan(launch_of({writing(0, one_to_one())}), {fresh}, "launch 'first'").next;
  const ArgumentUse may{0, kSquare, permuted(1, 0), false, true, true};
  const Planned& planned = p.plan(launch_of({may}), written, "launch 'may'");
  ASSERT_EQ(planned.plan->receives.size(), 1U);
  EXPECT_EQ(planned.plan->receives[0].bytes(), 32 * 32 * 4);
  const Planned& untouched = p.plan(launch_of({may}), {fresh}, "launch 'may'");
  EXPECT_TRUE(untouched.plan->receives.empty());
  EXPECT_FALSE(untouched.plan->effects[0].undefined_read);
}

TEST(Planner, TellsThatBytesWereNeverWritten) {
  Planner p = planner(1, 1);
  const Planned& planned = p.plan(launch_of({reading(0, one_to_one())}), {p.fresh(kSquare)}, "launch");
  EXPECT_TRUE(planned.plan->effects[0].undefined_read);
}

TEST(Planner, AWholeReadIsFetchedOnceAndThenHeldByEveryRank) {
  Planner p = planner(8, 1, 3);
  States states = p.plan(launch_of({writing(0, one_to_one())}), {p.fresh(kSquare)}, "launch 'write'").next;
  const LaunchShape read_all = launch_of({reading(0, whole())});
  const Planned first = p.plan(read_all, states, "launch 'read'");
  EXPECT_EQ(first.plan->receives.size(), 7U);
  EXPECT_EQ(first.plan->sends.size(), 7U);
  const Planned& second = p.plan(read_all, first.next, "launch 'read again'");
  EXPECT_TRUE(second.plan->receives.empty());
  EXPECT_TRUE(second.plan->sends.empty());
}

TEST(Planner, ATransposedReadIsOneMessageFromEachOtherRank) {
  Planner p = planner(4, 1, 1);
  const States states =
      p.plan(launch_of({writing(0, one_to_one())}), {p.fresh(kSquare)}, "launch 'write'").next;
  const Planned& planned = p.plan(launch_of({reading(0, permuted(1, 0))}), states, "launch 'transpose'");
  EXPECT_EQ(planned.plan->receives.size(), 3U);
  for (const Message& m : planned.plan->receives) EXPECT_EQ(m.bytes(), 16 * 16 * 4);
}

// What rank 0 of 2 sends in the fifth step of a loop that swaps two squares and leaves their frames as `frame` wrote them.
std::vector<base::ByteBox> sent_in_a_loop(const Domain& frame, Index in_place_bytes) {
  Planner::Config config{{2, 1}, schedule::cut, {0}};
  config.in_place_bytes = in_place_bytes;
  Planner p(std::move(config));
  States held{p.fresh(kSquare), p.fresh(kSquare)};
  held = p.plan(launch_of({writing(0, one_to_one()), writing(1, one_to_one())}, frame), held, "launch").next;
  const Domain interior = Domain(Box{{2, 62}, {2, 62}}).within({64, 64});
  std::vector<base::ByteBox> sent;
  for (int step = 0; step < 5; ++step) {
    const LaunchShape launch =
        launch_of({reading(step % 2, halo(2, 0)), writing(1 - step % 2, one_to_one())}, interior);
    const Planned& planned = p.plan(launch, held, "launch");
    held = planned.next;
    sent.clear();
    for (const Message& m : planned.plan->sends) {
      for (const Message::Item& item : m.items) sent.push_back(item.box);
    }
  }
  return sent;
}

TEST(Planner, LargeMessagesBecomeOneRunWhenTheSenderHoldsWhatLiesBetween) {
  const base::ByteBox read{{Interval{30, 32}, Interval{2, 62}, Interval{0, 1}, Interval{0, 4}}};
  base::ByteBox rows = read;
  rows[1] = {0, 64};
  EXPECT_THAT(sent_in_a_loop({64, 64}, 512), ElementsAre(rows));
  EXPECT_THAT(sent_in_a_loop({64, 64}, 513), ElementsAre(read)) << "not large";
  EXPECT_THAT(sent_in_a_loop(Domain({64, 64}).along(1), 512), ElementsAre(read))
      << "the other rank wrote one end of the rows";
}

LaunchShape on_device(int device, Uses uses) {
  LaunchShape launch = launch_of(std::move(uses));
  launch.run_on(device);
  return launch;
}
ArgumentUse on(int device, ArgumentUse use) {
  use.device = device;
  return use;
}

TEST(Planner, ALaunchOnOneDeviceIsOnePartOfTheRankThatHasIt) {
  const LaunchShape launch = on_device(5, {writing(0, one_to_one())});
  for (const int rank : {0, 1, 2}) {
    Planner p = planner(3, 2, rank);
    const Planned& planned = p.plan(launch, {p.fresh(kSquare)}, "launch");
    if (rank != 2) {
      EXPECT_TRUE(planned.plan->runs.empty()) << rank;
      continue;
    }
    ASSERT_EQ(planned.plan->runs.size(), 1U);
    EXPECT_EQ(planned.plan->runs[0].slot, 1);
    EXPECT_EQ(planned.plan->runs[0].threads, (Box{{0, 64}, {0, 64}}));
  }
}

TEST(Planner, WhatOneDeviceReadsComesFromTheOtherRanks) {
  Planner p = planner(2, 2, 0);
  const States written = p.plan(launch_of({writing(0, one_to_one())}), {p.fresh(kSquare)}, "launch").next;
  const Planned there = p.plan(on_device(3, {reading(0, whole())}), written, "launch");
  ASSERT_EQ(there.plan->sends.size(), 1U);
  EXPECT_EQ(there.plan->sends[0].peer, base::RankId{1});
  EXPECT_EQ(there.plan->sends[0].bytes(), 32 * 64 * 4);
  EXPECT_TRUE(there.plan->receives.empty());
  const Planned back = p.plan(on_device(0, {reading(0, whole())}), written, "launch");
  EXPECT_EQ(back.plan->receives.size(), 1U);
}

TEST(Planner, DevicesAreKnownByCachesAndSignatures) {
  Planner p = planner(1, 3);
  const States fresh{p.fresh(kSquare)};
  const Planned all = p.plan(launch_of({writing(0, one_to_one())}), fresh, "launch");
  const Planned first = p.plan(on_device(1, {writing(0, one_to_one())}), fresh, "launch");
  const Planned second = p.plan(on_device(2, {writing(0, one_to_one())}), fresh, "launch");
  const Planned placed = p.plan(on_device(2, {on(0, writing(0, one_to_one()))}), fresh, "launch");
  EXPECT_EQ(first.plan->runs[0].slot, 1);
  EXPECT_EQ(second.plan->runs[0].slot, 2);
  EXPECT_EQ(std::set({all.id, first.id, second.id, placed.id}).size(), 4U);
  EXPECT_EQ(std::set({all.signature, first.signature, second.signature, placed.signature}).size(), 4U);
}

TEST(Planner, RefusesDevicesThatAreNotThere) {
  Planner p = planner(2, 2);
  std::string text;
  EXPECT_EQ(refused(p, on_device(4, {writing(0, one_to_one())}), {p.fresh(kSquare)}, &text),
            ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("here.cpp:1 is on device 4, but the Context has 4 devices, 0 to 3"));
  EXPECT_EQ(refused(p, launch_of({on(-1, writing(0, one_to_one()))}), {p.fresh(kSquare)}, &text),
            ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("buffer argument 0 (write) is on device -1, but the Context has 4 devices"));
}

TEST(Planner, RefusesPartsOnOneDevice) {
  Planner p = planner(1, 2);
  LaunchShape launch = on_device(1, {writing(0, one_to_one())});
  launch.domain = Domain({64, 64}).parts(2);
  std::string text;
  EXPECT_EQ(refused(p, launch, {p.fresh(kSquare)}, &text), ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("is on one device, but its domain asks for several parts"));
  launch.domain = Domain({64, 64}).parts(1);
  EXPECT_NO_THROW(p.plan(launch, {p.fresh(kSquare)}, "launch"));
}

TEST(Planner, RefusesAPlacedArgumentOfABufferThatAnotherArgumentWrites) {
  Planner p = planner(1, 2);
  std::string text;
  const LaunchShape launch = launch_of({on(0, reading(0, one_to_one())), writing(0, one_to_one())});
  EXPECT_EQ(refused(p, launch, {p.fresh(kSquare)}, &text), ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("buffer argument 0 (read) and buffer argument 1 (write) are the same buffer"));
  EXPECT_NO_THROW(p.plan(launch_of({on(0, reading(0, halo(1))), reading(0, one_to_one())}),
                         {p.fresh(kSquare)}, "launch"));
}

TEST(Planner, EmptyLaunchesHaveEqualSignaturesOnAllRanksAndOthersDiffer) {
  Planner a = planner(2, 1, 0);
  Planner b = planner(2, 1, 1);
  EXPECT_EQ(a.plan(launch_of({}), {}, "launch").signature, b.plan(launch_of({}), {}, "launch").signature);
  EXPECT_NE(a.plan(launch_of({}), {}, "launch").signature,
            b.plan(launch_of({}, {64, 63}), {}, "launch").signature);
}

TEST(Planner, OfOneRankItCountsOnlyWhichBytesWereWritten) {
  Planner p = planner(1, 2);
  const auto written =
      p.plan(launch_of({writing(0, one_to_one())}), {p.fresh(kSquare)}, "launch 'write'").next.front();
  for (Index moved = 0; moved < 20; ++moved) {
    const Domain rows(Box{{0, 32}, {0, 64}});
    const auto shifted = one_to_one().shifted({moved, 0});
    EXPECT_EQ(p.plan(launch_of({writing(0, shifted)}, rows), {written}, "launch 'again'").next.front(),
              written);
    EXPECT_EQ(p.plan(launch_of({reading(0, shifted)}, rows), {written}, "launch 'read'").next.front(),
              written);
  }
  EXPECT_EQ(p.counts().flattened, 0);
}

TEST(Planner, StatesThatDifferInWhoReadsHashApart) {
  Planner p = planner(2, 1);
  const auto written =
      p.plan(launch_of({writing(0, one_to_one())}), {p.fresh(kSquare)}, "launch 'write'").next.front();
  std::set<std::size_t> hashes;
  for (Index moved = 0; moved < 20; ++moved) {
    const LaunchShape launch =
        launch_of({reading(0, one_to_one().shifted({moved, 0}))}, Box{{0, 32}, {0, 64}});
    hashes.insert(absl::HashOf(*p.plan(launch, {written}, "launch 'read'").next.front()));
  }
  EXPECT_EQ(hashes.size(), 20u);
}

}  // namespace
}  // namespace nuna::plan
