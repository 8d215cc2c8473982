#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "cluster/in_process.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

// Long enough for any machine to get there, for tests in which nobody may stall.
constexpr auto kNever = std::chrono::hours(1);

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

Envelope envelope_of(std::uint64_t sequence, const std::string& call) {
  Envelope envelope;
  envelope.sequence = sequence;
  envelope.hash = sequence * 17;
  envelope.call = call;
  return envelope;
}

// Runs `body` on every rank and returns what each threw, "" for nothing.
using Body = std::function<void(base::RankId, Communicator&)>;
struct Outcome {
  ErrorCode code{};
  std::string text;
};
std::vector<Outcome> outcomes(int ranks, std::chrono::nanoseconds stall, const Body& body) {
  std::vector<Outcome> all(static_cast<std::size_t>(ranks));
  run_ranks(
      ranks,
      [&](base::RankId rank, std::unique_ptr<Communicator> communicator) {
        try {
          body(rank, *communicator);
        } catch (const Error& error) {
          all[static_cast<std::size_t>(rank.value)] = {error.code(), error.what()};
        }
      },
      stall);
  return all;
}

TEST(Allgather, GivesEveryRankAllBytesInRankOrder) {
  for (const int ranks : {1, 2, 5}) {
    run_ranks(
        ranks,
        [&](base::RankId rank, std::unique_ptr<Communicator> communicator) {
          for (std::uint64_t round = 0; round < 200; ++round) {
            const auto text = [&](int r) {  // sizes differ, some are empty
              return std::string((static_cast<std::uint64_t>(r) * 3 + round) % 5, static_cast<char>('a' + r));
            };
            const auto all =
                communicator->allgather(envelope_of(round, "exchange"), bytes_of(text(rank.value)));
            ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
            for (int r = 0; r < ranks; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], bytes_of(text(r)));
          }
        },
        kNever);
  }
}

TEST(Allgather, IsABarrier) {
  constexpr int kRanks = 4;
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  run_ranks(
      kRanks,
      [&](base::RankId, std::unique_ptr<Communicator> communicator) {
        for (int round = 1; round <= 300; ++round) {
          ++arrived;
          communicator->allgather(envelope_of(static_cast<std::uint64_t>(round), "barrier"), {});
          if (arrived < round * kRanks) ++early;
        }
      },
      kNever);
  EXPECT_EQ(early, 0);
}

TEST(Allgather, NamesTheFirstRankThatDiffersAndBothCallsOnEveryRank) {
  const auto all = outcomes(4, kNever, [](base::RankId rank, Communicator& communicator) {
    const bool differs = rank.value >= 2;
    communicator.allgather(
        differs ? envelope_of(7, "copy at b.cpp:2") : envelope_of(6, "launch 'heat' at a.cpp:1"), {});
  });
  for (const Outcome& outcome : all) {
    EXPECT_EQ(outcome.code, ErrorCode::diverged);
    EXPECT_EQ(outcome.text,
              "rank 2 called copy at b.cpp:2 (call 7, message 0) where rank 0 called launch 'heat' at "
              "a.cpp:1 (call 6, "
              "message 0): let every rank make the same calls");
  }
}

TEST(Allgather, AnotherHashOrMessageAloneIsADifference) {
  for (const bool by_hash : {true, false}) {
    const auto all = outcomes(2, kNever, [&](base::RankId rank, Communicator& communicator) {
      Envelope envelope = envelope_of(3, "open at a.cpp:1");
      if (rank.value == 1 && by_hash) envelope.hash = 1;
      if (rank.value == 1 && !by_hash) envelope.message = 1;
      communicator.allgather(envelope, {});
    });
    for (const Outcome& outcome : all) {
      EXPECT_EQ(outcome.code, ErrorCode::diverged);
      EXPECT_THAT(outcome.text, HasSubstr("after a different history of calls"));
    }
  }
}

TEST(Allgather, TheRoundAfterADivergenceStartsClean) {
  outcomes(3, kNever, [](base::RankId rank, Communicator& communicator) {
    EXPECT_THROW(communicator.allgather(envelope_of(rank.value == 1 ? 1 : 2, "x"), {}), Error);
    EXPECT_EQ(communicator.allgather(envelope_of(5, "y"), bytes_of("z")).size(), 3U);
  });
}

TEST(Allgather, AFailureInAnEnvelopeReachesEveryRank) {
  const auto all = outcomes(3, kNever, [](base::RankId rank, Communicator& communicator) {
    Envelope envelope = envelope_of(3, "open at a.cpp:1");
    if (rank.value == 1) envelope.failure = "kernel 'heat' threw";
    communicator.allgather(envelope, {});
  });
  for (const Outcome& outcome : all) {
    EXPECT_EQ(outcome.text,
              "rank 1 could not take part in open at a.cpp:1 (call 3, message 0): kernel 'heat' threw");
  }
}

TEST(Allgather, ARankThatLeftFailsItForTheOthersInsteadOfHangingThem) {
  const auto all = outcomes(4, kNever, [](base::RankId rank, Communicator& communicator) {
    communicator.publish({2, 0, "copy at b.cpp:2", false});
    if (rank.value == 1) return;
    communicator.allgather(envelope_of(3, "open at a.cpp:1"), {});
  });
  for (const std::size_t r : {0U, 2U, 3U}) {
    EXPECT_EQ(all[r].code, ErrorCode::diverged);
    EXPECT_THAT(all[r].text, AllOf(HasSubstr("rank 1 left after copy at b.cpp:2, but rank "),
                                   HasSubstr("open at a.cpp:1")));
  }
}

TEST(Allgather, ARankThatLeftAfterTheRoundDoesNotDisturbIt) {
  for (int repeat = 0; repeat < 100; ++repeat) {
    const auto all = outcomes(3, kNever, [](base::RankId, Communicator& communicator) {
      EXPECT_EQ(communicator.allgather(envelope_of(1, "last call"), {}).size(), 3U);
    });
    for (const Outcome& outcome : all) ASSERT_EQ(outcome.text, "");
  }
}

TEST(Allgather, PublishingTheEndIsLeaving) {
  InProcessCluster cluster(2, kNever);
  const auto zero = cluster.join({0});
  const auto one = cluster.join({1});
  one->publish({1, 0, "", true});
  EXPECT_THROW(zero->allgather(envelope_of(1, "x"), {}), Error);
  EXPECT_TRUE(zero->status_of({1}).left);
}

TEST(Allgather, SilentRanksAreAStallThatNamesThemAndTheirLastCalls) {
  const base::LogCapture log;
  InProcessCluster cluster(4, 20ms);
  const auto zero = cluster.join({0});
  const auto one = cluster.join({1});
  const auto two = cluster.join({2});
  one->publish({2, 0, "copy at b.cpp:2", false});
  try {
    zero->allgather(envelope_of(3, "open at a.cpp:1"), {});
    FAIL() << "returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::stalled);
    EXPECT_THAT(
        error.what(),
        ::testing::MatchesRegex("rank 0 has waited [0-9.]+ ms in open at a.cpp:1 .call 3, message 0. for "
                                "rank 1 .last call: copy at b.cpp:2., rank 2 .before its first call., rank 3 "
                                ".never joined.: let every rank make the same calls, or raise NUNA_STALL"));
    EXPECT_EQ(log.lines().size(), 1U) << "a warning before";
  }
}

TEST(Allgather, AStalledRoundFailsAlikeForThoseWhoComeLateOrAgain) {
  InProcessCluster cluster(3, 5ms);
  const auto zero = cluster.join({0});
  const auto one = cluster.join({1});
  const auto two = cluster.join({2});
  const auto failure = [](Communicator& communicator, const std::string& call = "x") {
    try {
      communicator.allgather(envelope_of(1, call), {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::stalled);
      return std::string(error.what());
    }
    return std::string("returned");
  };
  const std::string first = failure(*zero);
  EXPECT_EQ(failure(*one), first);
  EXPECT_EQ(failure(*zero), first);
  EXPECT_EQ(failure(*two), first);
  std::thread later([&] { EXPECT_THROW(one->allgather(envelope_of(2, "y"), {}), Error); });
  EXPECT_NE(failure(*zero, "z"), first) << "a new round: everybody knows of the failed one";
  later.join();
}

// Rank 1 stays away for longer than the limit, but never without a sign of life.
TEST(Allgather, APeerThatShowsSignsOfLifeIsNoStall) {
  constexpr auto kStall = 1000ms;
  const auto all = outcomes(2, kStall, [&](base::RankId rank, Communicator& communicator) {
    const auto start = std::chrono::steady_clock::now();
    while (rank.value == 1 && std::chrono::steady_clock::now() - start < kStall * 3 / 2) {
      communicator.publish({1, 1, "unchanged", false});
      std::this_thread::yield();
    }
    communicator.allgather(envelope_of(1, "x"), {});
  });
  EXPECT_EQ(all[0].text, "");
  EXPECT_EQ(all[1].text, "");
}

TEST(Allgather, ManyRanksAgreeThroughManyRoundsAndRandomDepartures) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 5);
    std::vector<int> rounds_of(static_cast<std::size_t>(ranks), 20);
    for (int& rounds : rounds_of) {
      if (random() % 3 == 0) rounds = static_cast<int>(random() % 20);
    }
    const int least = *std::min_element(rounds_of.begin(), rounds_of.end());
    outcomes(ranks, kNever, [&](base::RankId rank, Communicator& communicator) {
      const int mine = rounds_of[static_cast<std::size_t>(rank.value)];
      int done = 0;
      try {
        for (; done < mine; ++done)
          communicator.allgather(envelope_of(static_cast<std::uint64_t>(done), "x"), {});
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::diverged);
      }
      EXPECT_EQ(done, least) << "seed " << seed << ", rank " << rank.value;
    });
  }
}

}  // namespace
}  // namespace nuna::cluster
