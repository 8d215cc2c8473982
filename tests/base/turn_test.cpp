#include "base/turn.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nuna::base {
namespace {

TEST(Turn, IsTheThreadsThatHoldsItHoweverOften) {
  Turn turn;
  EXPECT_EQ(turn.owner(), std::thread::id());
  turn.lock();
  turn.lock();
  turn.unlock();
  EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
  std::thread([&, owner = std::this_thread::get_id()] { EXPECT_TRUE(turn.held_by(owner)); }).join();
  turn.unlock();
  EXPECT_FALSE(turn.held_by(std::this_thread::get_id()));
}

TEST(Turn, IsOthersOutsideAtAnyDepthAndThenTheCallersAgain) {
  Turn turn;
  for (const int depth : {1, 3}) {
    for (int d = 0; d < depth; ++d) turn.lock();
    const int told = turn.outside([&] {
      int number = 0;
      std::thread([&] {
        const std::lock_guard lock(turn);
        number = 7;
      }).join();
      return number;
    });
    EXPECT_EQ(told, 7);
    for (int d = 0; d < depth; ++d) {
      EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
      turn.unlock();
    }
    EXPECT_EQ(turn.owner(), std::thread::id());
  }
}

TEST(Turn, IsTheCallersAgainAfterAnException) {
  Turn turn;
  const std::lock_guard lock(turn);
  EXPECT_THROW(turn.outside([] { throw std::runtime_error("no luck"); }), std::runtime_error);
  EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
}

TEST(Turn, IsNotTakenByOneWhoOnlyGoesOutside) {
  Turn turn;
  turn.outside([&] { EXPECT_EQ(turn.owner(), std::thread::id()); });
  EXPECT_EQ(turn.owner(), std::thread::id());
}

TEST(Turn, MayBeGivenUpWithinTheGap) {
  Turn turn;
  const std::lock_guard lock(turn);
  turn.outside([&] {
    const std::lock_guard again(turn);
    turn.outside([&] { EXPECT_EQ(turn.owner(), std::thread::id()); });
    EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
  });
  EXPECT_TRUE(turn.held_by(std::this_thread::get_id()));
}

TEST(Turn, IsOneThreadsAtATime) {
  Turn turn;
  int count = 0;  // no atomic: the turn orders the threads
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const std::lock_guard lock(turn);
        const std::lock_guard again(turn);
        ++count;
        if (i % 16 == 0) turn.outside([] { std::this_thread::yield(); });
        ++count;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, 8000);
}

}  // namespace
}  // namespace nuna::base
