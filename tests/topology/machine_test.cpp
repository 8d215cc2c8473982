#include "topology/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nuna::topology {
namespace {

using ::testing::HasSubstr;

constexpr Index kGiB = Index{1} << 30;

/// The node of the HPE paper's picture: two sockets, two devices on the bus of the first, one on that of the
/// second.
Machine picture() {
  Machine m;
  m.nodes = {{"n0", 2, 16}};
  m.ranks = {{0, 8}};
  const base::RankId rank{0};
  m.memories = {{rank, base::PlaceId{0}, 0, 64 * kGiB},
                {rank, base::PlaceId{1}, 0, 16 * kGiB},
                {rank, base::PlaceId{2}, 0, 16 * kGiB},
                {rank, base::PlaceId{3}, 1, 16 * kGiB}};
  m.devices = {{rank, base::DeviceId{0}, base::PlaceId{1}, "gpu:0", 1, 3},
               {rank, base::DeviceId{1}, base::PlaceId{2}, "gpu:1", 1, 3},
               {rank, base::DeviceId{2}, base::PlaceId{3}, "gpu:2", 1, 9}};
  m.links = {{rank, base::PlaceId{0}, rank, base::PlaceId{1}, 16'000'000'000, 1'000'000}};
  return m;
}

TEST(Machine, WithoutInconsistencyHasNoProblem) {
  EXPECT_EQ(problem(picture()), "");
  EXPECT_EQ(problem(Machine()), "");
}

TEST(Machine, DevicesOnOneBusArePeers) {
  const Machine m = picture();
  EXPECT_TRUE(are_peers(m, m.devices[0], m.devices[1]));
  EXPECT_FALSE(are_peers(m, m.devices[0], m.devices[2]));
}

TEST(Machine, BusesOfDifferentNodesAreDifferent) {
  Machine m = picture();
  m.nodes.push_back({"n1", 1, 8});
  m.ranks.push_back({1, 8});
  Device remote = m.devices[0];
  remote.rank = base::RankId{1};
  EXPECT_FALSE(same_node(m, base::RankId{0}, base::RankId{1}));
  EXPECT_FALSE(are_peers(m, m.devices[0], remote));
}

TEST(Machine, DevicesWithoutABusAreNoPeers) {
  Machine m = picture();
  m.devices[0].bus.reset();
  m.devices[1].bus.reset();
  EXPECT_FALSE(are_peers(m, m.devices[0], m.devices[1]));
}

TEST(Machine, FindsAMemoryByRankAndPlace) {
  const Machine m = picture();
  ASSERT_NE(find_memory(m, base::RankId{0}, base::PlaceId{3}), nullptr);
  EXPECT_EQ(find_memory(m, base::RankId{0}, base::PlaceId{3})->socket, 1);
  EXPECT_EQ(find_memory(m, base::RankId{0}, base::PlaceId{4}), nullptr);
  EXPECT_EQ(find_memory(m, base::RankId{1}, base::PlaceId{0}), nullptr);
}

TEST(Machine, EqualityComparesEverything) {
  EXPECT_EQ(picture(), picture());
  Machine m = picture();
  m.links[0].latency_ps += 1;
  EXPECT_FALSE(m == picture());
  m = picture();
  m.devices[2].bus = 3;
  EXPECT_FALSE(m == picture());
}

TEST(Machine, NamesTheFirstInconsistency) {
  const auto problem_after = [](auto&& change) {
    Machine m = picture();
    change(m);
    return problem(m);
  };
  EXPECT_THAT(problem_after([](Machine& m) { m.ranks[0].node = 1; }), HasSubstr("node 1"));
  EXPECT_THAT(problem_after([](Machine& m) { m.ranks[0].cores = 0; }), HasSubstr("no cores"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories.erase(m.memories.begin()); }),
              HasSubstr("no host memory"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].rank.value = 5; }), HasSubstr("rank 5 place 1"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].place.value = 99; }),
              HasSubstr("not a possible place"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].size_bytes = -1; }), HasSubstr("negative size"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].socket = 2; }), HasSubstr("socket"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].place.value = 2; }), HasSubstr("described twice"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].place.value = 7; }), HasSubstr("place 7"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].threads = 0; }), HasSubstr("no threads"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].device.value = 1; }), HasSubstr("described twice"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].to_rank.value = 3; }), HasSubstr("rank 3 place 1"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].bytes_per_second = 0; }),
              HasSubstr("moves no bytes"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].latency_ps = -1; }), HasSubstr("latency"));
}

TEST(Machine, ReadsAsText) {
  Machine m = picture();
  m.memories.resize(2);
  m.devices.resize(1);
  EXPECT_EQ(to_string(m),
            "node \"n0\", 2 sockets, 16 cores\n"
            "  rank 0, 8 cores\n"
            "    place 0: host memory, 64 GiB, socket 0\n"
            "    place 1: 16 GiB, socket 0\n"
            "      device 0 \"gpu:0\", 1 thread, bus 3\n"
            "link rank 0 place 0 -> rank 0 place 1: 16 GB/s, 1 us\n");
}

}  // namespace
}  // namespace nuna::topology
