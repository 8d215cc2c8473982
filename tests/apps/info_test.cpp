#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/sizes.hpp"
#include "nuna-info/kernel_limits.hpp"
#include "nuna-info/machine_json.hpp"
#include "nuna-info/mpi_facts.hpp"
#include "nuna-info/report.hpp"
#include "nuna-info/routes.hpp"
#include "nuna/error.hpp"
#include "topology/machine_file.hpp"

namespace nuna_info {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr nuna::Index kKiB = 1024;

std::string refusal(const std::string& text) {
  try {
    apps::parse_sizes(text, "--size");
  } catch (const nuna::Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Sizes, AreListsAndRanges) {
  EXPECT_THAT(apps::parse_sizes("1MiB,64KiB,64KiB", "--size"), ElementsAre(64 * kKiB, 1024 * kKiB));
  EXPECT_THAT(apps::parse_sizes("4KiB..64KiB", "--size"), ElementsAre(4 * kKiB, 16 * kKiB, 64 * kKiB));
  EXPECT_THAT(apps::parse_sizes("4KiB..60KiB", "--size"), ElementsAre(4 * kKiB, 16 * kKiB, 60 * kKiB));
}

TEST(Sizes, WithoutMeaningAreRefusedByOneLine) {
  EXPECT_THAT(refusal("0"), HasSubstr("--size \"0\""));
  EXPECT_THAT(refusal("many"), HasSubstr("is no size"));
  EXPECT_THAT(refusal(""), HasSubstr("is no size"));
  EXPECT_THAT(refusal("1MiB..4KiB"), HasSubstr("ends before it begins"));
  EXPECT_THAT(refusal("1PiB"), HasSubstr("64 GiB"));
}

class Limits : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }
  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  const fs::path root_ = fs::path(testing::TempDir()) / "nuna-info-limits";
};

std::string advice(const Section& section, const std::string& key) {
  for (const Fact& fact : section.facts) {
    if (fact.key == key) return fact.advice;
  }
  return "no such fact";
}

TEST_F(Limits, AreReadFromTheKernelsFiles) {
  file("proc/sys/vm/max_map_count", "65530\n");
  file("proc/sys/vm/overcommit_memory", "2\n");
  file("proc/sys/net/unix/max_dgram_qlen", "10\n");
  file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  file("proc/meminfo", "MemTotal:       1024 kB\n");
  file("proc/self/status", "Name:\tx\nCapEff:\t0000000000004000\n");
  const KernelLimits limits = read_kernel_limits(root_);
  EXPECT_EQ(limits.max_map_count, 65530);
  EXPECT_EQ(limits.overcommit, 2);
  EXPECT_EQ(limits.max_dgram_qlen, 10);
  EXPECT_EQ(limits.ptrace_scope, std::nullopt);
  EXPECT_EQ(limits.huge_pages, "madvise");
  EXPECT_EQ(limits.shared_huge_pages, "");
  EXPECT_EQ(limits.memory_bytes, 1024 * 1024);
  EXPECT_TRUE(limits.may_lock);
  EXPECT_FALSE(limits.may_trace);
}

TEST_F(Limits, ThatAreUnknownAreNotJudged) {
  const Section section = judge(KernelLimits{}, Needs{});
  for (const Fact& fact : section.facts) EXPECT_THAT(fact.advice, IsEmpty()) << fact.key;
}

TEST_F(Limits, ThatAreLowComeWithARemedy) {
  KernelLimits limits;
  limits.max_map_count = 1000;
  limits.locked_bytes = 64 * kKiB;
  limits.open_files = 100;
  limits.max_dgram_qlen = 1;
  limits.overcommit = 2;
  limits.shared_huge_pages = "never";
  limits.ptrace_scope = 1;
  limits.address_bytes = 1 << 30;
  Needs needs;
  needs.ranks_on_node = 4;
  const Section section = judge(limits, needs);
  EXPECT_THAT(advice(section, "max_map_count"), HasSubstr("sysctl vm.max_map_count"));
  EXPECT_THAT(advice(section, "memlock_bytes"), HasSubstr("ulimit -l 65536"));
  EXPECT_THAT(advice(section, "open_files"), HasSubstr("ulimit -n"));
  EXPECT_THAT(advice(section, "max_dgram_qlen"), HasSubstr("max_dgram_qlen=4"));
  EXPECT_THAT(advice(section, "overcommit_memory"), HasSubstr("vm.overcommit_memory=0"));
  EXPECT_THAT(advice(section, "shared_huge_pages"), HasSubstr("within_size"));
  EXPECT_THAT(advice(section, "ptrace_scope"), HasSubstr("CMA"));
  EXPECT_THAT(advice(section, "address_space_bytes"), HasSubstr("unlimited"));
}

TEST_F(Limits, OfLockedMemoryDoNotCountForWhoMayLock) {
  KernelLimits limits;
  limits.locked_bytes = 0;
  limits.may_lock = true;
  EXPECT_THAT(advice(judge(limits, Needs{}), "memlock_bytes"), IsEmpty());
}

TEST_F(Limits, NoLimitIsNotALowOne) {
  KernelLimits limits;
  limits.locked_bytes = limits.open_files = limits.address_bytes = -1;
  for (const Fact& fact : judge(limits, Needs{}).facts) EXPECT_THAT(fact.advice, IsEmpty()) << fact.key;
}

TEST(Words, TheChosenOneStandsInBrackets) {
  EXPECT_EQ(chosen_word("always within_size advise [never] deny force"), "never");
  EXPECT_EQ(chosen_word("never"), "");
}

const char* nothing(const char*) { return nullptr; }

TEST(Mpi, IsNamedByItsVersion) {
  EXPECT_EQ(implementation_name("Open MPI v4.1.4, package: Debian"), "Open MPI");
  EXPECT_EQ(implementation_name("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ofi"), "MPICH");
  EXPECT_EQ(implementation_name("Intel(R) MPI Library 2021.9"), "Intel(R) MPI");
  EXPECT_EQ(implementation_name("mine"), "");
}

TEST(Mpi, TheTransportIsToldAsFarAsItIsKnown) {
  EXPECT_EQ(transport_hint("MPICH Version:\t4\nMPICH Device:\tch4:ofi\nmore", nothing),
            "device ch4:ofi (as built)");
  EXPECT_EQ(transport_hint("Open MPI v4", nothing), "");
  const auto asked = [](const char* name) { return std::string(name) == "OMPI_MCA_pml" ? "ucx" : nullptr; };
  EXPECT_EQ(transport_hint("Open MPI v4", asked), "pml ucx (asked for by the environment)");
}

TEST(Mpi, CudaCompiledInAndCudaNowMayDiffer) {
  MpiFacts facts;
  facts.built_in = facts.initialised = true;
  facts.cuda_compiled = Answer::yes;
  facts.cuda_running = Answer::no;
  const std::string text = to_text(describe(facts));
  EXPECT_THAT(text, HasSubstr("compiled in: yes, at run time: no"));
  EXPECT_THAT(text, HasSubstr("13130"));
  facts.cuda_running = Answer::unknown;
  EXPECT_EQ(to_json(describe(facts)).at("cuda_running"), nullptr);
}

TEST(Mpi, ThatIsNotBuiltInIsAllThatIsTold) {
  const Json json = to_json(describe(MpiFacts{}));
  EXPECT_EQ(json.at("built_in"), false);
  EXPECT_FALSE(json.contains("transport"));
}

class OfHpe : public testing::Test {
 protected:
  const nuna::topology::Machine machine_ = nuna::topology::read_machine_file(
      std::filesystem::path(NUNA_TEST_SOURCE_DIR) / "docs/machines/hpe.toml");
};

TEST_F(OfHpe, TheRoutesNameTheChosenWayFirstAndWhyOthersAreNotPossible) {
  const std::string text = file_text(machine_, {16 * 1024 * kKiB});
  EXPECT_THAT(text, HasSubstr("rank 0 gpu0 -> rank 0 gpu1\n      16 MiB  direct"));
  EXPECT_THAT(text, HasSubstr("rank 0 gpu0 -> rank 0 gpu2\n      16 MiB  staged"));
  EXPECT_THAT(text, HasSubstr("gpu0 and gpu2 are on different buses"));
  EXPECT_THAT(text, HasSubstr("rank 0 gpu0 -> rank 1 gpu0\n      16 MiB  pipelined"));
}

TEST_F(OfHpe, TheJsonHasTheSame) {
  const Json json = file_json(machine_, {kKiB, 1024 * kKiB});
  EXPECT_EQ(json.at("machine"), to_json(machine_));
  const Json& routes = json.at("routes");
  EXPECT_EQ(routes.size(), 10u * 9);
  EXPECT_EQ(routes[0].at("sizes").size(), 2u);
  EXPECT_EQ(routes[0].at("sizes")[0].at("ways").size(), std::size_t(nuna::route::kKinds));
  EXPECT_TRUE(routes[0].at("sizes")[0].at("ways")[0].at("possible").get<bool>());
}

TEST_F(OfHpe, WhatTheRuntimeTakesIsToldWhereItDiffers) {
  Routes routes = routes_of(machine_, {kKiB}).front();
  routes.choices.front().taken = "mapped";
  EXPECT_THAT(to_text(to_json(routes), machine_), HasSubstr("1 KiB: messages go mapped"));
  routes.choices.front().taken = nuna::route::to_string(routes.choices.front().ways.front().kind);
  EXPECT_THAT(to_text(to_json(routes), machine_), Not(HasSubstr("messages go")));
}

TEST(Report, OfAMachineWithoutAContextIsStillAReport) {
  Findings findings;
  findings.build = describe_build();
  findings.ranks.push_back({0, Json{{"rank", 0}, {"host", nullptr}, {"limits", nullptr}}});
  findings.ranks.front().facts["places"] = findings.ranks.front().facts["routes"] = Json::array();
  findings.problems.emplace_back("no memory");
  EXPECT_EQ(to_json(findings).at("machine"), nullptr);
  EXPECT_EQ(to_json(findings).at("problems"), Json::array({"no memory"}));
  EXPECT_THAT(to_text(findings), HasSubstr("NUNA_MPI"));
}

}  // namespace
}  // namespace nuna_info
