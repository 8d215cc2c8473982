#include "trace/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "nuna/error.hpp"

namespace nuna::trace {
namespace {

using ::testing::HasSubstr;

EventSet two_tracks() {
  TrackEvents device{.rank = {3}, .kind = TrackKind::device, .name = "host:1"};
  device.texts = {"", "heat", "[0, 4)"};
  device.events = {{.begin_ns = 10, .end_ns = 20, .amount = -1, .sequence = 7, .name = 1, .box = 2},
                   {.begin_ns = 15, .end_ns = 15, .name = 1, .kind = EventKind::instant}};
  device.dropped = 5;
  TrackEvents wire{.rank = {0}, .kind = TrackKind::wire, .name = "to rank 1"};
  wire.texts = {"", "halo"};
  wire.events = {
      {.begin_ns = 1, .end_ns = 2, .amount = 64, .flow = 99, .name = 1, .category = Category::send}};
  return {.start_unix_ns = 1000, .start_steady_ns = 100, .tracks = {device, wire}};
}

void expect_damaged(std::span<const std::byte> bytes) {
  try {
    deserialise(bytes);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input_output);
    EXPECT_THAT(error.what(), HasSubstr("run the same build"));
  }
}

TEST(Events, SurviveTheJourneyAsBytes) {
  const EventSet set = two_tracks();
  EXPECT_EQ(deserialise(serialise(set)), set);
  EXPECT_EQ(deserialise(serialise(EventSet{})), EventSet{});
}

TEST(Events, AreTheSameBytesForTheSameSet) { EXPECT_EQ(serialise(two_tracks()), serialise(two_tracks())); }

TEST(Events, ThatWereCutOffAreRefusedAtEveryLength) {
  const std::vector<std::byte> bytes = serialise(two_tracks());
  for (std::size_t size = 0; size < bytes.size(); ++size) expect_damaged(std::span(bytes).first(size));
}

TEST(Events, FollowedBySomethingAreRefused) {
  std::vector<std::byte> bytes = serialise(two_tracks());
  bytes.push_back(std::byte{0});
  expect_damaged(bytes);
}

TEST(Events, OfAnotherKindOfFileAreRefused) {
  std::vector<std::byte> bytes = serialise(two_tracks());
  bytes[0] ^= std::byte{1};
  expect_damaged(bytes);
}

TEST(Events, WithNamesOrTimesOutOfRangeAreRefused) {
  EventSet set = two_tracks();
  set.tracks[0].events[0].name = 3;
  expect_damaged(serialise(set));
  set = two_tracks();
  set.tracks[0].events[0].box = 3;
  expect_damaged(serialise(set));
  set = two_tracks();
  set.tracks[0].events[0].end_ns = 9;
  expect_damaged(serialise(set));
  set = two_tracks();
  set.tracks[0].events[0].end_ns = std::numeric_limits<std::int64_t>::max();
  expect_damaged(serialise(set));
  set = two_tracks();
  set.start_unix_ns = -1;
  expect_damaged(serialise(set));
  set = two_tracks();
  set.start_steady_ns = -1;
  expect_damaged(serialise(set));
}

TEST(Events, DamagedAnywhereAreRefusedOrHarmless) {
  const std::vector<std::byte> bytes = serialise(two_tracks());
  std::mt19937 random(1);
  for (int seed = 0; seed < 5000; ++seed) {
    std::vector<std::byte> damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    try {
      const EventSet set = merge({deserialise(damaged), two_tracks()});
      for (const TrackEvents& track : set.tracks) {
        for (const Event& event : track.events) ASSERT_LT(event.name, track.texts.size());
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::input_output);
    }
  }
}

TEST(Merge, OfNothingIsNothing) { EXPECT_EQ(merge({}), EventSet{}); }

TEST(Merge, MovesLaterStartsToTheEarliestClock) {
  EventSet early = two_tracks(), late = two_tracks();
  late.start_unix_ns += 500;
  const EventSet all = merge({late, early});
  EXPECT_EQ(all.start_unix_ns, early.start_unix_ns);
  ASSERT_EQ(all.tracks.size(), 4U);
  EXPECT_EQ(all.tracks[0].events[0].begin_ns, 510);
  EXPECT_EQ(all.tracks[0].events[0].end_ns, 520);
  EXPECT_EQ(all.tracks[2], early.tracks[0]);
}

TEST(Merge, OfAlignedSetsTrustsTheSteadyClocksAndNotTheCalendar) {
  const EventSet reference = two_tracks();
  EventSet other = two_tracks();
  other.start_unix_ns += 1'000'000;  // a wrong calendar
  other.start_steady_ns += 7'000'300;
  align(other, reference, 7'000'000);
  const EventSet all = merge({reference, other});
  EXPECT_EQ(all.start_unix_ns, reference.start_unix_ns);
  EXPECT_EQ(all.tracks[0].events[0].begin_ns, 10);
  EXPECT_EQ(all.tracks[2].events[0].begin_ns, 310);
}

TEST(FlowIds, AgreeOnBothEndsAndDifferBetweenMessages) {
  EXPECT_EQ(flow_id(1, {0}, {1}, 7, 2), flow_id(1, {0}, {1}, 7, 2));
  std::set<std::uint64_t> ids{kNoFlow};
  for (std::uint64_t context = 0; context < 3; ++context) {
    for (std::int32_t from = 0; from < 4; ++from) {
      for (std::int32_t to = 0; to < 4; ++to) {
        for (std::uint64_t sequence = 0; sequence < 8; ++sequence) {
          for (std::uint32_t message = 0; message < 8; ++message) {
            EXPECT_TRUE(ids.insert(flow_id(context, {from}, {to}, sequence, message)).second);
          }
        }
      }
    }
  }
}

TEST(EventNames, AreDistinctWords) {
  std::set<std::string> names;
  for (int i = 0; i < kCategories; ++i) names.insert(to_string(static_cast<Category>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCategories));
  names.clear();
  for (int i = 0; i < kTrackKinds; ++i) names.insert(to_string(static_cast<TrackKind>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kTrackKinds));
  EXPECT_EQ(names.count("unknown"), 0U);
}

}  // namespace
}  // namespace nuna::trace
