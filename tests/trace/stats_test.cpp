#include "trace/stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace nuna::trace {
namespace {

using std::chrono::nanoseconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

void count_something(Stats& stats) {
  stats.launched();
  stats.plan_cache_miss();
  stats.launched();
  stats.plan_cache_hit();
  stats.moved(Route::host_to_device, 4096);
  stats.moved(Route::host_to_device, 1024);
  stats.moved(Route::receive, 8);
  stats.spent(Phase::planner, nanoseconds(1500));
  stats.spent(Phase::tracker, nanoseconds(20));
  stats.spent(Phase::wait, nanoseconds(3'000'000));
  stats.evicted(2 << 20);
  stats.fell_back("flattened layers");
  stats.fell_back("enumerated maps");
  stats.fell_back("flattened layers");
}

TEST(Stats, StartAtZero) { EXPECT_EQ(Stats().snapshot(), StatsSnapshot()); }

TEST(Stats, CountEachThingOnItsOwnCounter) {
  Stats stats;
  count_something(stats);
  const StatsSnapshot snapshot = stats.snapshot();
  EXPECT_EQ(snapshot.launches, 2U);
  EXPECT_EQ(snapshot.plan_cache_hits, 1U);
  EXPECT_EQ(snapshot.plan_cache_misses, 1U);
  EXPECT_EQ(snapshot.moved(Route::host_to_device), (Traffic{.count = 2, .bytes = 5120}));
  EXPECT_EQ(snapshot.moved(Route::receive), (Traffic{.count = 1, .bytes = 8}));
  EXPECT_EQ(snapshot.moved(Route::send), Traffic());
  EXPECT_EQ(snapshot.spent_ns(Phase::planner), 1500U);
  EXPECT_EQ(snapshot.spent_ns(Phase::tracker), 20U);
  EXPECT_EQ(snapshot.spent_ns(Phase::wait), 3'000'000U);
  EXPECT_EQ(snapshot.evictions, (Traffic{.count = 1, .bytes = 2 << 20}));
  EXPECT_THAT(snapshot.fallbacks,
              UnorderedElementsAre(Pair("flattened layers", 2), Pair("enumerated maps", 1)));
}

TEST(Stats, AddUpOverRanks) {
  Stats one, other;
  count_something(one);
  other.fell_back("reshaped layers");
  other.moved(Route::send, 8);
  StatsSnapshot sum = one.snapshot();
  sum += other.snapshot();
  sum += one.snapshot();
  EXPECT_EQ(sum.launches, 4U);
  EXPECT_EQ(sum.moved(Route::send).bytes, 8U);
  EXPECT_EQ(sum.spent_ns(Phase::planner), 3000U);
  EXPECT_EQ(sum.evictions.count, 2U);
  EXPECT_EQ(sum.fallbacks.at("flattened layers"), 4U);
  EXPECT_EQ(sum.fallbacks.at("reshaped layers"), 1U);
}

TEST(Stats, TellWhatHappenedSinceAnEarlierSnapshot) {
  Stats stats;
  count_something(stats);
  const StatsSnapshot earlier = stats.snapshot();
  EXPECT_EQ(stats.snapshot().since(earlier), StatsSnapshot());
  stats.launched();
  stats.moved(Route::receive, 2);
  stats.fell_back("enumerated maps");
  const StatsSnapshot since = stats.snapshot().since(earlier);
  EXPECT_EQ(since.launches, 1U);
  EXPECT_EQ(since.moved(Route::receive), (Traffic{.count = 1, .bytes = 2}));
  EXPECT_THAT(since.fallbacks, UnorderedElementsAre(Pair("enumerated maps", 1)));
}

TEST(StatsText, SaysWhatHappenedAndNothingElse) {
  Stats stats;
  count_something(stats);
  const std::string text = to_string(stats.snapshot());
  EXPECT_THAT(text, HasSubstr("launches: 2 (plans: 1 from the cache, 1 made)"));
  EXPECT_THAT(text, HasSubstr("planner 1.5 us, tracker 20 ns, waited 3.0 ms"));
  EXPECT_THAT(text, HasSubstr("\nhost to device: 2 times, 5.0 KiB"));
  EXPECT_THAT(text, HasSubstr("\nreceive: 1 times, 8 bytes"));
  EXPECT_THAT(text, HasSubstr("\nevictions: 1 times, 2.0 MiB"));
  EXPECT_THAT(text, HasSubstr("\nfallback: flattened layers 2 times"));
  EXPECT_THAT(text, Not(HasSubstr("send")));
  EXPECT_NE(text.back(), '\n');
}

TEST(StatsJson, HoldsEveryCounter) {
  Stats stats;
  count_something(stats);
  stats.fell_back("a \"quoted\" \xff name");
  const nlohmann::json json = nlohmann::json::parse(to_json(stats.snapshot()));
  EXPECT_EQ(json["launches"], 2);
  EXPECT_EQ(json["plan_cache"]["hits"], 1);
  EXPECT_EQ(json["plan_cache"]["misses"], 1);
  EXPECT_EQ(json["planner_ns"], 1500);
  EXPECT_EQ(json["tracker_ns"], 20);
  EXPECT_EQ(json["wait_ns"], 3'000'000);
  EXPECT_EQ(json["traffic"].size(), static_cast<std::size_t>(kRoutes));
  EXPECT_EQ(json["traffic"]["host_to_device"]["bytes"], 5120);
  EXPECT_EQ(json["traffic"]["send"]["count"], 0);
  EXPECT_EQ(json["evictions"]["count"], 1);
  EXPECT_EQ(json["fallbacks"]["flattened layers"], 2);
  EXPECT_EQ(json["fallbacks"].size(), 3U);
}

TEST(StatsJson, IsOneLineEvenWhenNothingHappened) {
  const std::string text = to_json(StatsSnapshot());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(text)["fallbacks"].is_object());
}

TEST(PhaseTimerScope, AddsTheTimeOfItsLife) {
  Stats stats;
  const auto before = std::chrono::steady_clock::now();
  {
    const PhaseTimer timer(stats, Phase::tracker);
    while (std::chrono::steady_clock::now() - before < std::chrono::microseconds(100)) {
    }
  }
  const auto most = std::chrono::steady_clock::now() - before;
  EXPECT_GT(stats.snapshot().spent_ns(Phase::tracker), 0U);
  EXPECT_LE(stats.snapshot().spent_ns(Phase::tracker), static_cast<std::uint64_t>(nanoseconds(most).count()));
  EXPECT_EQ(stats.snapshot().spent_ns(Phase::planner), 0U);
}

TEST(StatsThreads, LoseNoCount) {
  Stats stats;
  constexpr int kThreads = 4, kTimes = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&stats] {
      for (int i = 0; i < kTimes; ++i) {
        stats.moved(Route::same_memory, 3);
        stats.launched();
        stats.fell_back("flattened layers");
        if (i % 100 == 0) stats.snapshot();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StatsSnapshot snapshot = stats.snapshot();
  EXPECT_EQ(snapshot.launches, static_cast<std::uint64_t>(kThreads * kTimes));
  EXPECT_EQ(snapshot.moved(Route::same_memory).bytes, static_cast<std::uint64_t>(kThreads * kTimes * 3));
  EXPECT_EQ(snapshot.fallbacks.at("flattened layers"), static_cast<std::uint64_t>(kThreads * kTimes));
}

}  // namespace
}  // namespace nuna::trace
