// Messages between ranks of one process by every way, over the communicator as it is.
#include "transfer/carrier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "cluster/in_process.hpp"
#include "nuna/error.hpp"
#include "topology/gathered.hpp"

namespace nuna::transfer {
namespace {

using cluster::Communicator;
using cluster::Envelope;
using route::Kind;

constexpr Index kMemory = Index{8} << 20;

/// Only one way between any two ranks, in chunks of this size.
struct Only {
  Kind kind;
  Index chunk = 4096;
  int blocks = 2;
  bool check = false;
  base::Injection injection = {};
};

// One rank with memory of its own and a carrier for which all ways are alike.
struct Side {
  Side(Communicator& communicator, const Only& only, Index staging_bytes = 4 * Staging::kBlockBytes)
      : memory(static_cast<std::size_t>(kMemory)),
        neighbours(communicator, {{memory.data()}, {-1}, kMemory}, {}),
        most_blocks(static_cast<int>(staging_bytes / Staging::kBlockBytes)),
        staging(staging_bytes),
        ways(machine(communicator.size()), findings(only), {only.chunk, only.chunk, only.blocks},
             communicator.rank()),
        carrier({{memory.data()}, only.injection, only.check}, communicator, &neighbours, staging, ways),
        random(static_cast<std::uint32_t>(communicator.rank().value)) {}

  static topology::Machine machine(int ranks) {
    topology::RankFacts facts;
    topology::set_node_name(facts, "here");
    facts.host_memory_bytes = kMemory;
    return topology::assemble(std::vector<topology::RankFacts>(static_cast<std::size_t>(ranks), facts));
  }
  static route::Findings findings(const Only& only) {
    route::Findings all;
    for (const Kind kind : {Kind::mapped, Kind::packed, Kind::pipelined}) {
      if (kind != only.kind) all.refuse_all(kind, "not this time");
    }
    return all;
  }

  // `rows` of `row` bytes, with gaps, from `at` on.
  Pieces pieces(Index at, Index rows, Index row, Index gap) {
    device::Region r;
    r.first = memory.data() + at;
    r.counts = {1, 1, rows};
    r.stride_bytes = {0, 0, row + gap};
    r.run_bytes = row;
    return {{base::kHostPlace, r}};
  }

  std::unique_ptr<cluster::Sending> send(base::RankId to, const Envelope& envelope, const Pieces& from) {
    return carrier.send(to, envelope, from, carrier.way_to(to, bytes_of(from), false));
  }
  std::unique_ptr<cluster::Receive> receive(base::RankId from, const Envelope& envelope, const Pieces& into) {
    return carrier.receive(from, envelope, into, carrier.way_from(from, bytes_of(into), false));
  }

  std::vector<std::byte> memory;
  cluster::Neighbours neighbours;
  int most_blocks;
  Staging staging;
  Ways ways;
  Carrier carrier;
  std::mt19937 random;
};

Envelope message(std::uint64_t sequence, std::uint32_t number = 0) {
  Envelope e;
  e.sequence = sequence;
  e.hash = sequence * 31;
  e.message = number;
  e.call = "call " + std::to_string(sequence);
  return e;
}

std::byte value_at(int rank, std::uint64_t sequence, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 7 + sequence * 13 + i * 3) % 251);
}

void put(const Pieces& pieces, int rank, std::uint64_t sequence) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(pieces)));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value_at(rank, sequence, i);
  unpack(pieces, bytes.data(), {0, bytes_of(pieces)});
}

void expect(const Pieces& pieces, int rank, std::uint64_t sequence) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(pieces)));
  pack(bytes.data(), pieces, {0, bytes_of(pieces)});
  for (std::size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(bytes[i], value_at(rank, sequence, i)) << "byte " << i << " of message " << sequence;
}

// Every rank to every other, both directions at once, with shapes of its own on each side.
void exchange(Side& side, Communicator& communicator, std::uint64_t sequence) {
  struct Going {
    std::unique_ptr<cluster::Sending> sending;
    std::unique_ptr<cluster::Receive> receive;
    Pieces into;
    int peer;
  };
  const int ranks = communicator.size();
  const int me = communicator.rank().value;
  std::mt19937 common(static_cast<std::uint32_t>(sequence));
  const Index rows = 1 + static_cast<Index>(common() % 50);
  const Index row = 8 * (1 + static_cast<Index>(common() % 120));
  std::vector<Going> going;
  const Index share = kMemory / (2 * ranks);
  for (int p = 0; p < ranks; ++p) {
    if (p == me) continue;
    const auto shape = [&](Index at) {
      const Index split = side.random() % 2 == 0 ? 8 : row;  // rows may be cut differently on both sides
      return side.pieces(at, rows * (row / split), split, static_cast<Index>(side.random() % 3));
    };
    const Pieces from = shape(p * share);
    put(from, me, sequence);
    const Pieces into = shape(kMemory / 2 + p * share);
    going.push_back({side.send({p}, message(sequence), from), nullptr, into, p});
    going.back().receive = side.receive({p}, message(sequence), into);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (bool all = false; !all; std::this_thread::yield()) {
    all = true;
    for (Going& g : going) {
      all = (g.sending == nullptr || g.sending->test()) && all;
      all = g.receive->test() && all;
    }
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "messages do not arrive";
    ASSERT_LE(side.staging.blocks(), side.most_blocks + 2 * (ranks - 1))
        << "one beyond the bound for each message";
  }
  for (const Going& g : going) expect(g.into, g.peer, sequence);
  communicator.allgather(message(sequence, 99), {});  // all have read before anybody writes again
}

class EveryWay : public testing::TestWithParam<Kind> {};

TEST_P(EveryWay, BringEveryByteWhateverItsShapeOnBothSides) {
  cluster::run_ranks(3, [](base::RankId, std::unique_ptr<Communicator> communicator) {
    Side side(*communicator, Only{GetParam(), 1000});
    for (std::uint64_t sequence = 1; sequence <= 40; ++sequence) exchange(side, *communicator, sequence);
  });
}

TEST_P(EveryWay, BringTheFailureOfTheBytesInsteadOfThem) {
  cluster::run_ranks(2, [](base::RankId me, std::unique_ptr<Communicator> communicator) {
    Side side(*communicator, Only{GetParam(), 1000});
    const Pieces pieces = side.pieces(0, 30, 100, 5);
    const std::vector<std::byte> before = side.memory;
    if (me.value == 0) {
      Envelope failed = message(1);
      failed.failure = "the kernel had no luck";
      failed.failure_code = ErrorCode::kernel_failed;
      const auto sending = side.send({1}, failed, pieces);
      while (!sending->test()) std::this_thread::yield();
    } else {
      const auto receive = side.receive({0}, message(1), pieces);
      while (!receive->test()) std::this_thread::yield();
      EXPECT_EQ(receive->envelope().failure, "the kernel had no luck");
    }
    EXPECT_EQ(side.memory, before) << "nothing else has come";
    communicator->allgather(message(1, 99), {});
    exchange(side, *communicator, 2);  // and what comes after it is not disturbed
  });
}

INSTANTIATE_TEST_SUITE_P(Carrier, EveryWay, testing::Values(Kind::mapped, Kind::pipelined),
                         [](const auto& kind) { return std::string(route::to_string(kind.param)); });

TEST(Carrier, NeedsOneStagingBlockForEachMessageAndNoMore) {
  cluster::run_ranks(4, [](base::RankId, std::unique_ptr<Communicator> communicator) {
    Side side(*communicator, Only{Kind::pipelined, 512, 8}, Staging::kBlockBytes);
    for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) exchange(side, *communicator, sequence);
    EXPECT_LE(side.staging.blocks(), 1);
  });
}

TEST(Carrier, NamesAMessageOfAnotherSizeInTheSendersMemory) {
  cluster::run_ranks(2, [](base::RankId me, std::unique_ptr<Communicator> communicator) {
    Side side(*communicator, Only{Kind::mapped});
    if (me.value == 0) {
      const auto sending = side.send({1}, message(1), side.pieces(0, 10, 100, 0));
      communicator->allgather(message(1, 99), {});
      return;
    }
    const auto receive = side.receive({0}, message(1), side.pieces(0, 10, 90, 0));
    try {
      for (int i = 0; i < 1'000'000'000 && !receive->test(); ++i) std::this_thread::yield();
      ADD_FAILURE() << "it was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::diverged);
    }
    communicator->allgather(message(1, 99), {});
  });
}

TEST_P(EveryWay, WithSumsBringsTheSame) {
  cluster::run_ranks(3, [](base::RankId, std::unique_ptr<Communicator> communicator) {
    Side side(*communicator, Only{GetParam(), 1000, 2, true});
    for (std::uint64_t sequence = 1; sequence <= 10; ++sequence) exchange(side, *communicator, sequence);
  });
}

TEST(Carrier, NamesBytesThatChangedOnTheWay) {
  cluster::run_ranks(2, [](base::RankId me, std::unique_ptr<Communicator> communicator) {
    Side side(*communicator, Only{Kind::pipelined, 1000, 2, true, base::Injection::parse("pipelined:wrong")});
    if (me.value == 0) {
      const auto sending = side.send({1}, message(1), side.pieces(0, 10, 100, 3));
      while (!sending->test()) std::this_thread::yield();
      communicator->allgather(message(1, 99), {});
      return;
    }
    const auto receive = side.receive({0}, message(1), side.pieces(0, 10, 100, 3));
    try {
      while (!receive->test()) std::this_thread::yield();
      ADD_FAILURE() << "nobody noticed";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::input_output);
    }
    communicator->allgather(message(1, 99), {});
  });
}

}  // namespace
}  // namespace nuna::transfer
