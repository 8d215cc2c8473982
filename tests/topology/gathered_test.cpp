#include "topology/gathered.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nuna/error.hpp"

namespace nuna::topology {
namespace {

using ::testing::HasSubstr;

constexpr Index kGiB = Index{1} << 30;

constexpr MemoryId memory(int rank, int place) { return {base::RankId{rank}, base::PlaceId{place}}; }

RankFacts rank_on(const std::string& node, int devices) {
  RankFacts facts;
  set_node_name(facts, node);
  facts.host_memory_bytes = 16 * kGiB;
  facts.device_memory_bytes = 4 * kGiB;
  facts.node_cores = 8;
  facts.cores = 4;
  facts.devices = devices;
  facts.threads_per_device = 2;
  facts.shares_host_memory = devices == 1 ? 1 : 0;
  return facts;
}

Machine run_of(const std::vector<RankFacts>& ranks) { return assemble(ranks); }

TEST(Assemble, PutsRanksThatTellOneNameOnOneNode) {
  const Machine m = run_of({rank_on("a", 1), rank_on("b", 1), rank_on("a", 1)});
  ASSERT_EQ(m.nodes.size(), 2U);
  EXPECT_EQ(m.nodes[0].name, "a");
  EXPECT_TRUE(same_node(m, base::RankId{0}, base::RankId{2}));
  EXPECT_FALSE(same_node(m, base::RankId{0}, base::RankId{1}));
  EXPECT_EQ(problem(m), "");
}

TEST(Assemble, GivesTheOneDeviceTheHostMemory) {
  const Machine m = run_of({rank_on("a", 1)});
  ASSERT_EQ(m.memories.size(), 1U);
  ASSERT_EQ(m.devices.size(), 1U);
  EXPECT_EQ(m.devices[0].place, base::kHostPlace);
  EXPECT_TRUE(m.links.empty());
  EXPECT_EQ(m.between_nodes, std::nullopt);
}

TEST(Assemble, GivesSeveralDevicesMemoriesOfTheirOwnThatAreAllJoined) {
  const Machine m = run_of({rank_on("a", 3)});
  ASSERT_EQ(m.memories.size(), 4U);
  EXPECT_EQ(m.memories[3].size_bytes, 4 * kGiB);
  EXPECT_EQ(m.devices[2].name, "host:2");
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to)
      EXPECT_EQ(find_speed(m, memory(0, from), memory(0, to)).has_value(), from != to);
  }
}

TEST(Assemble, LetsRanksExchangeMessages) {
  const Machine m = run_of({rank_on("a", 2), rank_on("a", 2), rank_on("b", 2)});
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(1, 0)), kMessagesWithinNode);
  EXPECT_EQ(find_speed(m, memory(1, 0), memory(2, 0)), kMessagesBetweenNodes);
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(1, 1)), std::nullopt);
}

TEST(Assemble, CutsNamesThatAreTooLong) {
  RankFacts facts = rank_on(std::string(200, 'x'), 1);
  EXPECT_EQ(assemble({&facts, 1}).nodes[0].name, std::string(63, 'x'));
}

/// Two ranks on one node with two devices each, on one bus, or each device on a bus of its own.
Machine described(bool one_bus) {
  Machine m;
  m.name = "lab";
  m.nodes = {{"lab", 2, 8, Speed{3'000'000'000, 7}}};
  m.ranks = {{0, 4}, {0, 4}};
  m.buses = {{0, "pcie0", 0, true}, {0, "pcie1", 1, true}};
  for (int r = 0; r < 2; ++r) {
    for (int p = 0; p < 3; ++p) {
      const base::PlaceId place{p};
      m.memories.push_back({base::RankId{r}, place, p == 2 ? 1 : 0, kGiB, 5'000'000'000 + p, p == 0});
      if (p == 0) continue;
      const int bus = one_bus || p == 1 ? 0 : 1;
      m.devices.push_back({base::RankId{r}, base::DeviceId{p - 1}, place, "gpu", 99, bus, 42});
      m.links.push_back({memory(r, 0), memory(r, p), 6'000'000'000, 11});
      m.links.push_back({memory(r, p), memory(r, 0), 6'000'000'000, 12});
    }
  }
  EXPECT_EQ(problem(m), "");
  return m;
}

TEST(WithRates, TakesRatesBusesAndLinksButKeepsWhatWasFound) {
  const Machine found = run_of({rank_on("a", 2), rank_on("a", 2)});
  const Machine m = with_rates(found, described(false));
  EXPECT_EQ(m.memories[1].copy_bytes_per_second, 5'000'000'001);
  EXPECT_EQ(m.memories[1].size_bytes, 4 * kGiB);
  EXPECT_TRUE(m.memories[1].host_accessible);
  EXPECT_EQ(m.devices[1].copy_latency_ps, 42);
  EXPECT_EQ(m.devices[1].name, "host:1");
  EXPECT_EQ(m.devices[1].threads, 2);
  EXPECT_EQ(find_speed(m, memory(1, 2), memory(1, 0)), (Speed{6'000'000'000, 12}));
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(1, 0)), (Speed{3'000'000'000, 7}));
  EXPECT_THAT(m.source, HasSubstr("\"lab\""));
}

TEST(WithRates, ImposesThatDevicesAreNoPeers) {
  const Machine found = run_of({rank_on("a", 2), rank_on("a", 2)});
  const Machine apart = with_rates(found, described(false));
  EXPECT_FALSE(are_peers(apart, apart.devices[0], apart.devices[1]));
  EXPECT_EQ(find_speed(apart, memory(0, 1), memory(0, 2)), std::nullopt);
  const Machine together = with_rates(found, described(true));
  EXPECT_TRUE(are_peers(together, together.devices[0], together.devices[1]));
}

TEST(WithRates, IgnoresWhatTheRunDoesNotHave) {
  const Machine m = with_rates(run_of({rank_on("a", 1)}), described(true));
  EXPECT_EQ(m.ranks.size(), 1U);
  EXPECT_TRUE(m.links.empty());
  EXPECT_TRUE(m.buses.empty());
}

TEST(WithRates, KeepsTheFilesMessagesWhereRanksLieOnOtherNodes) {
  const Machine apart = with_rates(run_of({rank_on("a", 2), rank_on("b", 2)}), described(false));
  EXPECT_EQ(find_speed(apart, memory(0, 0), memory(1, 0)), (Speed{3'000'000'000, 7}));
  EXPECT_EQ(find_speed(apart, memory(1, 0), memory(0, 0)), (Speed{3'000'000'000, 7}));
  EXPECT_EQ(problem(apart), "");
}

TEST(WithRates, LeavesMessagesOfWhichTheFileSaysNothing) {
  Machine file = described(true);
  file.nodes[0].between_ranks.reset();
  const Machine near = with_rates(run_of({rank_on("a", 2), rank_on("a", 2)}), file);
  EXPECT_EQ(find_speed(near, memory(0, 0), memory(1, 0)), kMessagesWithinNode);
  const Machine far = with_rates(run_of({rank_on("a", 2), rank_on("b", 2)}), file);
  EXPECT_EQ(find_speed(far, memory(0, 0), memory(1, 0)), kMessagesBetweenNodes);
}

TEST(WithRates, NamesTheFirstRankOrPlaceThatTheFileLacks) {
  const auto refusal = [](const Machine& found) -> std::string {
    try {
      with_rates(found, described(true));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_setting);
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal(run_of({rank_on("a", 1), rank_on("a", 1), rank_on("a", 1)})), HasSubstr("rank 2 "));
  EXPECT_THAT(refusal(run_of({rank_on("a", 1), rank_on("a", 3)})), HasSubstr("rank 1 place 3"));
}

}  // namespace
}  // namespace nuna::topology
