#include "base/timeline.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nuna::base {
namespace {

using namespace std::chrono_literals;

// The sleeping path looks again once a second even without a ring, so a lost wake-up shows as time: thousands
// of rounds would take hours. The tests that hunt for them have no other clock than ctest's time limit.

TEST(Doorbell, AConditionThatHoldsIsNotWaitedFor) {
  Doorbell bell;
  int tests = 0;
  EXPECT_TRUE(bell.wait([&] { return ++tests > 0; }));
  EXPECT_EQ(tests, 1);
}

TEST(Doorbell, GivesUpAfterTheTimeLimit) {
  Doorbell spinning;
  EXPECT_FALSE(spinning.wait([] { return false; }, 1ms));
  Doorbell sleeping(0ns);
  EXPECT_FALSE(sleeping.wait([] { return false; }, 1ms));
  EXPECT_FALSE(sleeping.wait([] { return false; }, 0ns));
  EXPECT_FALSE(sleeping.wait([] { return false; }, -1s));
}

TEST(Doorbell, TheConditionIsTestedOnceMoreBeforeGivingUp) {
  Doorbell bell(0ns);
  int tests = 0;
  EXPECT_TRUE(bell.wait([&] { return ++tests == 2; }, 0ns));
}

TEST(Doorbell, WhoWaitsDrivesWhatMovesOnlyWhenDriven) {
  Doorbell bell;
  int steps = 0;
  bell.set_driver(Doorbell::Drivers::program, [&] { return ++steps < 300; });
  EXPECT_TRUE(bell.wait([&] { return steps == 520; })) << "also while nothing happens";
  EXPECT_FALSE(bell.wait([] { return false; }, std::chrono::milliseconds(1)));
}

TEST(Doorbell, WhoWaitsDrivesTheOtherBellsToo) {
  Doorbell bell;
  Doorbell other;
  bool moved = false;
  bell.set_driver(Doorbell::Drivers::program, [] { return false; });
  other.set_driver(Doorbell::Drivers::program, [&] { return std::exchange(moved, true); });
  EXPECT_TRUE(bell.wait([&] { return moved; }));
}

TEST(Doorbell, WorkersDriveWhereTheProgramNeedNot) {
  Doorbell bell;
  std::atomic<int> steps{0};
  bell.set_driver(Doorbell::Drivers::workers, [&] { return ++steps > 0; });
  EXPECT_FALSE(bell.wait([] { return false; }, std::chrono::milliseconds(1)));
  bell.pass();
  EXPECT_EQ(steps.load(), 1);
  start_worker("test", [&] { bell.wait([&] { return steps.load() > 10; }); }).join();
}

TEST(Doorbell, WorkersAndFormerDriversAreLeftAlone) {
  Doorbell bell;
  std::atomic<int> steps{0};
  bell.set_driver(Doorbell::Drivers::program, [&] { return ++steps > 0; });
  start_worker("test", [&] { bell.wait([] { return false; }, std::chrono::milliseconds(1)); }).join();
  EXPECT_EQ(steps.load(), 0);
  bell.set_driver(Doorbell::Drivers::none);
  EXPECT_FALSE(bell.wait([] { return false; }, std::chrono::milliseconds(1)));
  EXPECT_EQ(steps.load(), 0);
}

TEST(Doorbell, RingsWithoutSleepersAreHarmless) {
  Doorbell bell;
  for (int i = 0; i < 1000; ++i) bell.ring();
  EXPECT_FALSE(bell.wait([] { return false; }, 0ns));
}

class DoorbellSpin : public testing::TestWithParam<std::chrono::nanoseconds> {};
INSTANTIATE_TEST_SUITE_P(SpinningAndSleeping, DoorbellSpin, testing::Values(0ns, 1us, 20us),
                         [](const auto& test) { return std::to_string(test.param.count()) + "ns"; });

TEST_P(DoorbellSpin, PingPongLosesNoWakeUp) {
  constexpr int kRounds = 20'000;
  Doorbell ping(GetParam());
  Doorbell pong(GetParam());
  std::atomic<int> to{0};
  std::atomic<int> back{0};
  std::thread partner([&] {
    for (int i = 1; i <= kRounds; ++i) {
      ping.wait([&] { return to.load(std::memory_order_acquire) >= i; });
      back.store(i, std::memory_order_release);
      pong.ring();
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    to.store(i, std::memory_order_release);
    ping.ring();
    pong.wait([&] { return back.load(std::memory_order_acquire) >= i; });
  }
  partner.join();
  EXPECT_EQ(back, kRounds);
}

TEST_P(DoorbellSpin, ManyThreadsOnOneBellAllSeeTheirOwnEvents) {
  constexpr std::size_t kThreads = 8;
  constexpr int kRounds = 1'000;
  Doorbell bell(GetParam());
  std::array<std::atomic<int>, kThreads> token{};
  std::vector<std::thread> ring;
  for (std::size_t t = 0; t < kThreads;
       ++t) {  // each hands the token to its neighbour, all sleep on one bell
    ring.emplace_back([&, t] {
      for (int i = 1; i <= kRounds; ++i) {
        bell.wait([&] { return token[t].load(std::memory_order_acquire) >= i; });
        if (t + 1 < kThreads) {
          token[t + 1].store(i, std::memory_order_release);
        } else {
          token[0].store(i + 1, std::memory_order_release);
        }
        bell.ring();
      }
    });
  }
  token[0] = 1;
  bell.ring();
  for (std::thread& t : ring) t.join();
  EXPECT_EQ(token[0], kRounds + 1);
}

TEST(Timeline, CountsWhatIsComplete) {
  Doorbell bell;
  Timeline line(bell);
  EXPECT_TRUE(line.reached(0));
  EXPECT_FALSE(line.reached(1));
  line.complete(3);
  EXPECT_TRUE(line.reached(3));
  EXPECT_FALSE(line.reached(4));
  EXPECT_EQ(line.completed(), 3U);
  EXPECT_EQ(&line.bell(), &bell);
}

TEST(Timeline, AFailureStaysWithItsOperation) {
  Doorbell bell;
  Timeline line(bell);
  line.fail(2, std::make_exception_ptr(std::runtime_error("second")));
  line.complete(3);
  EXPECT_EQ(line.failure(1), nullptr);
  EXPECT_EQ(line.failure(3), nullptr);
  for (int look = 0; look < 2; ++look) {
    try {
      std::rethrow_exception(line.failure(2));
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "second");
    }
  }
}

TEST(Timeline, KnowsWithoutALookWhetherAnyOperationFailed) {
  Doorbell bell;
  Timeline line(bell);
  line.complete(1);
  EXPECT_FALSE(line.any_failed());
  std::thread lane([&] {
    line.fail(2, std::make_exception_ptr(std::runtime_error("no luck")));
    line.complete(2);
  });
  line.wait(2);
  EXPECT_TRUE(line.any_failed()) << "who sees the end sees the failure";
  lane.join();
  line.complete(3);
  EXPECT_TRUE(line.any_failed()) << "for good";
}

TEST(Timeline, WhatTheLaneWroteIsSeenByWhoWaits) {
  constexpr std::uint64_t kOperations = 5'000;
  Doorbell bell(1us);
  Timeline line(bell);
  std::vector<std::uint64_t> written(kOperations + 1);
  std::thread lane([&] {
    for (std::uint64_t i = 1; i <= kOperations; ++i) {
      written[i] = i * i;
      if (i % 7 == 0) line.fail(i, std::make_exception_ptr(std::runtime_error("seventh")));
      line.complete(i);
    }
  });
  std::vector<std::thread> waiters;
  std::atomic<int> wrong{0};
  for (std::uint64_t w = 0; w < 4; ++w) {
    waiters.emplace_back([&, w] {
      for (std::uint64_t i = 1 + w; i <= kOperations; i += 1 + w) {
        line.wait(i);
        if (written[i] != i * i || (line.failure(i) != nullptr) != (i % 7 == 0)) ++wrong;
      }
    });
  }
  lane.join();
  for (std::thread& t : waiters) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Timeline, ManyLinesShareOneBell) {
  constexpr int kLines = 6;
  constexpr std::uint64_t kOperations = 500;
  Doorbell bell(0ns);
  std::vector<std::unique_ptr<Timeline>> lines;
  for (int l = 0; l < kLines; ++l) lines.push_back(std::make_unique<Timeline>(bell));
  std::vector<std::thread> lanes;
  for (std::size_t l = 0; l < kLines; ++l) {  // operation i of line l waits for operation i of line l - 1
    lanes.emplace_back([&, l] {
      for (std::uint64_t i = 1; i <= kOperations; ++i) {
        if (l > 0) lines[l - 1]->wait(i);
        lines[l]->complete(i);
      }
    });
  }
  lines.back()->wait(kOperations);
  EXPECT_TRUE(lines.front()->reached(kOperations));
  for (std::thread& t : lanes) t.join();
}

TEST(Ticket, ADefaultOneIsCompleteAndWithoutFailure) {
  const Ticket ticket;
  EXPECT_TRUE(ticket.done());
  ticket.wait();
  EXPECT_EQ(ticket.failure(), nullptr);
  EXPECT_EQ(ticket, Ticket());
}

TEST(Ticket, FollowsItsTimeline) {
  Doorbell bell;
  Timeline line(bell);
  const Ticket first{&line, 1};
  const Ticket second{&line, 2};
  EXPECT_NE(first, second);
  line.fail(1, std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_FALSE(first.done());
  line.complete(1);
  EXPECT_TRUE(first.done());
  EXPECT_NE(first.failure(), nullptr);
  EXPECT_FALSE(second.done());
  std::thread lane([&] { line.complete(2); });
  second.wait();
  EXPECT_TRUE(second.done());
  EXPECT_EQ(second.failure(), nullptr);
  lane.join();
}

}  // namespace
}  // namespace nuna::base
