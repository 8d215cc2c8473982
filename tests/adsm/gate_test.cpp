#include "adsm/gate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace nuna::adsm {
namespace {

using Entry = Gate::Entry;

// Nobody's sleep ends by itself within a test: a lost wake-up shows as ctest's time limit.
constexpr std::chrono::minutes kLong(10);

// What another thread is told at the gate; it leaves at once.
Entry entry_of_another(Gate& gate) {
  Entry entry{};
  std::thread([&] {
    entry = gate.enter();
    if (entry == Entry::inside) gate.leave();
  }).join();
  return entry;
}

TEST(Gate, LetsManyInAtOnce) {
  Gate gate;
  EXPECT_EQ(gate.enter(), Entry::inside);
  EXPECT_EQ(gate.enter(), Entry::inside);
  EXPECT_EQ(entry_of_another(gate), Entry::inside);
  gate.leave();
  gate.leave();
  EXPECT_TRUE(gate.try_pause()) << "nobody is inside";
  gate.resume();
}

TEST(Gate, PausedTurnsOthersAwayAndKnowsItsOwnThread) {
  Gate gate;
  gate.pause();
  EXPECT_TRUE(gate.paused_here());
  EXPECT_EQ(gate.enter(), Entry::mine);
  EXPECT_EQ(entry_of_another(gate), Entry::paused);
  gate.resume();
  EXPECT_FALSE(gate.paused_here());
  EXPECT_EQ(entry_of_another(gate), Entry::inside);
}

TEST(Gate, PausesNest) {
  Gate gate;
  gate.pause();
  {
    const Pause inner(gate);
    EXPECT_TRUE(gate.try_pause());
    gate.resume();
    EXPECT_EQ(entry_of_another(gate), Entry::paused);
  }
  EXPECT_EQ(gate.enter(), Entry::mine);
  EXPECT_EQ(entry_of_another(gate), Entry::paused);
  gate.resume();
  EXPECT_EQ(gate.enter(), Entry::inside);
  gate.leave();
}

TEST(Gate, IsNotTriedWhileAnotherThreadHasPausedIt) {
  Gate gate;
  const Pause pause(gate);
  std::thread([&] {
    EXPECT_FALSE(gate.try_pause());
    EXPECT_FALSE(gate.paused_here());
    EXPECT_EQ(gate.enter(), Entry::paused) << "the attempt gave it to nobody";
  }).join();
  EXPECT_EQ(gate.enter(), Entry::mine);
}

TEST(Gate, PauseWaitsForThoseInside) {
  for (int round = 0; round < 200; ++round) {
    Gate gate;
    ASSERT_EQ(gate.enter(), Entry::inside);
    ASSERT_EQ(gate.enter(), Entry::inside);
    std::atomic<bool> inside{true};
    std::thread pauses([&] {
      const Pause pause(gate);
      EXPECT_FALSE(inside.load());
    });
    while (gate.enter() == Entry::inside) gate.leave();  // until it has begun to wait
    gate.leave();
    inside.store(false);
    gate.leave();
    pauses.join();
  }
}

TEST(Gate, SecondPauseWaitsForTheFirstToResume) {
  Gate gate;
  int value = 0;  // of who has paused
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const Pause pause(gate);
        ++value;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(value, 2000);
}

TEST(Gate, WhoIsInsideSeesNothingHalfChanged) {
  Gate gate;
  std::array<int, 2> values{};  // equal, but while paused
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!over.load()) {
        const std::uint32_t seen = Gate::resumed();
        if (gate.enter() == Entry::paused) {
          Gate::wait_for_resume(seen, kLong);
          continue;
        }
        EXPECT_EQ(values[0], values[1]);
        gate.leave();
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    if (i % 3 == 0) {
      if (!gate.try_pause()) continue;
    } else {
      gate.pause();
    }
    ++values[0];
    std::this_thread::yield();
    ++values[1];
    gate.resume();
  }
  over.store(true);
  for (std::thread& t : threads) t.join();
}

TEST(Gate, ResumingWakesWhoeverWasTurnedAway) {
  Gate gate;
  std::atomic<int> turned_away{0};
  std::atomic<int> passed{0};
  for (int round = 1; round <= 1000; ++round) {
    gate.pause();
    std::thread waits([&] {
      const std::uint32_t seen = Gate::resumed();
      EXPECT_EQ(gate.enter(), Entry::paused);
      ++turned_away;
      Gate::wait_for_resume(seen, kLong);
      ++passed;
    });
    while (turned_away.load() < round) std::this_thread::yield();
    gate.resume();  // at any moment before or during the sleep
    waits.join();
    ASSERT_EQ(passed.load(), round);
  }
}

TEST(Gate, WaitForAResumeThatWasSeenBeforeIsOver) {
  const std::uint32_t seen = Gate::resumed();
  Gate gate;
  gate.pause();
  gate.resume();
  EXPECT_NE(Gate::resumed(), seen);
  Gate::wait_for_resume(seen, kLong);
  Gate::wait_for_resume(Gate::resumed(), std::chrono::microseconds(1));  // ends by itself
}

}  // namespace
}  // namespace nuna::adsm
