#include "route/route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "route/machines.hpp"
#include "topology/machine.hpp"

namespace nuna::route {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using topology::Machine;

Way way(Kind kind, const Machine& machine, const Ends& ends, Index bytes, const Findings& findings = {},
        const Limits& limits = {}) {
  const std::vector<Way> all = ways(machine, findings, ends, {bytes}, limits);
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kKinds));
  return *std::find_if(all.begin(), all.end(), [&](const Way& w) { return w.kind == kind; });
}

Way best(const Machine& machine, const Ends& ends, Index bytes, const Findings& findings = {}) {
  return ways(machine, findings, ends, {bytes}).front();
}

const Ends kPeers = between(memory(0, 1), memory(0, 2));        // gpu0 -> gpu1, on one bus
const Ends kAcrossBuses = between(memory(0, 1), memory(0, 3));  // gpu0 -> gpu2
const Ends kAcrossNodes = between(memory(0, 1), memory(1, 1));  // gpu0 -> gpu0 of the other node
const Ends kNeighbours = between(memory(0, 0), memory(1, 0));   // two host memories of one node
const Ends kFarHosts = between(memory(0, 0), memory(2, 0));     // of two nodes
const Ends kHostDevices = between(memory(0, 1), memory(1, 2));  // host devices of two ranks of one node

TEST(Routes, PeersOnOneBusCopyDirectly) {
  const Way first = best(hpe(), kPeers, kMiB);
  EXPECT_EQ(first.kind, Kind::direct);
  EXPECT_TRUE(first.possible);
  EXPECT_EQ(first.reason, "peers on bus pcie0, 6 GB/s");
  EXPECT_EQ(first.chunk_bytes, 0);
  EXPECT_EQ(first.blocks, 0);
}

TEST(Routes, DevicesOnDifferentBusesAreDoubleBuffered) {
  const Way first = best(hpe(), kAcrossBuses, 16 * kMiB);
  EXPECT_EQ(first.kind, Kind::staged);
  EXPECT_EQ(first.blocks, 2);
  EXPECT_EQ(first.reason, "through pinned blocks of the host memory, 6 GB/s, 2 blocks of 512 KiB");
  EXPECT_EQ(way(Kind::direct, hpe(), kAcrossBuses, kMiB).reason, "gpu0 and gpu2 are on different buses");
  EXPECT_FALSE(way(Kind::direct, hpe(), kAcrossBuses, kMiB).possible);
}

TEST(Routes, ABusWithoutPeerAccessIsNamed) {
  Machine machine = hpe();
  machine.buses[0].peers = false;
  std::erase_if(machine.links,
                [](const topology::Link& l) { return l.from == kPeers.from && l.to == kPeers.to; });
  EXPECT_EQ(best(machine, kPeers, kMiB).kind, Kind::staged);
  EXPECT_THAT(way(Kind::direct, machine, kPeers, kMiB).reason, HasSubstr("bus pcie0"));
}

TEST(Routes, HostAndDeviceCopyOverTheBus) {
  const Ends down = between(memory(0, 0), memory(0, 1));
  EXPECT_EQ(best(hpe(), down, kMiB).kind, Kind::direct);
  EXPECT_EQ(best(hpe(), down, kMiB).reason, "over bus pcie0, 6 GB/s");
  EXPECT_TRUE(way(Kind::staged, hpe(), down, kMiB).possible) << "slower, and there if it must be";
}

TEST(Routes, WithinOneMemoryItsDeviceCopies) {
  const Ends same = between(memory(0, 1), memory(0, 1));
  const Way first = best(hpe(), same, 72'000'000);
  EXPECT_EQ(first.kind, Kind::same_memory);
  EXPECT_EQ(first.predicted_ps, kMicrosecond / 2 + 1000 * kMicrosecond);
  EXPECT_EQ(way(Kind::direct, hpe(), same, kMiB).reason, "both ends are one memory");
  EXPECT_FALSE(way(Kind::same_memory, hpe(), kPeers, kMiB).possible);
}

TEST(Routes, ADirectCopyCostsItsLatenciesAndItsBytes) {
  EXPECT_EQ(best(hpe(), kPeers, 0).predicted_ps, kMicrosecond + kMicrosecond / 2);
  EXPECT_EQ(best(hpe(), kPeers, 6'000'000).predicted_ps,
            kMicrosecond + kMicrosecond / 2 + 1000 * kMicrosecond);
}

TEST(Routes, ALargeStagedTransferReachesTheRateOfItsSlowerLeg) {
  const Way w = way(Kind::staged, hpe(), kAcrossBuses, 16 * kMiB);
  const double seconds = static_cast<double>(w.predicted_ps) / 1e12;
  EXPECT_GE(static_cast<double>(16 * kMiB) / seconds, 0.95 * 6e9);
  EXPECT_LE(static_cast<double>(16 * kMiB) / seconds, 6e9);
}

TEST(Routes, TheSlowerLegBoundsAStagedTransfer) {
  Machine machine = hpe();
  for (topology::Link& link : machine.links) {
    if (link.from == memory(0, 0) && link.to == memory(0, 3)) link.bytes_per_second = 2 * kGigabyte;
  }
  EXPECT_THAT(way(Kind::staged, machine, kAcrossBuses, kMiB).reason, HasSubstr(", 2 GB/s"));
  EXPECT_GE(way(Kind::staged, machine, kAcrossBuses, 2'000'000'000).predicted_ps, 1'000'000 * kMicrosecond);
}

TEST(Routes, ASmallStagedTransferIsOneChunk) {
  const Way w = way(Kind::staged, hpe(), kAcrossBuses, 4 * kKiB);
  EXPECT_EQ(w.blocks, 1);
  EXPECT_EQ(w.chunk_bytes, Limits().least_chunk_bytes);
  EXPECT_THAT(w.reason, Not(HasSubstr(", 1 block")));
}

TEST(Routes, TheChunkGrowsLikeTheSquareRootOfTheSize) {
  const auto chunk = [](Index bytes) { return way(Kind::staged, hpe(), kAcrossBuses, bytes).chunk_bytes; };
  EXPECT_EQ(chunk(16 * kMiB), 2 * chunk(4 * kMiB));
  EXPECT_EQ(chunk(64 * kMiB), 2 * chunk(16 * kMiB));
  EXPECT_EQ(chunk(64 * kMiB), 4 * chunk(4 * kMiB));
  EXPECT_EQ(chunk(Index{1} << 36), Limits().most_chunk_bytes);
}

TEST(Routes, ChunksStayWithinTheLimits) {
  Limits limits{100'000, 150'000, 2};
  EXPECT_EQ(way(Kind::staged, hpe(), kAcrossBuses, kMiB * 64, {}, limits).chunk_bytes, 150'000);
  EXPECT_EQ(way(Kind::staged, hpe(), kAcrossBuses, 5, {}, limits).chunk_bytes, 100'000);
}

TEST(Routes, OneBlockOverlapsNothing) {
  const Limits one{64 * kKiB, 4 * kMiB, 1};
  const Way alone = way(Kind::staged, hpe(), kAcrossBuses, 64 * kMiB, {}, one);
  EXPECT_EQ(alone.blocks, 1);
  EXPECT_GT(alone.predicted_ps, way(Kind::staged, hpe(), kAcrossBuses, 64 * kMiB).predicted_ps * 18 / 10);
  const Limits none{64 * kKiB, 4 * kMiB, 0};
  EXPECT_THAT(way(Kind::staged, hpe(), kAcrossBuses, kMiB, {}, none).reason, HasSubstr("no blocks"));
}

TEST(Routes, BothDirectionsCostTheSameOnASymmetricMachine) {
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      const Way there = best(hpe(), between(memory(0, a), memory(0, b)), 3 * kMiB);
      const Way back = best(hpe(), between(memory(0, b), memory(0, a)), 3 * kMiB);
      EXPECT_EQ(there.kind, back.kind) << a << " " << b;
      EXPECT_EQ(there.predicted_ps, back.predicted_ps) << a << " " << b;
    }
  }
}

TEST(Routes, BetweenNodesDeviceMemoryIsPipelinedWithThreeBlocks) {
  const Way first = best(hpe(), kAcrossNodes, 64 * kMiB);
  EXPECT_EQ(first.kind, Kind::pipelined);
  EXPECT_EQ(first.blocks, 3);
  const double seconds = static_cast<double>(first.predicted_ps) / 1e12;
  EXPECT_GE(static_cast<double>(64 * kMiB) / seconds, 0.9 * 3e9);
  EXPECT_THAT(way(Kind::in_place, hpe(), kAcrossNodes, kMiB).reason, HasSubstr("MPI cannot reach"));
  EXPECT_EQ(way(Kind::direct, hpe(), kAcrossNodes, kMiB).reason, "only within a rank");
}

TEST(Routes, APacketCostsPackingTheMessageAndUnpacking) {
  const Way w = way(Kind::packed, hpe(), kAcrossNodes, 6'000'000);
  EXPECT_EQ(w.predicted_ps, (1500 + 1000'000 + 2000 + 2000'000 + 1500 + 1000'000) * kMicrosecond / 1000);
}

TEST(Routes, OneRunOfHostMemoryGoesInPlace) {
  EXPECT_EQ(best(host_devices(), kFarHosts, kMiB).kind, Kind::in_place);
  EXPECT_EQ(best(host_devices(), kHostDevices, 2 * kKiB).kind, Kind::in_place);
}

TEST(Routes, BoxesWithGapsDoNotGoInPlace) {
  for (const Load& load : {Load{kMiB, false, true}, Load{kMiB, true, false}}) {
    const std::vector<Way> all = ways(host_devices(), {}, kHostDevices, load);
    const auto it =
        std::find_if(all.begin(), all.end(), [](const Way& w) { return w.kind == Kind::in_place; });
    EXPECT_FALSE(it->possible);
    EXPECT_EQ(it->reason, "needs the whole message to be one run of bytes");
    EXPECT_NE(all.front().kind, Kind::in_place);
    EXPECT_TRUE(all.front().possible);
  }
}

TEST(Routes, HostMemoryIsMappedOnlyWithinANode) {
  EXPECT_TRUE(way(Kind::mapped, host_devices(), kNeighbours, kMiB).possible);
  EXPECT_EQ(best(host_devices(), kNeighbours, kMiB).kind, Kind::mapped);
  EXPECT_EQ(way(Kind::mapped, host_devices(), kFarHosts, kMiB).reason, "the ranks are on different nodes");
  EXPECT_TRUE(way(Kind::mapped, host_devices(), kHostDevices, kMiB).possible)
      << "their memories are files, too";
  EXPECT_EQ(way(Kind::mapped, hpe(), kPeers, kMiB).reason, "only between ranks");
}

TEST(Routes, SmallMessagesAreMappedOnlyIfThereIsNoOtherWay) {
  EXPECT_EQ(best(host_devices(), kNeighbours, 4 * kKiB - 1).kind, Kind::in_place);
  EXPECT_EQ(best(host_devices(), kNeighbours, 4 * kKiB).kind, Kind::mapped);
  Findings findings;
  for (const Kind kind : {Kind::in_place, Kind::packed, Kind::pipelined})
    findings.refuse_all(kind, "not this time");
  EXPECT_EQ(best(host_devices(), kNeighbours, 1, findings).kind, Kind::mapped);
}

TEST(Routes, RanksWithoutMessagesHaveNoWay) {
  Machine machine = hpe();
  machine.between_nodes.reset();
  for (const Way& w : ways(machine, {}, kAcrossNodes, {kMiB})) EXPECT_FALSE(w.possible);
  EXPECT_EQ(way(Kind::packed, machine, kAcrossNodes, kMiB).reason, "rank 0 has no messages to rank 1");
}

TEST(Routes, UnknownMemoriesHaveNoWay) {
  for (const Ends& ends : {between(memory(0, 1), memory(0, 9)), between(memory(0, 9), memory(0, 1))}) {
    for (const Way& w : ways(hpe(), {}, ends, {kMiB})) {
      EXPECT_FALSE(w.possible);
      EXPECT_EQ(w.reason, "rank 0 place 9 is not described");
    }
  }
}

TEST(Routes, ARefusedKindMovesTheChoiceToTheNext) {
  Findings findings;
  findings.refuse(kPeers, Kind::direct, "the canary came back changed");
  findings.refuse(kPeers, Kind::direct, "a later reason");
  EXPECT_EQ(best(hpe(), kPeers, kMiB, findings).kind, Kind::staged);
  EXPECT_EQ(way(Kind::direct, hpe(), kPeers, kMiB, findings).reason, "the canary came back changed");
  EXPECT_EQ(best(hpe(), between(kPeers.to, kPeers.from), kMiB, findings).kind, Kind::direct);
}

TEST(Routes, AKindCanBeRefusedForAllPairs) {
  Findings findings;
  findings.refuse_all(Kind::mapped, "NUNA_ROUTES has no mapped");
  EXPECT_EQ(best(host_devices(), kNeighbours, kMiB, findings).kind, Kind::in_place);
  EXPECT_EQ(way(Kind::mapped, host_devices(), kNeighbours, kMiB, findings).reason,
            "NUNA_ROUTES has no mapped");
}

TEST(Routes, AMeasuredRateReplacesTheDescribedOne) {
  Findings findings;
  findings.measured(kPeers, Kind::direct, 1);
  findings.measured(kPeers, Kind::direct, kGigabyte);
  const Way w = way(Kind::direct, hpe(), kPeers, 1'000'000, findings);
  EXPECT_EQ(w.predicted_ps, 1001 * kMicrosecond + kMicrosecond / 2);
  EXPECT_THAT(w.reason, HasSubstr("measured, 1 GB/s"));
  EXPECT_EQ(best(hpe(), kPeers, kMiB, findings).kind, Kind::staged);
}

TEST(Routes, FindingsCompareByValue) {
  Findings a;
  Findings b;
  a.refuse(kPeers, Kind::direct, "why");
  EXPECT_FALSE(a == b);
  b.refuse(kPeers, Kind::direct, "why");
  EXPECT_TRUE(a == b);
  const base::ThrowOnPanic throwing;
  EXPECT_THROW(a.measured(kPeers, Kind::direct, 0), base::BrokenInvariant);
  EXPECT_THROW(a.refuse_all(Kind::direct, ""), base::BrokenInvariant);
}

TEST(Routes, PossibleWaysComeFirstByTimeTheOthersInTheOrderOfKinds) {
  for (const Ends& ends : {kPeers, kAcrossBuses, kAcrossNodes}) {
    const std::vector<Way> all = ways(hpe(), {}, ends, {kMiB});
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i - 1].possible, all[i].possible);
      EXPECT_FALSE(all[i].reason.empty());
      if (all[i].possible) {
        EXPECT_LE(all[i - 1].predicted_ps, all[i].predicted_ps);
      } else if (!all[i - 1].possible) {
        EXPECT_LT(all[i - 1].kind, all[i].kind);
      }
    }
  }
}

TEST(Routes, EqualTimesGoToTheFirstKind) {
  Machine machine = host_devices();
  for (topology::Node& node : machine.nodes) node.between_ranks = topology::Speed{11 * kGigabyte, 0};
  EXPECT_EQ(way(Kind::mapped, machine, kNeighbours, kMiB).predicted_ps,
            way(Kind::in_place, machine, kNeighbours, kMiB).predicted_ps);
  EXPECT_EQ(best(machine, kNeighbours, kMiB).kind, Kind::mapped);
}

/// 0, and around every power of two, and between them.
std::vector<Index> sizes() {
  std::vector<Index> all{0};
  for (int e = 0; e < 41; ++e) {
    const Index power = Index{1} << e;
    for (const Index bytes : {power - 1, power, power + 1, power + power / 3, power + power / 2})
      all.push_back(bytes);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Routes, MoreBytesNeverTakeLess) {
  const Limits three;
  const Limits two{10'000, 1'000'000, 2};
  for (const auto& [machine, ends] :
       {std::pair(hpe(), kPeers), std::pair(hpe(), kAcrossBuses), std::pair(hpe(), kAcrossNodes),
        std::pair(host_devices(), kNeighbours), std::pair(host_devices(), kHostDevices)}) {
    for (const Limits& limits : {three, two}) {
      std::vector<std::int64_t> before(kKinds, 0);
      for (const Index bytes : sizes()) {
        for (const Way& w : ways(machine, {}, ends, {bytes}, limits)) {
          std::int64_t& least = before[static_cast<std::size_t>(w.kind)];
          if (!w.possible) continue;
          ASSERT_GE(w.predicted_ps, least) << to_string(w.kind) << " " << bytes;
          least = w.predicted_ps;
        }
      }
    }
  }
}

TEST(Routes, TimesBeyondAllBoundsDoNotOverflow) {
  Machine machine = hpe();
  for (topology::Link& link : machine.links) link.bytes_per_second = 1;
  EXPECT_EQ(way(Kind::staged, machine, kAcrossBuses, Index{1} << 62).predicted_ps,
            std::numeric_limits<std::int64_t>::max());
}

TEST(Routes, EveryKindHasItsName) {
  std::set<std::string> names;
  for (int k = 0; k < kKinds; ++k) names.insert(to_string(static_cast<Kind>(k)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kKinds));
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace nuna::route
