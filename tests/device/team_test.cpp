#include "device/host/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"

namespace nuna::device::host {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// Spinning and sleeping helpers take different paths.
class TeamTest : public testing::TestWithParam<nanoseconds> {};
INSTANTIATE_TEST_SUITE_P(Spins, TeamTest, testing::Values(nanoseconds(0), nanoseconds(microseconds(20))),
                         [](const auto& spin) { return spin.param.count() == 0 ? "never" : "briefly"; });

TEST_P(TeamTest, RunsEveryPartOnce) {
  Team team(4, GetParam(), "team");
  EXPECT_EQ(team.threads(), 4);
  for (int parts = 0; parts <= 4; ++parts) {
    std::vector<std::atomic<int>> runs(4);
    team.run(parts, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
    for (int p = 0; p < 4; ++p) EXPECT_EQ(runs[static_cast<std::size_t>(p)], p < parts ? 1 : 0) << parts;
  }
}

TEST_P(TeamTest, ReturnsOnlyWhenAllPartsReturned) {
  Team team(3, GetParam(), "team");
  std::vector<int> plain(3);  // a data race if run() returned early
  for (int job = 1; job <= 2000; ++job) {
    team.run(1 + job % 3, [&](int part) { plain[static_cast<std::size_t>(part)] += 1; });
  }
  EXPECT_EQ(plain[0], 2000);
  EXPECT_EQ(plain[0] + plain[1] + plain[2], 4001);
}

TEST_P(TeamTest, ThePartsOfOneJobCanMeet) {
  Team team(3, GetParam(), "team");
  std::atomic<int> arrived{0};
  team.run(3, [&](int) {
    ++arrived;
    while (arrived.load() < 3) std::this_thread::yield();  // hangs unless three threads take part
  });
  EXPECT_EQ(arrived, 3);
}

TEST_P(TeamTest, ThrowsWhatAPartThrewAndStaysUsable) {
  Team team(3, GetParam(), "team");
  for (int thrower = 0; thrower < 3; ++thrower) {
    std::atomic<int> ran{0};
    try {
      team.run(3, [&](int part) {
        ++ran;
        if (part == thrower) throw std::runtime_error("part " + std::to_string(part));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "part " + std::to_string(thrower));
    }
    EXPECT_EQ(ran, 3);
  }
  int ran = 0;
  team.run(1, [&](int) { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST_P(TeamTest, WhenAllThrowOneIsThrown) {
  Team team(4, GetParam(), "team");
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW(team.run(4, [](int part) { throw part; }), int);
  }
}

TEST_P(TeamTest, OnePartRunsOnTheCaller) {
  Team team(2, GetParam(), "team");
  std::thread::id runner;
  team.run(1, [&](int) { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST_P(TeamTest, PartZeroAlwaysRunsOnTheCaller) {
  Team team(2, GetParam(), "team");
  for (int i = 0; i < 100; ++i) {
    std::thread::id runner;
    team.run(2, [&](int part) {
      if (part == 0) runner = std::this_thread::get_id();
    });
    ASSERT_EQ(runner, std::this_thread::get_id());
  }
}

TEST(Team, EndsWithoutEverRunning) { const Team team(5, nanoseconds(0), "idle"); }

TEST(Team, RefusesMorePartsThanThreads) {
  const base::ThrowOnPanic throwing;
  Team team(2, nanoseconds(0), "team");
  EXPECT_THROW(team.run(3, [](int) {}), base::BrokenInvariant);
  EXPECT_THROW(Team(0, nanoseconds(0), "none"), base::BrokenInvariant);
}

}  // namespace
}  // namespace nuna::device::host
