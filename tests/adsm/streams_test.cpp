#include "adsm/streams.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace nuna::adsm {
namespace {

constexpr Index kMost = 8;

// A program that touches blocks, and faults at those that no guess has opened.
class Program {
 public:
  void touch(Index block) {
    if (open_.contains(block)) return;
    ++faults_;
    const Guess guess = streams_.at(block);
    ASSERT_EQ(guess.first, block) << "what has faulted is opened";
    ASSERT_GE(guess.count, 1);
    ASSERT_LE(guess.count, kMost);
    ASSERT_NE(guess.stride, 0);
    for (Index i = 0; i < guess.count; ++i) open_.insert(block + i * guess.stride);
  }
  int faults() const { return faults_; }
  Index opened() const { return static_cast<Index>(open_.size()); }

 private:
  Streams streams_{kMost};
  std::set<Index> open_;
  int faults_ = 0;
};

// Some faults until a stream goes at its full width.
constexpr int kBeginning = 6;

TEST(Streams, OpensTheFirstFaultsBlockAlone) {
  Streams streams(kMost);
  EXPECT_EQ(streams.at(1000), (Guess{1000, 1, 1}));
}

TEST(Streams, OpensTwiceAsMuchWithEachFaultInARow) {
  Streams streams(kMost);
  EXPECT_EQ(streams.at(0), (Guess{0, 1, 1}));
  EXPECT_EQ(streams.at(1), (Guess{1, 2, 1}));
  EXPECT_EQ(streams.at(3), (Guess{3, 4, 1}));
  EXPECT_EQ(streams.at(7), (Guess{7, 8, 1}));
  EXPECT_EQ(streams.at(15), (Guess{15, 8, 1})) << "up to a bound";
}

TEST(Streams, OpensNothingMoreWhereTheBoundIsOne) {
  Streams streams(1);
  for (Index b = 0; b < 100; ++b) EXPECT_EQ(streams.at(b), (Guess{b, 1, 1}));
}

TEST(Streams, FollowsBlocksInARow) {
  Program program;
  for (Index b = 0; b < 1000; ++b) program.touch(b);
  EXPECT_LE(program.faults(), 1000 / kMost + kBeginning);
  EXPECT_LE(program.opened(), 1000 + kMost);
}

TEST(Streams, FollowsBlocksBackwards) {
  Program program;
  for (Index b = 1000; b > 0; --b) program.touch(b);
  EXPECT_LE(program.faults(), 1000 / kMost + kBeginning);
  EXPECT_LE(program.opened(), 1000 + kMost);
}

TEST(Streams, FollowsAnyConstantDistance) {
  for (const Index distance : {2, 5, -7, 300}) {
    Program program;
    for (Index i = 0; i < 500; ++i) program.touch(1'000'000 + i * distance);
    EXPECT_LE(program.faults(), 500 / kMost + kBeginning) << distance;
    EXPECT_LE(program.opened(), 500 + kMost) << "nothing between " << distance;
  }
}

TEST(Streams, KeepsSeveralApart) {
  Program program;
  constexpr int kStreams = 6;
  for (Index i = 0; i < 400; ++i) {
    for (Index s = 0; s < kStreams; ++s) program.touch(s * 100'000 + (s % 2 == 0 ? i : 1000 - 2 * i));
  }
  EXPECT_LE(program.faults(), kStreams * (400 / kMost + kBeginning));
}

TEST(Streams, OpensLittleForTouchesWithoutOrder) {
  Program program;
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) program.touch(static_cast<Index>(random() % (std::uint64_t{1} << 30)));
  EXPECT_LE(program.opened(), program.faults() * Index{11} / 10);
}

TEST(Streams, GoesOnAfterAnyFaults) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Program program;
    std::mt19937_64 random(seed);
    const Index blocks = 1 + static_cast<Index>(random() % (seed % 2 == 0 ? 40 : Index{1} << 50));
    for (int i = 0; i < 300; ++i)
      program.touch(static_cast<Index>(random()) & 1 ? 0 : static_cast<Index>(random() % blocks));
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

TEST(Streams, MayBeAskedByManyThreads) {
  Streams streams(kMost);
  std::vector<std::thread> threads;
  for (Index t = 0; t < 4; ++t) {
    threads.emplace_back([&streams, t] {
      for (Index b = 0; b < 5000; ++b) {
        const Guess guess = streams.at(t * 2500 + b);
        ASSERT_EQ(guess.first, t * 2500 + b);
        ASSERT_TRUE(1 <= guess.count && guess.count <= kMost && guess.stride != 0);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace nuna::adsm
