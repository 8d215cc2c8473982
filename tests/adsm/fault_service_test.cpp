#include "adsm/fault_service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/worker_thread.hpp"

namespace nuna::adsm {
namespace {

// The service hands sides on and never looks at them.
HostSide& some_side(std::uintptr_t number) {
  return *reinterpret_cast<HostSide*>(number * 64);  // NOLINT(performance-no-int-to-ptr)
}

void wait_until(const std::atomic<int>& counter, int value) {
  while (counter.load() < value) std::this_thread::yield();
}

TEST(FaultService, WorksWithTheTurnInAThreadOfItsOwn) {
  base::Turn turn;
  std::atomic<int> served{0};
  FaultService::Request got;
  FaultService service(turn, [&](const FaultService::Request& r) {
    EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
    EXPECT_TRUE(base::on_worker_thread());
    got = r;
    ++served;
  });
  EXPECT_TRUE(service.ask(some_side(3), 17, 4, true));
  wait_until(served, 1);
  EXPECT_EQ(got.side, &some_side(3));
  EXPECT_EQ(got.first, 17);
  EXPECT_EQ(got.count, 4);
  EXPECT_TRUE(got.paused);
  EXPECT_FALSE(got.doubt);
  service.doubt(some_side(5), 9);
  wait_until(served, 2);
  EXPECT_EQ(got.side, &some_side(5));
  EXPECT_EQ(got.first, 9);
  EXPECT_EQ(got.count, 1);
  EXPECT_TRUE(got.doubt);
}

TEST(FaultService, WorksOnceForEachRequestOfManyThreads) {
  base::Turn turn;
  std::map<Index, int> times;  // by block; with the turn
  std::atomic<int> served{0};
  FaultService service(turn, [&](const FaultService::Request& r) {
    ++times[r.first];
    ++served;
  });
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (Index i = 0; i < kEach; ++i) {
        while (!service.ask(some_side(1), t * kEach + i, 1, false)) std::this_thread::yield();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  wait_until(served, kThreads * kEach);
  const std::lock_guard lock(turn);
  EXPECT_EQ(times.size(), std::size_t{kThreads * kEach});
}

TEST(FaultService, RefusesWhatItHasNoRoomForUntilItIsTurn) {
  base::Turn turn;
  std::atomic<int> served{0};
  FaultService service(turn, [&](const FaultService::Request&) { ++served; });
  int asked = 0;
  {
    const std::lock_guard lock(turn);
    std::thread([&] {  // one that has no turn
      while (service.ask(some_side(1), asked, 1, false)) ++asked;
    })
        .join();
    EXPECT_GE(asked, 16);
    EXPECT_EQ(served.load(), 0);
  }
  wait_until(served, asked);
}

TEST(FaultService, WorksInTheSteadOfWhoHasTheTurnAndWaits) {
  base::Turn turn;
  std::atomic<int> served{0};
  FaultService service(turn, [&, asks = std::this_thread::get_id()](const FaultService::Request&) {
    EXPECT_TRUE(turn.held_by(asks));
    ++served;
  });
  const std::lock_guard lock(turn);
  ASSERT_TRUE(service.ask(some_side(1), 0, 1, false));
  wait_until(served, 1);  // with the turn, as a thread in a handler has it
}

TEST(FaultService, WhoHasTheTurnDoesNotWaitBehindThoseWithoutIt) {
  base::Turn turn;
  std::atomic<int> with{0};
  std::atomic<int> without{0};
  FaultService service(turn, [&](const FaultService::Request& r) { ++(r.first == 1 ? with : without); });
  int asked = 0;  // as many as there is room for
  for (int round = 1; round <= 200; ++round) {
    const std::lock_guard lock(turn);
    std::thread([&] { asked += service.ask(some_side(1), 0, 1, false) ? 1 : 0; }).join();
    if (round % 2 == 0) std::this_thread::yield();
    ASSERT_TRUE(service.ask(some_side(1), 1, 1, false));
    wait_until(with, round);
  }
  wait_until(without, asked);
}

TEST(FaultService, DoubtWaitsForTheTurnWhoeverHasIt) {
  base::Turn turn;
  std::atomic<int> served{0};
  FaultService service(turn, [&](const FaultService::Request&) {
    EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
    ++served;
  });
  {
    const std::lock_guard lock(turn);
    service.doubt(some_side(1), 0);
  }
  wait_until(served, 1);
}

TEST(FaultService, EndsWithRequestsLeft) {
  for (int round = 0; round < 200; ++round) {
    base::Turn turn;
    std::atomic<int> served{0};
    auto service = std::make_unique<FaultService>(turn, [&](const FaultService::Request&) { ++served; });
    for (Index i = 0; i < round % 20; ++i) static_cast<void>(service->ask(some_side(1), i, 1, false));
    service.reset();
    EXPECT_LE(served.load(), round % 20);
  }
}

}  // namespace
}  // namespace nuna::adsm
