#pragma once
// What this process finds on its host: the cores it may run on, the memory it may use.
//
// Bindings count: cores outside the process's affinity (mpirun --bind-to, taskset, cgroup cpusets) are not
// there, and a cgroup's memory limit is the size of the memory. A core is a physical one; it is named by the
// operating system's number of its first allowed hardware thread, so that threads can be bound to it.
//
// Threads: any. Cost: tens of milliseconds, files of /sys; call it once. Failure: nuna::Error (unsupported)
// when hwloc cannot read the machine at all.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "nuna/box.hpp"
#include "topology/machine.hpp"

namespace nuna::topology {

struct NumaNode {
  int number = 0;  ///< the operating system's
  Index memory_bytes = 0;
  std::vector<int> cores;  ///< the allowed ones
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct HostResources {
  Node node;                       ///< the whole host: name, sockets, cores
  std::vector<int> allowed_cores;  ///< never empty
  Index memory_bytes = 0;          ///< of the host, or of this process's cgroup if that is less
  std::vector<NumaNode> numa_nodes;
};

HostResources discover_host();

/// Each host device's share of the allowed cores: allowed / devices neighbouring cores each, at least one.
/// With more devices than cores several share one. What does not divide evenly stays for the runtime's own
/// threads.
std::vector<std::vector<int>> divide_cores(const std::vector<int>& allowed, int devices);

/// The least memory limit (cgroup v2 or v1) that holds for the process whose /proc/PID/cgroup is
/// `membership`; nothing if there is none. `root` is where the cgroup file systems are mounted.
std::optional<Index> cgroup_memory_limit(const std::filesystem::path& root = "/sys/fs/cgroup",
                                         const std::filesystem::path& membership = "/proc/self/cgroup");

}  // namespace nuna::topology
