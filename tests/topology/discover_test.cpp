#include "topology/discover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "base/check.hpp"

namespace nuna::topology {
namespace {

using ::testing::ElementsAre;

TEST(DiscoverHost, FindsCoresAndMemory) {
  const HostResources host = discover_host();
  EXPECT_FALSE(host.node.name.empty());
  EXPECT_GE(host.node.sockets, 1);
  EXPECT_GE(host.node.cores, static_cast<int>(host.allowed_cores.size()));
  EXPECT_FALSE(host.allowed_cores.empty());
  EXPECT_GT(host.memory_bytes, Index{1} << 20);
}

TEST(DiscoverHost, AllowsOnlyCoresOfTheProcesssAffinity) {
  cpu_set_t affinity;
  ASSERT_EQ(sched_getaffinity(0, sizeof affinity, &affinity), 0);
  for (const int core : discover_host().allowed_cores) EXPECT_TRUE(CPU_ISSET(core, &affinity));
}

TEST(DiscoverHost, NumaNodesTogetherHoldTheAllowedCores) {
  const HostResources host = discover_host();
  ASSERT_FALSE(host.numa_nodes.empty());
  std::set<int> cores;
  for (const NumaNode& node : host.numa_nodes) cores.insert(node.cores.begin(), node.cores.end());
  EXPECT_EQ(cores, std::set<int>(host.allowed_cores.begin(), host.allowed_cores.end()));
}

TEST(DiscoverHost, SeesABindingToOneCore) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int last = discover_host().allowed_cores.back();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const HostResources bound = discover_host();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_THAT(bound.allowed_cores, ElementsAre(last));
}

TEST(DivideCores, GivesEachDeviceAnEqualRunOfNeighbours) {
  EXPECT_THAT(divide_cores({0, 1, 2, 3}, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(divide_cores({4, 6, 8}, 1), ElementsAre(ElementsAre(4, 6, 8)));
}

TEST(DivideCores, LeavesTheRestToTheRuntime) {
  EXPECT_THAT(divide_cores({0, 1, 2, 3, 4}, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(DivideCores, GivesEveryDeviceAtLeastOneCore) {
  EXPECT_THAT(divide_cores({5, 7}, 3), ElementsAre(ElementsAre(5), ElementsAre(7), ElementsAre(5)));
}

TEST(DivideCores, RefusesToDivideNothing) {
  const base::ThrowOnPanic throwing;
  EXPECT_THROW(divide_cores({}, 1), base::BrokenInvariant);
  EXPECT_THROW(divide_cores({0}, 0), base::BrokenInvariant);
}

/// A cgroup file system made of plain files.
class CgroupMemoryLimit : public ::testing::Test {
 protected:
  CgroupMemoryLimit() {
    std::string name = (std::filesystem::temp_directory_path() / "nuna-cgroup-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~CgroupMemoryLimit() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  std::optional<Index> limit() const { return cgroup_memory_limit(root_, root_ / "membership"); }

  std::filesystem::path root_;
};

TEST_F(CgroupMemoryLimit, IsTheLeastOfTheGroupAndItsAncestors) {
  write("membership", "0::/a/b");
  write("a/memory.max", "1000000");
  write("a/b/memory.max", "5000000");
  EXPECT_EQ(limit(), 1000000);
}

TEST_F(CgroupMemoryLimit, OfTheRootHoldsToo) {
  write("membership", "0::/");
  write("memory.max", "777");
  EXPECT_EQ(limit(), 777);
}

TEST_F(CgroupMemoryLimit, MaxIsNoLimit) {
  write("membership", "0::/a");
  write("a/memory.max", "max");
  EXPECT_EQ(limit(), std::nullopt);
}

TEST_F(CgroupMemoryLimit, OfVersion1IsRead) {
  write("membership", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/");
  write("memory/a/memory.limit_in_bytes", "4096");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(limit(), 4096);
}

TEST_F(CgroupMemoryLimit, IsAbsentWithoutFiles) {
  EXPECT_EQ(limit(), std::nullopt);
  write("membership", "0::/a\nnonsense");
  EXPECT_EQ(limit(), std::nullopt);
  write("a/memory.max", "x12");
  EXPECT_EQ(limit(), std::nullopt);
}

}  // namespace
}  // namespace nuna::topology
