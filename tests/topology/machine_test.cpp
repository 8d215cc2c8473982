#include "topology/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.hpp"

namespace nuna::topology {
namespace {

using ::testing::HasSubstr;

constexpr Index kGiB = Index{1} << 30;

constexpr std::int64_t kGigabyte = 1'000'000'000;

constexpr MemoryId memory(int rank, int place) { return {base::RankId{rank}, base::PlaceId{place}}; }

/// The node of the HPE paper's picture: two sockets, two devices on the bus of the first, one on that of the
/// second.
Machine picture() {
  Machine m;
  m.name = "picture";
  m.source = "the paper";
  m.nodes = {{"n0", 2, 16, {}}};
  m.ranks = {{0, 8}};
  m.buses = {{0, "pcie0", 0, true}, {0, "pcie1", 1, true}};
  const base::RankId rank{0};
  m.memories = {{rank, base::PlaceId{0}, 0, 64 * kGiB, 11 * kGigabyte, true},
                {rank, base::PlaceId{1}, 0, 16 * kGiB, 72 * kGigabyte, false},
                {rank, base::PlaceId{2}, 0, 16 * kGiB, 72 * kGigabyte, false},
                {rank, base::PlaceId{3}, 1, 16 * kGiB, 72 * kGigabyte, false}};
  m.devices = {{rank, base::DeviceId{0}, base::PlaceId{1}, "gpu:0", 1, 0, 500'000},
               {rank, base::DeviceId{1}, base::PlaceId{2}, "gpu:1", 1, 0, 500'000},
               {rank, base::DeviceId{2}, base::PlaceId{3}, "gpu:2", 1, 1, 500'000}};
  m.links = {{memory(0, 0), memory(0, 1), 16 * kGigabyte, 1'000'000}};
  return m;
}

/// Two nodes of two ranks each, without devices.
Machine cluster() {
  Machine m;
  m.nodes = {{"n0", 1, 4, Speed{8 * kGigabyte, 1'000'000}}, {"n1", 1, 4, Speed{7 * kGigabyte, 2'000'000}}};
  m.ranks = {{0, 2}, {0, 2}, {1, 2}, {1, 2}};
  for (int r = 0; r < 4; ++r)
    m.memories.push_back({base::RankId{r}, base::kHostPlace, 0, kGiB, 11 * kGigabyte, true});
  m.between_nodes = Speed{kGigabyte, 10'000'000};
  return m;
}

TEST(Machine, WithoutInconsistencyHasNoProblem) {
  EXPECT_EQ(problem(picture()), "");
  EXPECT_EQ(problem(cluster()), "");
  EXPECT_EQ(problem(Machine()), "");
}

TEST(Machine, DevicesOnOneBusArePeers) {
  const Machine m = picture();
  EXPECT_TRUE(are_peers(m, m.devices[0], m.devices[1]));
  EXPECT_FALSE(are_peers(m, m.devices[0], m.devices[2]));
}

TEST(Machine, DevicesOnABusWithoutPeerAccessAreNoPeers) {
  Machine m = picture();
  m.buses[0].peers = false;
  EXPECT_FALSE(are_peers(m, m.devices[0], m.devices[1]));
}

TEST(Machine, RanksOfOneNodeShareIt) {
  EXPECT_TRUE(same_node(cluster(), base::RankId{0}, base::RankId{1}));
  EXPECT_FALSE(same_node(cluster(), base::RankId{1}, base::RankId{2}));
}

TEST(Machine, DevicesWithoutABusAreNoPeers) {
  Machine m = picture();
  m.devices[0].bus.reset();
  m.devices[1].bus.reset();
  EXPECT_FALSE(are_peers(m, m.devices[0], m.devices[1]));
}

TEST(Machine, FindsAMemoryByRankAndPlace) {
  const Machine m = picture();
  ASSERT_NE(find_memory(m, memory(0, 3)), nullptr);
  EXPECT_EQ(find_memory(m, memory(0, 3))->socket, 1);
  EXPECT_EQ(find_memory(m, memory(0, 4)), nullptr);
  EXPECT_EQ(find_memory(m, memory(1, 0)), nullptr);
}

TEST(Machine, FindsTheDeviceOfAMemory) {
  const Machine m = picture();
  ASSERT_NE(find_device(m, memory(0, 3)), nullptr);
  EXPECT_EQ(find_device(m, memory(0, 3))->name, "gpu:2");
  EXPECT_EQ(find_device(m, memory(0, 0)), nullptr);
}

TEST(Machine, MemoriesOfOneRankAreJoinedByLinksOnly) {
  const Machine m = picture();
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(0, 1)), (Speed{16 * kGigabyte, 1'000'000}));
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 0)), std::nullopt);
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 2)), std::nullopt);
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(0, 0)), std::nullopt);
}

TEST(Machine, HostMemoriesOfTwoRanksAreJoinedByMessages) {
  const Machine m = cluster();
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(1, 0)), m.nodes[0].between_ranks);
  EXPECT_EQ(find_speed(m, memory(3, 0), memory(2, 0)), m.nodes[1].between_ranks);
  EXPECT_EQ(find_speed(m, memory(1, 0), memory(2, 0)), m.between_nodes);
  EXPECT_EQ(find_speed(m, memory(1, 1), memory(2, 0)), std::nullopt);
  EXPECT_EQ(find_speed(m, memory(1, 0), memory(9, 0)), std::nullopt);
}

TEST(Machine, ALinkStandsAboveTheMessagesOfItsNode) {
  Machine m = cluster();
  m.links = {{memory(0, 0), memory(1, 0), 3 * kGigabyte, 5}};
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(1, 0)), (Speed{3 * kGigabyte, 5}));
  EXPECT_EQ(find_speed(m, memory(1, 0), memory(0, 0)), m.nodes[0].between_ranks);
}

TEST(Machine, EqualityComparesEverything) {
  EXPECT_EQ(picture(), picture());
  Machine m = picture();
  m.links[0].latency_ps += 1;
  EXPECT_FALSE(m == picture());
  m = picture();
  m.devices[2].bus = 0;
  EXPECT_FALSE(m == picture());
  m = picture();
  m.source = "hearsay";
  EXPECT_FALSE(m == picture());
}

std::string problem_after(auto&& change) {
  Machine m = picture();
  change(m);
  return problem(m);
}

TEST(Machine, NamesAnInconsistencyOfANodeOrRank) {
  EXPECT_THAT(problem_after([](Machine& m) { m.nodes[0].sockets = 0; }), HasSubstr("no sockets"));
  EXPECT_THAT(problem_after([](Machine& m) { m.nodes[0].cores = -1; }), HasSubstr("no cores"));
  EXPECT_THAT(problem_after([](Machine& m) { m.nodes[0].between_ranks = Speed{0, 5}; }),
              HasSubstr("messages within node 0 moves no bytes"));
  EXPECT_THAT(problem_after([](Machine& m) { m.between_nodes = Speed{1, -5}; }),
              HasSubstr("messages between nodes has a negative latency"));
  EXPECT_THAT(problem_after([](Machine& m) { m.ranks[0].node = 1; }), HasSubstr("node 1"));
  EXPECT_THAT(problem_after([](Machine& m) { m.ranks[0].cores = 0; }), HasSubstr("no cores"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories.erase(m.memories.begin()); }),
              HasSubstr("no host memory"));
}

TEST(Machine, NamesAnInconsistencyOfAMemory) {
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].rank.value = 5; }), HasSubstr("rank 5 place 1"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].place.value = 99; }),
              HasSubstr("not a possible place"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].size_bytes = -1; }), HasSubstr("negative size"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].socket = 2; }), HasSubstr("socket"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].copy_bytes_per_second = 0; }),
              HasSubstr("copies no bytes"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[0].host_accessible = false; }),
              HasSubstr("cannot reach"));
  EXPECT_THAT(problem_after([](Machine& m) { m.memories[1].place.value = 2; }), HasSubstr("described twice"));
}

TEST(Machine, NamesAnInconsistencyOfABusOrDevice) {
  EXPECT_THAT(problem_after([](Machine& m) { m.buses[1].node = 4; }), HasSubstr("node 4"));
  EXPECT_THAT(problem_after([](Machine& m) { m.buses[1].socket = 2; }), HasSubstr("socket"));
  EXPECT_THAT(problem_after([](Machine& m) { m.buses[1].name = "pcie0"; }), HasSubstr("described twice"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].place.value = 7; }), HasSubstr("place 7"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].threads = 0; }), HasSubstr("no threads"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].copy_latency_ps = -1; }), HasSubstr("latency"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].device.value = 1; }), HasSubstr("described twice"));
  EXPECT_THAT(problem_after([](Machine& m) { m.devices[0].bus = 2; }), HasSubstr("bus 2"));
  EXPECT_THAT(problem_after([](Machine& m) {
                m.nodes.push_back({"n1", 2, 16, {}});
                m.buses[0].node = 1;
              }),
              HasSubstr("bus of another node"));
}

TEST(Machine, NamesAnInconsistencyOfALink) {
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].to.rank.value = 3; }), HasSubstr("rank 3 place 1"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].to = m.links[0].from; }), HasSubstr("with itself"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links.push_back(m.links[0]); }), HasSubstr("described twice"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].bytes_per_second = 0; }),
              HasSubstr("moves no bytes"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].latency_ps = -1; }), HasSubstr("latency"));
  EXPECT_THAT(problem_after([](Machine& m) { m.links[0].latency_ps = 3601 * base::kPicosecondsPerSecond; }),
              HasSubstr("more than an hour"));
  Machine m = cluster();
  m.memories.push_back({base::RankId{1}, base::PlaceId{1}, 0, kGiB, kGigabyte, true});
  m.links = {{memory(0, 0), memory(1, 1), kGigabyte, 0}};
  EXPECT_THAT(problem(m), HasSubstr("elsewhere than at their host memories"));
}

TEST(Machine, TellsWhichPartIsWrong) {
  Machine m = picture();
  m.devices[2].threads = 0;
  const std::optional<Problem> found = find_problem(m);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->part, Problem::Part::device);
  EXPECT_EQ(found->index, 2);
}

TEST(Machine, ReadsAsText) {
  Machine m = picture();
  m.memories.resize(2);
  m.devices.resize(1);
  m.buses.resize(1);
  m.nodes[0].between_ranks = Speed{8 * kGigabyte, 1'000'000};
  m.between_nodes = Speed{kGigabyte, 10'000'000};
  EXPECT_EQ(to_string(m),
            "machine \"picture\": the paper\n"
            "node \"n0\", 2 sockets, 16 cores; between its ranks 8 GB/s, 1 us\n"
            "  bus 0 \"pcie0\", socket 0, peers\n"
            "  rank 0, 8 cores\n"
            "    place 0: host memory, 64 GiB, socket 0, copies 11 GB/s\n"
            "    place 1: 16 GiB, socket 0, copies 72 GB/s, not for the host\n"
            "      device 0 \"gpu:0\", 1 thread, bus \"pcie0\", 500 ns a copy\n"
            "between nodes: 1 GB/s, 10 us\n"
            "link rank 0 place 0 -> rank 0 place 1: 16 GB/s, 1 us\n");
}

}  // namespace
}  // namespace nuna::topology
