#include "topology/machine_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "nuna/error.hpp"
#include "topology/gathered.hpp"

namespace nuna::topology {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kGigabyte = 1'000'000'000;
constexpr std::int64_t kMicrosecond = 1'000'000;

constexpr MemoryId memory(int rank, int place) { return {base::RankId{rank}, base::PlaceId{place}}; }

const std::string kLab = R"(name = "lab"
source = "measured by me"
between_nodes = { bandwidth = "3.2 GB/s", latency = "2 us" }
[[node]]
name = "node"
count = 2
sockets = 2
cores = 8
memory = "24 GB"
ranks = 1
copy_bandwidth = "5 GB/s"
between_ranks = { bandwidth = "4 GB/s", latency = "1 us" }
between_sockets = { bandwidth = "3 GB/s", latency = "100 ns" }
[[node.bus]]
name = "pcie0"
socket = 0
bandwidth = "6 GB/s"
latency = "1 us"
[[node.bus]]
name = "pcie1"
socket = 1
peers = false
bandwidth = "6 GB/s"
latency = "1 us"
[[node.device]]
name = "gpu"
bus = "pcie0"
count = 2
memory = "6 GB"
copy_bandwidth = "72 GB/s"
threads = 448
copy_latency = "500 ns"
[[node.device]]
name = "gpu"
bus = "pcie1"
count = 2
memory = "6 GB"
copy_bandwidth = "72 GB/s"
)";

/// kLab with one text in place of another.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kLab;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Machine lab(const std::string& toml = kLab) { return read_machine(toml, "lab.toml"); }

/// The one line that refuses this text.
std::string refusal(const std::string& toml) {
  try {
    read_machine(toml, "lab.toml");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_setting);
    EXPECT_THAT(e.what(), AllOf(StartsWith("lab.toml:"), Not(HasSubstr("\n"))));
    return e.what();
  }
  return "accepted";
}

TEST(MachineFile, AddsTheNodesOfAType) {
  const Machine m = lab();
  EXPECT_EQ(m.name, "lab");
  EXPECT_EQ(m.source, "measured by me");
  ASSERT_EQ(m.nodes.size(), 2U);
  EXPECT_EQ(m.nodes[1].name, "node1");
  EXPECT_EQ(m.nodes[1].cores, 8);
  EXPECT_EQ(m.ranks.size(), 2U);
  EXPECT_EQ(m.buses.size(), 4U);
  EXPECT_EQ(m.buses[3].node, 1);
  EXPECT_EQ(m.memories.size(), 10U);
  EXPECT_EQ(m.devices.size(), 8U);
  EXPECT_EQ(m.devices[5].name, "gpu1");
  EXPECT_EQ(m.devices[7].bus, 3);
  EXPECT_EQ(m.devices[0].copy_latency_ps, kMicrosecond / 2);
  EXPECT_EQ(problem(m), "");
}

TEST(MachineFile, KeepsTheNameOfTheOnlyNode) {
  EXPECT_EQ(lab(changed("count = 2", "count = 1")).nodes[0].name, "node");
}

TEST(MachineFile, JoinsHostAndDevicesOverTheirBus) {
  const Machine m = lab();
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(0, 1)), (Speed{6 * kGigabyte, kMicrosecond}));
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 0)), (Speed{6 * kGigabyte, kMicrosecond}));
  EXPECT_FALSE(find_memory(m, memory(0, 1))->host_accessible);
}

TEST(MachineFile, CrossesToAnotherSocketAtTheSlowerRateAndBothLatencies) {
  const Machine m = lab();
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(0, 3)), (Speed{3 * kGigabyte, kMicrosecond + 100'000}));
  EXPECT_EQ(find_memory(m, memory(0, 3))->socket, 1);
}

TEST(MachineFile, JoinsPeersOnly) {
  const Machine m = lab();
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 2)), (Speed{6 * kGigabyte, kMicrosecond}));
  EXPECT_EQ(find_speed(m, memory(0, 3), memory(0, 4)), std::nullopt);  // on a bus without peers
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 3)), std::nullopt);  // on two buses
}

TEST(MachineFile, PeersMayHaveAWireOfTheirOwn) {
  const Machine m = lab(changed("socket = 0\n", "socket = 0\npeer_bandwidth = \"20 GB/s\"\n"));
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 2)), (Speed{20 * kGigabyte, kMicrosecond}));
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(0, 1)), (Speed{6 * kGigabyte, kMicrosecond}));
}

TEST(MachineFile, LetsRanksExchangeMessages) {
  const Machine m = lab(changed("ranks = 1", "ranks = 2"));
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(1, 0)), (Speed{4 * kGigabyte, kMicrosecond}));
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(2, 0)), (Speed{3'200'000'000, 2 * kMicrosecond}));
}

TEST(MachineFile, DividesANodeAmongItsRanks) {
  const Machine m = lab(changed("ranks = 1", "ranks = 2"));
  ASSERT_EQ(m.ranks.size(), 4U);
  EXPECT_EQ(m.ranks[1].cores, 4);
  EXPECT_EQ(m.ranks[2].node, 1);
  EXPECT_EQ(find_memory(m, memory(1, 0))->size_bytes, 12 * kGigabyte);
  EXPECT_EQ(find_memory(m, memory(1, 0))->socket, 1);
  EXPECT_EQ(m.devices[2].rank.value, 1);
  EXPECT_EQ(m.devices[2].device.value, 0);
  EXPECT_EQ(m.devices[2].name, "gpu2");
  EXPECT_EQ(find_speed(m, memory(1, 0), memory(1, 1)), (Speed{6 * kGigabyte, kMicrosecond}));
}

const std::string kHosts = R"([[node]]
name = "n"
cores = 4
memory = "16 GiB"
copy_bandwidth = "11 GB/s"
[[node.device]]
name = "host"
)";

TEST(MachineFile, ADeviceWithoutMemoryComputesInTheHostMemory) {
  const Machine m = lab(kHosts + "threads = 4\n");
  ASSERT_EQ(m.devices.size(), 1U);
  EXPECT_EQ(m.devices[0].place, base::kHostPlace);
  EXPECT_EQ(m.memories.size(), 1U);
}

TEST(MachineFile, HostDevicesAreJoinedWithAllMemoriesOfTheirRank) {
  const Machine m = lab(kHosts + "memory = \"2 GiB\"\ncount = 2\ncopy_bandwidth = \"9 GB/s\"\n");
  EXPECT_EQ(find_speed(m, memory(0, 0), memory(0, 1)), (Speed{9 * kGigabyte, 0}));
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 2)), (Speed{9 * kGigabyte, 0}));
  EXPECT_TRUE(find_memory(m, memory(0, 2))->host_accessible);
  EXPECT_FALSE(m.devices[0].bus.has_value());
}

TEST(MachineFile, ASingleLinkReplacesTheDerivedOne) {
  const std::string link =
      "[[link]]\nfrom = \"0:1\"\nto = \"0:2\"\nbandwidth = \"5 GB/s\"\nlatency = \"7 ps\"\n";
  const Machine m = lab(kLab + link);
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 2)), (Speed{5 * kGigabyte, 7}));
  EXPECT_EQ(find_speed(m, memory(0, 2), memory(0, 1)), (Speed{6 * kGigabyte, kMicrosecond}));
  EXPECT_EQ(m.links.size(), lab().links.size());
}

TEST(MachineFile, ASingleLinkJoinsWhatIsNotJoined) {
  const Machine m =
      lab(kLab + "[[link]]\nfrom = \"0:1\"\nto = \"0:3\"\nbandwidth = \"5 GB/s\"\nlatency = \"7 ps\"\n");
  EXPECT_EQ(find_speed(m, memory(0, 1), memory(0, 3)), (Speed{5 * kGigabyte, 7}));
}

TEST(MachineFile, IsWrittenAsItIsRead) {
  EXPECT_EQ(lab(write_machine(lab())), lab());
  EXPECT_EQ(lab(write_machine(lab(changed("ranks = 1", "ranks = 2")))),
            lab(changed("ranks = 1", "ranks = 2")));
  const std::vector<RankFacts> facts(3, RankFacts{.devices = 3, .shares_host_memory = 0});
  EXPECT_EQ(lab(write_machine(assemble(facts))), assemble(facts));
}

TEST(MachineFile, IsWrittenExactlyWhateverTheFigures) {
  std::mt19937_64 random(7);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(random) >> (random() % 40);
  };
  for (int round = 0; round < 200; ++round) {
    Machine m = lab();
    m.between_nodes.reset();
    m.name = "a \"name\" \\ with\tblanks\n, \x01 and \xc3\xbc";
    for (Memory& each : m.memories) {
      each.size_bytes = upto(INT64_MAX);
      each.copy_bytes_per_second = upto(INT64_MAX) + 1;
    }
    for (Device& each : m.devices) each.copy_latency_ps = upto(3'600'000'000'000'000);
    for (Link& each : m.links) each = {each.from, each.to, upto(INT64_MAX) / 2 + 1, upto(1'000'000'000)};
    ASSERT_EQ(problem(m), "");
    ASSERT_EQ(lab(write_machine(m)), m);
  }
}

TEST(MachineFile, WithAProblemIsNotWritten) {
  const base::ThrowOnPanic throwing;
  Machine m = lab();
  m.ranks[0].cores = 0;
  EXPECT_THROW(write_machine(m), base::BrokenInvariant);
  EXPECT_THROW(write_machine(Machine()), base::BrokenInvariant);
}

TEST(MachineFile, SyntaxErrorsAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal("name = \"lab\"\nsource = \n"), AllOf(StartsWith("lab.toml:2:"), HasSubstr("no TOML")));
  EXPECT_THAT(refusal("[[node]\n"), StartsWith("lab.toml:1:"));
  EXPECT_THAT(refusal("name = \"a\"\nname = \"b\"\n"), StartsWith("lab.toml:2:"));
  EXPECT_THAT(refusal("name = \"\xff\"\n"), StartsWith("lab.toml:1:"));
}

TEST(MachineFile, UnknownKeysAreRefusedWithTheNearestKnown) {
  EXPECT_THAT(refusal(changed("copy_bandwidth", "copy_bandwith")),
              AllOf(StartsWith("lab.toml:11:1: unknown key \"copy_bandwith\" in [[node]]"),
                    HasSubstr("\"copy_bandwidth\"")));
  EXPECT_THAT(refusal("nodes = 3\n"), AllOf(HasSubstr("\"node\""), HasSubstr("between_nodes")));
  EXPECT_THAT(refusal(changed("peers = false", "peer = false")),
              AllOf(HasSubstr("[[node.bus]]"), HasSubstr("\"peers\"")));
  EXPECT_THAT(refusal(changed("latency = \"2 us\"", "lag = \"2 us\"")), HasSubstr("between_nodes"));
}

TEST(MachineFile, UnknownUnitsAreRefused) {
  EXPECT_THAT(refusal(changed("\"24 GB\"", "\"24 GX\"")),
              AllOf(StartsWith("lab.toml:9:1: memory \"24 GX\""), HasSubstr("KiB")));
  EXPECT_THAT(refusal(changed("\"5 GB/s\"", "\"5 GB\"")), HasSubstr("GB/s"));
  EXPECT_THAT(refusal(changed("\"500 ns\"", "\"500\"")), HasSubstr("unit is missing"));
  EXPECT_THAT(refusal(changed("\"5 GB/s\"", "\"0 GB/s\"")), HasSubstr("above 0"));
  EXPECT_THAT(refusal(changed("\"5 GB/s\"", "\"-5 GB/s\"")), HasSubstr("no usable number"));
  EXPECT_THAT(refusal(changed("\"500 ns\"", "\"2 h\"")), HasSubstr("an hour at most"));
}

TEST(MachineFile, WrongTypesAreRefused) {
  EXPECT_THAT(refusal(changed("\"24 GB\"", "24")),
              HasSubstr("memory is a whole number: expected a size such as \"16 GiB\""));
  EXPECT_THAT(refusal(changed("cores = 8", "cores = \"8\"")),
              HasSubstr("cores is a text: expected a whole number"));
  EXPECT_THAT(refusal(changed("cores = 8", "cores = 8.5")), HasSubstr("a number with a point"));
  EXPECT_THAT(refusal(changed("cores = 8", "cores = 2026-01-01")), HasSubstr("a date or time"));
  EXPECT_THAT(refusal(changed("peers = false", "peers = 0")), HasSubstr("expected true or false"));
  EXPECT_THAT(refusal("between_nodes = \"1 GB/s\"\n"), HasSubstr("expected a table [between_nodes]"));
  EXPECT_THAT(refusal("[node]\nname = \"n\"\n"), HasSubstr("expected tables [[node]]"));
  EXPECT_THAT(refusal("node = [1, 2]\n"), HasSubstr("node is a list"));
}

TEST(MachineFile, MissingKeysAreRefused) {
  EXPECT_THAT(refusal(changed("memory = \"24 GB\"\n", "")),
              AllOf(StartsWith("lab.toml:4:"), HasSubstr("\"memory\" is missing")));
  EXPECT_THAT(refusal(changed("memory = \"6 GB\"\n", "")), HasSubstr("a device on a bus has memory"));
  EXPECT_THAT(refusal(changed("between_sockets = { bandwidth = \"3 GB/s\", latency = \"100 ns\" }\n", "")),
              HasSubstr("\"between_sockets\" is missing"));
  EXPECT_THAT(refusal(changed(", latency = \"2 us\"", "")), HasSubstr("\"latency\" is missing"));
}

TEST(MachineFile, NegativeAndAbsurdCountsAreRefused) {
  EXPECT_THAT(refusal(changed("count = 2", "count = -1")),
              HasSubstr("count is -1: expected a whole number from 1 to 65536"));
  EXPECT_THAT(refusal(changed("count = 2", "count = 0")), HasSubstr("is 0"));
  EXPECT_THAT(refusal(changed("count = 2", "count = 9223372036854775807")), HasSubstr("expected"));
  EXPECT_THAT(refusal(changed("count = 2", "count = 65536")), HasSubstr("use smaller counts"));
  EXPECT_THAT(refusal(changed("ranks = 1", "ranks = 65536")), HasSubstr("does not divide"));
  EXPECT_THAT(refusal(kHosts + "count = 4194304\n"), HasSubstr("count"));
  EXPECT_THAT(refusal(kHosts + "memory = \"1 B\"\ncount = 64\n"), HasSubstr("not a possible place"));
  std::string ranks = kHosts;
  ranks.insert(ranks.find("cores"), "ranks = 65536\ncount = 65536\n");
  EXPECT_THAT(refusal(ranks + "count = 4194304\n"), HasSubstr("devices"));
  EXPECT_THAT(refusal(ranks + "count = 65536\n"), HasSubstr("more than 65536 ranks"));
}

TEST(MachineFile, ADeviceOnABusThatDoesNotExistIsRefused) {
  EXPECT_THAT(refusal(changed("bus = \"pcie1\"", "bus = \"pcie7\"")),
              HasSubstr("bus is \"pcie7\", which the node does not have: expected one of pcie0, pcie1"));
  EXPECT_THAT(refusal(kHosts + "bus = \"x\"\n"), HasSubstr("expected a [[node.bus]]"));
}

TEST(MachineFile, WhatHasNoMeaningIsRefused) {
  EXPECT_THAT(refusal(kHosts + "copy_bandwidth = \"1 GB/s\"\n"), HasSubstr("without memory of its own"));
  EXPECT_THAT(refusal(changed("peers = false", "peers = false\npeer_latency = \"1 us\"")),
              HasSubstr("without peers"));
  EXPECT_THAT(refusal(changed("socket = 1", "socket = 2")), HasSubstr("from 0 to 1"));
}

TEST(MachineFile, DuplicatesAreRefused) {
  EXPECT_THAT(refusal(changed("name = \"pcie1\"", "name = \"pcie0\"")), HasSubstr("another bus"));
  std::string written = write_machine(lab());
  written += "\n[[link]]\nfrom = \"0:0\"\nto = \"0:1\"\nbandwidth = \"1 B/s\"\nlatency = \"0 ps\"\n";
  EXPECT_THAT(refusal(written), HasSubstr("described twice"));
}

const std::string kParts = R"([[node]]
name = "n"
cores = 2
[[rank]]
node = 0
cores = 2
[[memory]]
at = "0:0"
size = "1 GiB"
copy_bandwidth = "11 GB/s"
)";

TEST(MachineFile, CanNameEveryPart) {
  EXPECT_EQ(lab(kParts).memories.size(), 1U);
  EXPECT_EQ(lab(kParts + "[[device]]\nat = \"0:0\"\nnumber = 0\nname = \"host0\"\n").devices.size(), 1U);
}

TEST(MachineFile, InconsistentPartsAreRefusedWhereTheyStand) {
  EXPECT_THAT(refusal(kParts + "[[device]]\nat = \"0:5\"\nnumber = 0\nname = \"x\"\n"),
              AllOf(StartsWith("lab.toml:11:"), HasSubstr("place 5")));
  EXPECT_THAT(refusal(kParts + "[[device]]\nat = \"0:0\"\nnumber = 0\nname = \"x\"\nbus = 0\n"),
              HasSubstr("bus 0, which is not described"));
  EXPECT_THAT(refusal(kParts + "[[rank]]\nnode = 3\ncores = 1\n"),
              AllOf(StartsWith("lab.toml:11:"), HasSubstr("node 3")));
}

TEST(MachineFile, MemoriesAreNamedByRankAndPlace) {
  for (const char* name : {"", "0", "0:", ":0", "0:x", "-1:0", "0:0 ", "0:99999999999"}) {
    EXPECT_THAT(refusal(kParts + "[[device]]\nat = \"" + name + "\"\nnumber = 0\nname = \"x\"\n"),
                HasSubstr("expected a rank and a place such as \"0:1\""));
  }
}

TEST(MachineFile, TypesAndPartsAreNotMixed) {
  EXPECT_THAT(refusal(kParts + "[[node]]\nname = \"m\"\ncores = 1\nmemory = \"1 GB\"\n"),
              HasSubstr("[[node]] of a file with [[rank]]"));
  EXPECT_THAT(refusal(kHosts + "[[memory]]\nat = \"0:0\"\n"), HasSubstr("beside no [[rank]]"));
}

TEST(MachineFile, WithoutANodeIsRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("at least one [[node]]"));
  EXPECT_THAT(refusal("name = \"lab\"\n"), HasSubstr("at least one [[node]]"));
}

TEST(MachineFile, KeysThatAreNestedTooDeeplyAreRefused) {
  std::string deep = "a";
  for (int i = 0; i < 200'000; ++i) deep += ".a";
  EXPECT_THAT(refusal(deep + " = 1\n"), HasSubstr("64 levels"));
  EXPECT_THAT(refusal("name = " + std::string(100'000, '[')), HasSubstr("no TOML"));
}

TEST(MachineFile, EveryBeginningOfAFileIsReadOrRefused) {
  for (const std::string& whole : {kLab, write_machine(lab(kParts)), kHosts}) {
    for (std::size_t length = 0; length <= whole.size(); ++length) {
      try {
        EXPECT_EQ(problem(read_machine(std::string_view(whole).substr(0, length), "lab.toml")), "");
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::bad_setting);
        EXPECT_THAT(e.what(), StartsWith("lab.toml:"));
      }
    }
  }
}

TEST(MachineFile, EveryDamagedFileIsReadOrRefused) {
  const std::string whole =
      kLab + "[[link]]\nfrom = \"0:1\"\nto = \"0:3\"\nbandwidth = \"5 GB/s\"\nlatency = \"7 ps\"\n";
  const std::string letters = "09-\"[]{}=.,\n x:#\xff";
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(damaged.size() - 20);
      if (below(2) == 0) {
        damaged[at] = letters[below(letters.size())];
      } else {
        damaged.erase(at, below(20));
      }
    }
    try {
      EXPECT_EQ(problem(read_machine(damaged, "lab.toml")), "") << damaged;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_setting);
    }
  }
}

TEST(MachineFile, FilesThatAreNotThereAreRefusedByPath) {
  const auto refused = [](const std::filesystem::path& path) -> std::string {
    try {
      read_machine_file(path);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_setting);
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refused("/nowhere/lab.toml"), HasSubstr("/nowhere/lab.toml: there is no such file"));
  EXPECT_THAT(refused(std::filesystem::temp_directory_path()), HasSubstr("is a folder"));
  EXPECT_THAT(refused(""), HasSubstr("there is no such file"));
}

std::filesystem::path docs() { return std::filesystem::path(NUNA_TEST_SOURCE_DIR) / "docs"; }

TEST(MachineFile, ThoseThatAreShippedAreReadAndWritten) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(docs() / "machines")) {
    const Machine m = read_machine_file(entry.path());
    EXPECT_EQ(problem(m), "") << entry.path();
    EXPECT_FALSE(m.source.empty()) << entry.path();
    EXPECT_EQ(read_machine(write_machine(m), "copy.toml"), m) << entry.path();
    names.insert(entry.path().filename().string());
  }
  EXPECT_EQ(names, (std::set<std::string>{"h100.toml", "hpe.toml", "k80.toml", "laptop.toml"}));
}

TEST(MachineFile, ThatOfTheHpePaperHasItsTopology) {
  const Machine m = read_machine_file(docs() / "machines/hpe.toml");
  EXPECT_EQ(m.devices.size(), 8U);
  EXPECT_TRUE(are_peers(m, m.devices[0], m.devices[1]));
  EXPECT_FALSE(are_peers(m, m.devices[1], m.devices[2]));
  EXPECT_FALSE(are_peers(m, m.devices[0], m.devices[4]));  // the same place on the other node
}

TEST(MachineFile, ThatOfTheH100HasPeersOnly) {
  const Machine m = read_machine_file(docs() / "machines/h100.toml");
  ASSERT_EQ(m.devices.size(), 8U);
  for (const Device& device : m.devices) EXPECT_TRUE(are_peers(m, m.devices[0], device));
}

/// The examples of docs/machine-files.md: what stands between ```toml and ```.
std::vector<std::string> examples() {
  std::ifstream file(docs() / "machine-files.md");
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```toml") found.emplace_back();
    if (inside && line != "```") found.back() += line + "\n";
    if (line.starts_with("```")) inside = line == "```toml";
  }
  return found;
}

TEST(MachineFile, TheManualsExamplesAreRead) {
  const std::vector<std::string> toml = examples();
  ASSERT_EQ(toml.size(), 3U);
  EXPECT_EQ(lab(toml[0]).devices.size(), 4U);
  EXPECT_EQ(find_speed(lab(toml[0] + toml[1]), memory(0, 1), memory(0, 2)),
            (Speed{5'200'000'000, 1'500'000}));
  EXPECT_EQ(lab(toml[2]).devices.size(), 1U);
}

}  // namespace
}  // namespace nuna::topology
