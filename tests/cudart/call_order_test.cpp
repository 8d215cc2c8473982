#include "call_order.hpp"

#include <gmock/gmock.h>

namespace nuna::cudart {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RoundList list_of(std::vector<WaitingCall> calls) { return {false, std::move(calls)}; }

constexpr WaitingCall kA{10, 1};
constexpr WaitingCall kB{20, 2};
constexpr WaitingCall kC{30, 3};
constexpr WaitingCall kEnd{kEndPlace, 0};

TEST(CallOrder, CallsThatWaitEverywhereComeInTheFirstRanksOrder) {
  const Round round = round_of({list_of({kB, kA, kC}), list_of({kA, kB, kC}), list_of({kC, kA, kB})});
  EXPECT_THAT(round.admitted, ElementsAre(20, 10, 30));
  EXPECT_FALSE(round.parting);
}

TEST(CallOrder, ACallThatWaitsOnSomeRanksOnlyIsHeldBack) {
  const Round round = round_of({list_of({kA, kB}), list_of({kB})});
  EXPECT_THAT(round.admitted, ElementsAre(20));
  EXPECT_FALSE(round.parting);
}

TEST(CallOrder, NothingGoesOnWhereRanksWaitForOtherThreads) {
  const Round round = round_of({list_of({kA}), list_of({kB})});
  EXPECT_THAT(round.admitted, IsEmpty());
  EXPECT_FALSE(round.parting);
}

TEST(CallOrder, AThreadThatCallsSomethingElsePartsTheRanks) {
  const Round round = round_of({list_of({kA, kB}), list_of({kB, {10, 7}})});
  EXPECT_THAT(round.admitted, ElementsAre(20));
  EXPECT_EQ(round.parting, (Parting{0, 10, 1, 10}));
}

TEST(CallOrder, ACallPartsFromARankWhoseProgramEnds) {
  EXPECT_EQ(round_of({list_of({kEnd}), list_of({kA})}).parting, (Parting{1, 10, 0, kEndPlace}));
  EXPECT_EQ(round_of({list_of({kA}), list_of({kA}), list_of({kEnd})}).parting,
            (Parting{0, 10, 2, kEndPlace}));
}

TEST(CallOrder, AProgramThatEndsWaitsForCallsThatStillComeEverywhere) {
  const Round round = round_of({list_of({kEnd, kA}), list_of({kA})});
  EXPECT_THAT(round.admitted, ElementsAre(10));
  EXPECT_FALSE(round.parting);
}

TEST(CallOrder, TheEndIsTheLastOfAllAndForgivesACallThatNobodyWaitsFor) {
  const Round round = round_of({list_of({kEnd, kA, kB}), list_of({kB, kEnd})});
  EXPECT_THAT(round.admitted, ElementsAre(20, kEndPlace));
  EXPECT_FALSE(round.parting);
}

TEST(CallOrder, RanksThatWaitForOtherThreadsForLongArePartedByTheFirst) {
  EXPECT_FALSE(round_of({list_of({kA}), {true, {kB}}}).parting);
  EXPECT_EQ(round_of({{true, {kA}}, list_of({kB})}).parting, (Parting{0, 10, 1, 20}));
  EXPECT_EQ(round_of({{true, {kA}}, list_of({kA}), list_of({kC})}).parting, (Parting{0, 10, 2, 30}));
}

TEST(CallOrder, ListsTravelAsBytes) {
  const RoundList list{true, {kA, kB}};
  const auto back = unpacked(packed(list));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->impatient);
  EXPECT_EQ(back->calls, list.calls);
  EXPECT_FALSE(unpacked(std::vector<std::byte>(16)));
  EXPECT_FALSE(unpacked(std::vector<std::byte>(7)));
}

}  // namespace
}  // namespace nuna::cudart
