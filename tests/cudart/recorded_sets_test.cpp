#include "recorded_sets.hpp"

#include <gmock/gmock.h>

namespace nuna::cudart {
namespace {

using testing::HasSubstr;
using Next = LaunchHistory::Next;

constexpr Index kFirst = 1 << 20;

/// A launch of 12 blocks along x and 6 along y, in 3 parts; two buffers of 1000 bytes.
class RecordedSetsTest : public testing::Test {
 protected:
  static constexpr Grid kGrid{12, 6, 1};
  static constexpr int kParts = 3;

  std::shared_ptr<RecordedSets> recorded(int axis = 1) const {
    return std::make_shared<RecordedSets>(chunks_, kGrid, axis, kParts);
  }
  static void touch(RecordedSets& sets, int part, bool writes, Index begin, Index end) {
    const Interval bytes{kFirst + begin, kFirst + end};
    sets.part(part).add(sets.part(part).chunk_of(bytes, 0), bytes, writes);
  }
  static void read(RecordedSets& sets, int part, Index begin, Index end) {
    touch(sets, part, false, begin, end);
  }
  static void write(RecordedSets& sets, int part, Index begin, Index end) {
    touch(sets, part, true, begin, end);
  }
  /// Each part reads everything and writes ten bytes of its own.
  std::shared_ptr<RecordedSets> shareable(int axis = 1) const {
    auto sets = recorded(axis);
    for (int part = 0; part < kParts; ++part) {
      read(*sets, part, 0, 100);
      write(*sets, part, 200 + 10 * part, 210 + 10 * part);
    }
    return sets;
  }

  std::shared_ptr<const Chunks> chunks_ = std::make_shared<const Chunks>(
      Chunks{{7, {kFirst, kFirst + 1000}}, {9, {kFirst + 2000, kFirst + 3000}}});
};

TEST_F(RecordedSetsTest, AChunkIsFoundByAllOfItsAddresses) {
  const PartSets sets(chunks_);
  EXPECT_EQ(sets.chunk_of({kFirst, kFirst + 4}, 0), 0u);
  EXPECT_EQ(sets.chunk_of({kFirst + 2996, kFirst + 3000}, 0), 1u);
  EXPECT_EQ(sets.chunk_of({kFirst + 998, kFirst + 1002}, 0), PartSets::kNowhere);
  EXPECT_EQ(sets.chunk_of({kFirst + 1500, kFirst + 1504}, 1), PartSets::kNowhere);
  EXPECT_EQ(sets.chunk_of({kFirst + 3000, kFirst + 3001}, 1), PartSets::kNowhere);
}

TEST_F(RecordedSetsTest, BlocksAreOfThePartThatHasAllOfThem) {
  const auto sets = recorded(0);
  EXPECT_EQ(sets->blocks(2), (Interval{8, 12}));
  EXPECT_EQ(sets->part_of({4, 6}), 1);
  EXPECT_EQ(sets->part_of({3, 5}), -1);
}

TEST_F(RecordedSetsTest, BlocksThatDoNotDivideGoToTheFirstParts) {
  const RecordedSets sets(chunks_, {32, 1, 1}, 0, kParts);
  EXPECT_EQ(sets.blocks(0), (Interval{0, 11}));
  EXPECT_EQ(sets.blocks(1), (Interval{11, 22}));
  EXPECT_EQ(sets.blocks(2), (Interval{22, 32}));
}

TEST_F(RecordedSetsTest, PartsThatWriteBytesOfTheirOwnDoNotConflict) {
  EXPECT_EQ(shareable()->conflict(), std::nullopt);
  EXPECT_EQ(shareable()->written_rows(), 3u);
}

TEST_F(RecordedSetsTest, APartMayReadWhatItWrites) {
  const auto sets = shareable();
  read(*sets, 1, 210, 220);
  EXPECT_EQ(sets->conflict(), std::nullopt);
}

TEST_F(RecordedSetsTest, TwoWritersOfAByteConflict) {
  const auto sets = shareable();
  write(*sets, 2, 219, 220);
  EXPECT_EQ(sets->conflict(), "blocks that differ in y write the same bytes");
}

TEST_F(RecordedSetsTest, AReaderOfWhatAnotherWritesConflicts) {
  const auto sets = shareable();
  read(*sets, 0, 229, 230);
  EXPECT_EQ(sets->conflict(), "blocks that differ in y read what others write");
}

TEST_F(RecordedSetsTest, SetsAreEqualIfEachPartTouchesTheSameOfTheSameBuffers) {
  EXPECT_TRUE(*shareable() == *shareable());
  const auto other = shareable();
  read(*other, 1, 100, 101);
  EXPECT_FALSE(*shareable() == *other);
}

TEST_F(RecordedSetsTest, ABufferThatCameToTheSameAddressesIsAnother) {
  const auto before = shareable();
  chunks_ = std::make_shared<const Chunks>(
      Chunks{{8, {kFirst, kFirst + 1000}}, {9, {kFirst + 2000, kFirst + 3000}}});
  EXPECT_FALSE(*before == *shareable());
}

TEST_F(RecordedSetsTest, LaunchesAreSharedOutWhenTwoInARowTouchedTheSame) {
  LaunchHistory history(kGrid, kParts);
  EXPECT_EQ(history.axis(), 1);
  history.add(shareable());
  EXPECT_EQ(history.next(), Next::record);
  history.add(shareable());
  EXPECT_EQ(history.next(), Next::share);
  EXPECT_TRUE(*history.sets() == *shareable());
}

TEST_F(RecordedSetsTest, WhatDiffersIsRecordedAgainAndAtLastGivenUp) {
  LaunchHistory history(kGrid, kParts);
  for (int i = 0; i < LaunchHistory::kMostRecordings; ++i) {
    EXPECT_EQ(history.next(), Next::record) << i;
    const auto sets = shareable();
    read(*sets, 0, 300 + i, 301 + i);
    history.add(sets);
  }
  EXPECT_EQ(history.next(), Next::run_whole);
  EXPECT_EQ(history.reason(), "touches other bytes at each launch");
}

TEST_F(RecordedSetsTest, AnAxisWhosePartsConflictGivesWayToTheNext) {
  LaunchHistory history(kGrid, kParts);
  const auto sets = shareable();
  write(*sets, 2, 210, 211);
  history.add(sets);
  EXPECT_EQ(history.next(), Next::record);
  EXPECT_EQ(history.axis(), 0);
  history.add(shareable(0));
  history.add(shareable(0));
  EXPECT_EQ(history.next(), Next::share);
}

TEST_F(RecordedSetsTest, WhenNoAxisIsLeftItRunsWhole) {
  LaunchHistory history({12, 1, 1}, kParts);
  const auto sets = shareable(0);
  write(*sets, 2, 210, 211);
  history.add(sets);
  EXPECT_EQ(history.next(), Next::run_whole);
  EXPECT_EQ(history.reason(), "blocks that differ in x write the same bytes");
}

TEST_F(RecordedSetsTest, AGridOfFewBlocksRunsWhole) {
  EXPECT_EQ(LaunchHistory({2, 2, 2}, kParts).next(), Next::run_whole);
}

TEST_F(RecordedSetsTest, WhatSetsCannotTellRunsWhole) {
  LaunchHistory history(kGrid, kParts);
  const auto sets = shareable();
  sets->part(1).refuse("atomic update (a.cu:3)");
  history.add(sets);
  EXPECT_EQ(history.next(), Next::run_whole);
  EXPECT_EQ(history.reason(), "atomic update (a.cu:3)");
}

TEST_F(RecordedSetsTest, ADeviationIsRecordedAnewAndTooManyEndIt) {
  LaunchHistory history(kGrid, kParts);
  for (int i = 0; i < LaunchHistory::kMostDeviations; ++i) {
    ASSERT_EQ(history.next(), Next::record) << i;
    history.add(shareable());
    history.add(shareable());
    ASSERT_EQ(history.next(), Next::share) << i;
    history.add_deviation();
  }
  EXPECT_EQ(history.next(), Next::run_whole);
  EXPECT_THAT(history.reason(), HasSubstr("too often"));
}

}  // namespace
}  // namespace nuna::cudart
