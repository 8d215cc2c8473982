#include "trace/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/check.hpp"

namespace nuna::trace {
namespace {

using ::testing::ElementsAre;

TEST(Recorder, KeepsASpanWithEverythingItWasTold) {
  Recorder recorder;
  const TrackId track = recorder.track({2}, TrackKind::device, "host:1");
  recorder.span(track, "heat", Category::fill, 100, 250,
                {.bytes = 4096, .sequence = 7, .box = "[0, 4) x [2, 8)", .flow = 11});
  const EventSet set = recorder.collect();
  ASSERT_EQ(set.tracks.size(), 1U);
  const TrackEvents& events = set.tracks[0];
  EXPECT_EQ(events.rank.value, 2);
  EXPECT_EQ(events.kind, TrackKind::device);
  EXPECT_EQ(events.name, "host:1");
  EXPECT_THAT(events.texts, ElementsAre("", "heat", "[0, 4) x [2, 8)"));
  EXPECT_THAT(events.events, ElementsAre(Event{.begin_ns = 100,
                                               .end_ns = 250,
                                               .amount = 4096,
                                               .sequence = 7,
                                               .flow = 11,
                                               .name = 1,
                                               .box = 2,
                                               .kind = EventKind::span,
                                               .category = Category::fill}));
}

TEST(Recorder, KeepsInstantsAndCounters) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::planner, "planner");
  recorder.instant(track, "eviction", 5, {.bytes = 3});
  recorder.counter(track, "bytes held", 6, -2);
  const EventSet set = recorder.collect();
  const std::vector<Event>& events = set.tracks.at(0).events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, EventKind::instant);
  EXPECT_EQ(events[0].begin_ns, 5);
  EXPECT_EQ(events[0].end_ns, 5);
  EXPECT_EQ(events[0].amount, 3);
  EXPECT_EQ(events[1].kind, EventKind::counter);
  EXPECT_EQ(events[1].amount, -2);
}

TEST(Recorder, StoresEveryTextOnce) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "host:0");
  std::string name = "heat";
  for (int i = 0; i < 10; ++i) recorder.span(track, name, Category::launch, i, i + 1, {.box = "heat"});
  name = "cool";  // the same memory with another text
  recorder.span(track, name, Category::launch, 20, 21);
  EXPECT_THAT(recorder.collect().tracks.at(0).texts, ElementsAre("", "heat", "cool"));
  EXPECT_EQ(recorder.collect().tracks.at(0).events.back().name, 2U);
}

TEST(Recorder, TakesAnEndBeforeTheBeginForTheBegin) {
  Recorder recorder;
  recorder.span(recorder.track({0}, TrackKind::device, "d"), "s", Category::copy, 9, 3);
  EXPECT_EQ(recorder.collect().tracks.at(0).events.at(0).end_ns, 9);
}

TEST(Recorder, LeavesOutTracksWithoutEvents) {
  Recorder recorder;
  recorder.track({0}, TrackKind::device, "idle");
  EXPECT_TRUE(recorder.collect().tracks.empty());
}

TEST(Recorder, GivesEveryCallerATrackOfItsOwn) {
  Recorder recorder;
  EXPECT_NE(recorder.track({0}, TrackKind::device, "d"), recorder.track({0}, TrackKind::device, "d"));
}

TEST(Recorder, RefusesATrackThatNobodyMade) {
  const base::ThrowOnPanic scope;
  Recorder recorder;
  EXPECT_THROW(recorder.span(TrackId(), "s", Category::copy, 0, 1), base::BrokenInvariant);
  EXPECT_THROW(Span(&recorder, TrackId(), "s", Category::copy), base::BrokenInvariant);
}

TEST(Recorder, ClockStartsWithItAndNeverGoesBack) {
  const auto before = std::chrono::steady_clock::now();
  const Recorder recorder;
  EXPECT_LE(recorder.since_start_ns(before), 0);
  const std::int64_t first = recorder.now_ns();
  EXPECT_GE(first, 0);
  EXPECT_GE(recorder.now_ns(), first);
}

TEST(Recorder, KeepsEventsInOrderAcrossManyChunks) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  constexpr std::int64_t kCount = 5000;
  for (std::int64_t i = 0; i < kCount; ++i) recorder.span(track, "s", Category::copy, i, i + 1);
  const EventSet set = recorder.collect();
  ASSERT_EQ(set.tracks.at(0).events.size(), static_cast<std::size_t>(kCount));
  for (std::int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(set.tracks[0].events[static_cast<std::size_t>(i)].begin_ns, i);
  }
}

TEST(RecorderLimit, DropsAndCountsWhatDoesNotFit) {
  constexpr std::int64_t kLimit = 1 << 20;
  Recorder recorder(kLimit);
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  constexpr std::uint64_t kCount = 100'000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    recorder.span(track, "s", Category::copy, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1);
  }
  const EventSet set = recorder.collect();
  const std::uint64_t kept = set.tracks.at(0).events.size();
  EXPECT_EQ(kept + recorder.dropped(), kCount);
  EXPECT_EQ(set.tracks[0].dropped, recorder.dropped());
  EXPECT_LE(kept * sizeof(Event), static_cast<std::uint64_t>(kLimit));
  EXPECT_GE(kept * sizeof(Event), static_cast<std::uint64_t>(kLimit) * 9 / 10);
  EXPECT_EQ(set.tracks[0].events.back().begin_ns, static_cast<std::int64_t>(kept) - 1) << "the start is kept";
}

TEST(RecorderLimit, HoldsForMillionsOfSpansByDefault) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  constexpr std::uint64_t kCount = 5'000'000;
  for (std::uint64_t i = 0; i < kCount; ++i) recorder.span(track, "s", Category::copy, 0, 1);
  EXPECT_GT(recorder.dropped(), 0U);
  EXPECT_GE(kCount - recorder.dropped(), 4'700'000U) << "the number that the header promises";
  EXPECT_EQ(sizeof(Event), 56U) << "the size that the header promises";
}

TEST(RecorderLimit, CountsTextsToo) {
  Recorder recorder(1 << 20);
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  const std::string padding(1000, 'x');
  for (int i = 0; i < 5000; ++i) recorder.span(track, padding + std::to_string(i), Category::copy, i, i);
  const EventSet set = recorder.collect();
  EXPECT_LT(set.tracks.at(0).texts.size(), 1100U);
  EXPECT_GT(recorder.dropped(), 3900U);
}

TEST(RecorderLimit, OfNothingRecordsNothing) {
  Recorder recorder(0);
  recorder.span(recorder.track({0}, TrackKind::device, "d"), "s", Category::copy, 0, 1);
  EXPECT_EQ(recorder.dropped(), 1U);
  const EventSet set = recorder.collect();
  ASSERT_EQ(set.tracks.size(), 1U) << "a track that lost everything still says so";
  EXPECT_TRUE(set.tracks[0].events.empty());
}

TEST(SpanScope, RecordsFromConstructionToDestruction) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::program, "program");
  const std::int64_t before = recorder.now_ns();
  {
    std::string name = "fetch";
    Span span(&recorder, track, name, Category::wait, {.sequence = 3, .box = std::string("[0, 1)")});
    name.clear();  // texts need to live only during the call
    span.set_bytes(12);
  }
  const TrackEvents events = recorder.collect().tracks.at(0);
  ASSERT_EQ(events.events.size(), 1U);
  const Event& event = events.events[0];
  EXPECT_EQ(events.texts.at(event.name), "fetch");
  EXPECT_EQ(events.texts.at(event.box), "[0, 1)");
  EXPECT_EQ(event.amount, 12);
  EXPECT_EQ(event.sequence, 3U);
  EXPECT_LE(before, event.begin_ns);
  EXPECT_LE(event.begin_ns, event.end_ns);
  EXPECT_LE(event.end_ns, recorder.now_ns());
}

TEST(SpanScope, EndsOnceWhenEndedEarly) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::program, "program");
  {
    Span span(&recorder, track, "s", Category::wait);
    span.end();
    span.end();
    EXPECT_EQ(recorder.collect().tracks.at(0).events.size(), 1U);
  }
  EXPECT_EQ(recorder.collect().tracks.at(0).events.size(), 1U);
}

TEST(SpanScope, DoesNothingWithoutARecorder) {
  Span span(nullptr, TrackId(), "s", Category::wait);
  span.set_bytes(1);
  span.end();
}

TEST(RecorderThreads, WriteTheirTracksWhileOthersCollect) {
  Recorder recorder;
  constexpr int kThreads = 4, kSpans = 3000;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&recorder, &running, t] {
      const TrackId track = recorder.track({t}, TrackKind::device, "host:" + std::to_string(t));
      for (int i = 0; i < kSpans; ++i) {
        recorder.span(track, "kernel " + std::to_string(i % 50), Category::launch, i, i + 1, {.bytes = i});
      }
      --running;
    });
  }
  while (running > 0) {
    for (const TrackEvents& track : recorder.collect().tracks) {
      for (std::size_t i = 0; i < track.events.size(); ++i) {
        ASSERT_EQ(track.events[i].amount, static_cast<std::int64_t>(i));
        ASSERT_EQ(track.texts.at(track.events[i].name), "kernel " + std::to_string(i % 50));
      }
    }
    recorder.dropped();
  }
  for (std::thread& thread : threads) thread.join();
  const EventSet set = recorder.collect();
  ASSERT_EQ(set.tracks.size(), static_cast<std::size_t>(kThreads));
  for (const TrackEvents& track : set.tracks)
    EXPECT_EQ(track.events.size(), static_cast<std::size_t>(kSpans));
}

TEST(RecorderThreads, MayHandATrackOver) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  for (int t = 0; t < 4; ++t) {
    std::thread([&] {
      for (int i = 0; i < 400; ++i) recorder.span(track, std::to_string(t), Category::copy, 0, 1);
    }).join();
  }
  EXPECT_EQ(recorder.collect().tracks.at(0).events.size(), 1600U);
  EXPECT_EQ(recorder.collect().tracks.at(0).texts.size(), 5U);
}

TEST(RecorderThreads, ShareOneLimit) {
  Recorder recorder(1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&recorder] {
      const TrackId track = recorder.track({0}, TrackKind::device, "d");
      for (int i = 0; i < 10'000; ++i) recorder.span(track, "s", Category::copy, 0, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t kept = 0;
  for (const TrackEvents& track : recorder.collect().tracks) kept += track.events.size();
  EXPECT_EQ(kept + recorder.dropped(), 40'000U);
  EXPECT_LE(kept * sizeof(Event), 1U << 20);
}

}  // namespace
}  // namespace nuna::trace
