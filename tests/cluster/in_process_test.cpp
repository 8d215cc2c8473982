#include "cluster/in_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto kNever = std::chrono::hours(1);

Envelope envelope_of(std::uint64_t sequence, const std::string& call = "exchange at a.cpp:1") {
  Envelope envelope;
  envelope.sequence = sequence;
  envelope.hash = sequence * 17;
  envelope.message = static_cast<std::uint32_t>(sequence % 5);
  envelope.call = call;
  return envelope;
}

std::vector<std::byte> bytes_of(std::uint64_t salt, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((salt * 131 + i * 7) & 0xFF);
  return bytes;
}

std::string diverged(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::diverged);
    return error.what();
  }
  return "no error";
}

struct Pair {
  InProcessCluster cluster{2, kNever};
  std::unique_ptr<Communicator> zero = cluster.join({0});
  std::unique_ptr<Communicator> one = cluster.join({1});
};

TEST(InProcess, KnowsItsRanks) {
  const Pair pair;
  EXPECT_EQ(pair.cluster.size(), 2);
  EXPECT_EQ(pair.one->rank(), base::RankId{1});
  EXPECT_EQ(pair.one->size(), 2);
}

TEST(InProcess, AMessageArrivesWithItsEnvelope) {
  const Pair pair;
  const auto sent = bytes_of(1, 100);
  std::vector<std::byte> into(100);
  const auto receive = pair.one->receive({0}, Envelope{}, into);
  EXPECT_FALSE(receive->test());
  pair.zero->send({1}, envelope_of(3), sent);
  EXPECT_TRUE(receive->test());
  EXPECT_TRUE(receive->test()) << "and stays";
  EXPECT_EQ(into, sent);
  EXPECT_EQ(receive->envelope().sequence, 3U);
  EXPECT_EQ(receive->envelope().hash, 51U);
  EXPECT_EQ(receive->envelope().message, 3U);
  EXPECT_EQ(receive->envelope().call, "exchange at a.cpp:1");
}

TEST(InProcess, ReceivesAreMatchedInTheOrderOfPostingWhicheverIsTested) {
  const Pair pair;
  std::vector<std::byte> first(8);
  std::vector<std::byte> second(8);
  const auto a = pair.one->receive({0}, Envelope{}, first);
  const auto b = pair.one->receive({0}, Envelope{}, second);
  pair.zero->send({1}, envelope_of(1), bytes_of(1, 8));
  EXPECT_FALSE(b->test());
  EXPECT_TRUE(a->test());
  pair.zero->send({1}, envelope_of(2), bytes_of(2, 8));
  EXPECT_TRUE(b->test());
  EXPECT_EQ(first, bytes_of(1, 8));
  EXPECT_EQ(second, bytes_of(2, 8));
}

TEST(InProcess, DestroyingAReceiveCancelsIt) {
  const Pair pair;
  {
    std::vector<std::byte> gone(8);
    const auto receive = pair.one->receive({0}, Envelope{}, gone);
  }
  pair.zero->send({1}, envelope_of(1), bytes_of(1, 8));
  std::vector<std::byte> into(8);
  EXPECT_TRUE(pair.one->receive({0}, Envelope{}, into)->test());
  EXPECT_EQ(into, bytes_of(1, 8));
}

TEST(InProcess, AnotherSizeIsADivergenceThatNamesBothCalls) {
  const Pair pair;
  pair.one->publish({9, 0, "a later call", false});
  std::vector<std::byte> into(10);
  const auto receive = pair.one->receive({0}, envelope_of(4, "copy at b.cpp:2"), into);
  pair.zero->send({1}, envelope_of(4), bytes_of(1, 12));
  const std::string expected =
      "rank 0 sent 12 bytes in exchange at a.cpp:1 where rank 1 expects 10 bytes in copy at b.cpp:2: let "
      "every rank "
      "make the same calls";
  EXPECT_EQ(diverged([&] { receive->test(); }), expected);
  EXPECT_EQ(diverged([&] { receive->test(); }), expected) << "it sticks";
}

TEST(InProcess, AFailureIsNewsWhateverItsSize) {
  const Pair pair;
  std::vector<std::byte> into(10);
  const auto receive = pair.one->receive({0}, Envelope{}, into);
  Envelope envelope = envelope_of(1);
  envelope.failure = "kernel 'heat' threw";
  pair.zero->send({1}, envelope, {});
  EXPECT_TRUE(receive->test());
  EXPECT_EQ(receive->envelope().failure, "kernel 'heat' threw");
}

TEST(InProcess, WhatALeavingRankSentIsStillReceived) {
  Pair pair;
  std::vector<std::byte> into(8);
  pair.zero->send({1}, envelope_of(1), bytes_of(1, 8));
  pair.zero.reset();
  EXPECT_TRUE(pair.one->receive({0}, Envelope{}, into)->test());
  EXPECT_EQ(into, bytes_of(1, 8));
}

TEST(InProcess, ARankThatLeftWithoutSendingIsNamed) {
  Pair pair;
  std::vector<std::byte> into(8);
  const auto receive = pair.one->receive({0}, envelope_of(3, "copy at b.cpp:2"), into);
  pair.zero->publish({2, 0, "launch 'heat' at heat.cpp:31", false});
  EXPECT_FALSE(receive->test());
  pair.zero.reset();
  EXPECT_EQ(diverged([&] { receive->test(); }),
            "rank 0 left after launch 'heat' at heat.cpp:31, but rank 1 waits for a message of it in copy at "
            "b.cpp:2: "
            "let every rank make the same calls");
}

TEST(InProcess, AMessageForARankThatLeftIsRefused) {
  Pair pair;
  pair.zero.reset();
  EXPECT_EQ(diverged([&] { pair.one->send({0}, envelope_of(1), {}); }),
            "rank 0 left before its first call, but rank 1 has a message for it in exchange at a.cpp:1: let "
            "every rank "
            "make the same calls");
}

TEST(InProcess, CommunicatorsAndReceivesOutliveTheClusterObject) {
  std::unique_ptr<Communicator> zero;
  std::unique_ptr<Receive> receive;
  std::vector<std::byte> into(8);
  {
    InProcessCluster cluster(2);
    zero = cluster.join({0});
    receive = cluster.join({1})->receive({0}, Envelope{}, into);  // its communicator is gone, too
  }
  EXPECT_FALSE(receive->test());
  zero.reset();
  EXPECT_THROW(receive->test(), Error);
}

TEST(InProcess, MisuseIsABrokenInvariant) {
  const base::ThrowOnPanic throwing;
  const Pair pair;
  std::vector<std::byte> into(8);
  EXPECT_THROW(InProcessCluster(0), base::BrokenInvariant);
  EXPECT_THROW(InProcessCluster(-1), base::BrokenInvariant);
  InProcessCluster cluster(2);
  EXPECT_THROW(cluster.join({2}), base::BrokenInvariant);
  EXPECT_THROW(pair.zero->send({0}, {}, {}), base::BrokenInvariant);
  EXPECT_THROW(pair.zero->send({2}, {}, {}), base::BrokenInvariant);
  EXPECT_THROW(pair.zero->receive({-1}, Envelope{}, into), base::BrokenInvariant);
  EXPECT_THROW(static_cast<void>(pair.zero->status_of({2})), base::BrokenInvariant);
  const auto receive = pair.zero->receive({1}, Envelope{}, into);
  EXPECT_THROW(static_cast<void>(receive->envelope()), base::BrokenInvariant);
}

TEST(InProcess, JoiningTwiceIsABrokenInvariantThatDoesNotUnseatTheFirst) {
  const base::ThrowOnPanic throwing;
  Pair pair;
  EXPECT_THROW(pair.cluster.join({0}), base::BrokenInvariant);
  EXPECT_FALSE(pair.one->status_of({0}).left);
  pair.zero.reset();
  EXPECT_THROW(pair.cluster.join({0}), base::BrokenInvariant) << "nor can a rank come back";
}

TEST(InProcess, StatusIsSeenAsPublishedAndLeavingIsFinal) {
  Pair pair;
  EXPECT_EQ(pair.one->status_of({0}).last_call, "");
  pair.zero->publish({3, 9, "copy at b.cpp:2", false});
  const Status status = pair.one->status_of({0});
  EXPECT_EQ(status.sequence, 3U);
  EXPECT_EQ(status.hash, 9U);
  EXPECT_EQ(status.last_call, "copy at b.cpp:2");
  EXPECT_FALSE(status.left);
  pair.zero->publish({4, 9, "close", true});
  pair.zero->publish({5, 9, "after the close", false});
  EXPECT_TRUE(pair.one->status_of({0}).left);
  EXPECT_EQ(pair.one->status_of({0}).sequence, 5U);
  EXPECT_EQ(pair.cluster.left_as({0}), 1U);
  EXPECT_EQ(pair.cluster.left_as({1}), 0U);
}

// Lets `act` happen on another thread while rank 1 sleeps on its bell until `done`. The bell looks again once
// a second even if nobody rings, so a missing ring shows as time: the rounds would outlast the test's time
// limit.
using Act = std::function<void(Pair&)>;
using Done = std::function<bool(Pair&)>;
void sleep_until(const Act& act, const Done& done) {
  for (int round = 0; round < 300; ++round) {
    base::Doorbell bell(0ns);  // sleeps at once
    Pair pair;
    pair.one->set_bell(&bell);
    std::atomic<int> looks{0};
    std::thread peer([&] {
      while (looks < 2) std::this_thread::yield();  // the sleeper has announced itself
      act(pair);
    });
    EXPECT_TRUE(bell.wait([&] { return ++looks > 0 && done(pair); }, kNever));
    peer.join();
  }
}

TEST(InProcess, TheBellRingsForAMessage) {
  sleep_until([](Pair& pair) { pair.zero->send({1}, envelope_of(1), {}); },
              [receive = std::shared_ptr<Receive>()](Pair& pair) mutable {
                if (receive == nullptr) receive = pair.one->receive({0}, Envelope{}, {});
                const bool arrived = receive->test();
                if (arrived) receive.reset();
                return arrived;
              });
}

TEST(InProcess, ADifferenceOfCallsIsFoundWhereverTheRanksAre) {
  Pair pair;
  pair.zero->publish({1, 10, "a", false});
  pair.one->publish({1, 11, "b", false});
  pair.one->publish({2, 12, "c", false});
  const auto found = pair.zero->difference_with({1}, envelope_of(1));
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("rank 0 made a (call 1) where rank 1 made b"), std::string::npos) << *found;
}

TEST(InProcess, ASenderWaitsForAReceiverThatIsFarBehind) {
  Pair pair;
  const std::vector<std::byte> bytes(std::size_t{40} << 20);
  EXPECT_TRUE(pair.zero->send({1}, envelope_of(1), bytes)->test());
  const auto second = pair.zero->send({1}, envelope_of(2), bytes);
  EXPECT_FALSE(second->test());
  std::vector<std::byte> into(bytes.size());
  EXPECT_TRUE(pair.one->receive({0}, Envelope{}, into)->test());
  EXPECT_TRUE(second->test());
}

TEST(InProcess, TheBellRingsForADeparture) {
  sleep_until([](Pair& pair) { pair.zero.reset(); },
              [](Pair& pair) { return pair.one->status_of({0}).left; });
}

TEST(InProcess, ABellMayGoOnceItsCommunicatorHas) {
  Pair pair;
  {
    base::Doorbell bell;
    pair.one->set_bell(&bell);
    pair.one.reset();
  }
  pair.zero->publish({1, 1, "rings whoever is left", false});
}

TEST(InProcess, EarlyMessagesOfASteadyExchangeReuseTheirBuffers) {
  const Pair pair;
  std::vector<std::byte> into(5000);
  const auto exchange = [&] {
    pair.zero->send({1}, envelope_of(1), into);
    pair.one->send({0}, envelope_of(1), into);
    EXPECT_TRUE(pair.one->receive({0}, Envelope{}, into)->test());
    EXPECT_TRUE(pair.zero->receive({1}, Envelope{}, into)->test());
  };
  exchange();
  const std::size_t before = pair.cluster.buffer_allocations();
  for (int i = 0; i < 100; ++i) exchange();
  EXPECT_EQ(pair.cluster.buffer_allocations(), before);
}

// The plan of a run that every rank derives from the seed: who sends what to whom, in which order.
struct Planned {
  int from;
  int to;
  std::size_t size;
};
std::vector<Planned> traffic(unsigned seed, int ranks, std::size_t messages) {
  std::mt19937 random(seed);
  std::vector<Planned> plan;
  while (plan.size() < messages) {
    const int from = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const int to = static_cast<int>(random() % static_cast<unsigned>(ranks));
    if (from != to) plan.push_back({from, to, random() % 10 == 0 ? random() % 20'000 : random() % 64});
  }
  return plan;
}

// One rank's share: sends all, posts receives a random number ahead, tests them in random order.
void take_part(const std::vector<Planned>& plan, int self, unsigned seed, Communicator& communicator,
               base::Doorbell& bell) {
  struct Open {
    std::size_t message;
    std::vector<std::byte> into;
    std::unique_ptr<Receive> receive;
  };
  std::mt19937 random(seed * 100 + static_cast<unsigned>(self));
  std::vector<Open> open;
  const auto complete_to = [&](std::size_t most) {
    bell.wait([&] {
      const std::size_t start = random();
      for (std::size_t look = open.size(); look > 0 && open.size() > most; --look) {
        const std::size_t i = (start + look) % open.size();
        Open& o = open[i];
        if (!o.receive->test()) continue;
        EXPECT_EQ(o.receive->envelope().sequence, o.message);
        EXPECT_EQ(o.into, bytes_of(o.message, o.into.size()));
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        look = open.size() + 1;  // every receive that may be ready is looked at before the sleep
      }
      return open.size() <= most;
    });
  };
  for (std::size_t m = 0; m < plan.size(); ++m) {
    if (plan[m].from == self) communicator.send({plan[m].to}, envelope_of(m), bytes_of(m, plan[m].size));
    if (plan[m].to != self) continue;
    open.push_back({m, std::vector<std::byte>(plan[m].size), nullptr});
    open.back().receive = communicator.receive({plan[m].from}, Envelope{}, open.back().into);
    if (random() % 4 == 0) complete_to(random() % 6);
  }
  complete_to(0);
}

TEST(InProcess, RandomTrafficOfManyRanksArrivesAsPlanned) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 6);
    const auto plan = traffic(seed, ranks, 600);
    run_ranks(
        ranks,
        [&](base::RankId rank, std::unique_ptr<Communicator> communicator) {
          base::Doorbell bell(1us);
          const auto own = std::move(communicator);  // goes before its bell
          own->set_bell(&bell);
          take_part(plan, rank.value, seed, *own, bell);
          own->allgather(envelope_of(plan.size()), {});
        },
        kNever);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(RunRanks, RunsEveryRankOnceOnAThreadOfItsOwn) {
  std::array<std::atomic<int>, 5> ran{};
  run_ranks(5, [&](base::RankId rank, std::unique_ptr<Communicator> communicator) {
    EXPECT_EQ(communicator->rank(), rank);
    ++ran[static_cast<std::size_t>(rank.value)];
    communicator->allgather(envelope_of(1), {});  // together: they run at the same time
  });
  for (const auto& times : ran) EXPECT_EQ(times, 1);
}

TEST(RunRanks, TheCauseIsRethrownNotWhatItCaused) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (const int culprit : {0, 2, 3}) {
      try {
        run_ranks(
            4,
            [&](base::RankId rank, std::unique_ptr<Communicator> communicator) {
              if (rank.value == culprit) throw std::out_of_range("the cause");
              std::vector<std::byte> into(1);
              if (rank.value == 1) communicator->allgather(envelope_of(1), {});
              base::Doorbell bell;
              const auto own = std::move(communicator);  // goes before its bell
              own->set_bell(&bell);
              const auto receive = own->receive({culprit}, Envelope{}, into);
              bell.wait([&] { return receive->test(); });
            },
            kNever);
        FAIL() << "nothing was thrown";
      } catch (const std::out_of_range& cause) {
        ASSERT_STREQ(cause.what(), "the cause");
      }
    }
  }
}

TEST(RunRanks, AnExceptionAfterTheEndOfTheCommunicatorIsRethrownToo) {
  EXPECT_THROW(run_ranks(2,
                         [](base::RankId rank, std::unique_ptr<Communicator> communicator) {
                           communicator.reset();
                           if (rank.value == 1) throw std::out_of_range("late");
                         }),
               std::out_of_range);
}

TEST(RunRanks, ARankThatEndsEarlyWithoutAnExceptionIsDiagnosedByTheOthers) {
  const std::string text = diverged([] {
    run_ranks(
        2,
        [](base::RankId rank, std::unique_ptr<Communicator> communicator) {
          if (rank.value == 0) communicator->allgather(envelope_of(1), {});
        },
        kNever);
  });
  EXPECT_THAT(text, testing::HasSubstr("rank 1 left before its first call, but rank 0 waits for it"));
}

}  // namespace
}  // namespace nuna::cluster
