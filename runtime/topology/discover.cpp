#include "topology/discover.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::topology {
namespace {

struct TopologyEnd {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, TopologyEnd>;

struct BitmapEnd {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, BitmapEnd>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) == 0) {
    Topology topology(raw);
    if (hwloc_topology_load(raw) == 0) return topology;
  }
  throw Error(
      ErrorCode::unsupported,
      "the host's cores and memories cannot be read (hwloc failed): check that /sys and /proc are mounted");
}

/// The hardware threads that the process may run on.
Bitmap allowed_threads(hwloc_topology_t topology) {
  Bitmap allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  const Bitmap bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
  }
  return allowed;
}

/// The first allowed hardware thread of every core that has one; of every thread, if the machine tells no
/// cores.
std::vector<int> cores_among(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
  const hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<int> cores;
  const Bitmap threads(hwloc_bitmap_alloc());
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, type, core)) != nullptr;) {
    hwloc_bitmap_and(threads.get(), core->cpuset, allowed);
    if (const int first = hwloc_bitmap_first(threads.get()); first >= 0) cores.push_back(first);
  }
  return cores;
}

std::vector<NumaNode> numa_nodes_of(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
  std::vector<NumaNode> nodes;
  const Bitmap threads(hwloc_bitmap_alloc());
  for (hwloc_obj_t numa = nullptr;
       (numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != nullptr;) {
    hwloc_bitmap_and(threads.get(), numa->cpuset, allowed);
    nodes.push_back({static_cast<int>(numa->os_index), static_cast<Index>(numa->attr->numanode.local_memory),
                     cores_among(topology, threads.get())});
  }
  return nodes;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

/// The number in a limit file; nothing if there is no such file or it says "max" or as good as that.
std::optional<Index> limit_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  if (!(in >> text)) return std::nullopt;
  Index bytes = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  constexpr Index kNoLimit = Index{1} << 60;  // version 1 says "none" by a number near 2^63
  if (failure != std::errc() || end != text.data() + text.size() || bytes >= kNoLimit) return std::nullopt;
  return bytes;
}

/// A group's limit is the least of its own and its ancestors'.
std::optional<Index> least_limit(const std::filesystem::path& mount, std::string_view group,
                                 const char* file) {
  std::optional<Index> least;
  std::filesystem::path path(group.substr(std::min(group.find_first_not_of('/'), group.size())));
  for (;;) {
    if (const auto limit = limit_in(mount / path / file)) least = std::min(least.value_or(*limit), *limit);
    if (path.empty()) return least;
    path = path.parent_path();
  }
}

bool lists_memory(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

}  // namespace

HostResources discover_host() {
  const Topology topology = load_topology();
  const Bitmap allowed = allowed_threads(topology.get());
  HostResources host;
  host.node.name = host_name();
  host.node.sockets = std::max(1, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE));
  host.node.cores = static_cast<int>(
      cores_among(topology.get(), hwloc_topology_get_topology_cpuset(topology.get())).size());
  host.allowed_cores = cores_among(topology.get(), allowed.get());
  if (host.allowed_cores.empty()) {
    throw Error(ErrorCode::unsupported,
                "this process may run on no core that hwloc knows: check its CPU binding");
  }
  host.numa_nodes = numa_nodes_of(topology.get(), allowed.get());
  host.memory_bytes = static_cast<Index>(hwloc_get_root_obj(topology.get())->total_memory);
  if (const auto limit = cgroup_memory_limit()) host.memory_bytes = std::min(host.memory_bytes, *limit);
  return host;
}

std::vector<std::vector<int>> divide_cores(const std::vector<int>& allowed, int devices) {
  base::check(!allowed.empty() && devices > 0, "there is nothing to divide: no cores or no devices");
  const std::size_t each = std::max<std::size_t>(1, allowed.size() / static_cast<std::size_t>(devices));
  std::vector<std::vector<int>> shares(static_cast<std::size_t>(devices));
  std::size_t next = 0;
  for (std::vector<int>& share : shares) {
    for (std::size_t i = 0; i < each; ++i) share.push_back(allowed[next++ % allowed.size()]);
  }
  return shares;
}

std::optional<Index> cgroup_memory_limit(const std::filesystem::path& root,
                                         const std::filesystem::path& membership) {
  std::ifstream groups(membership);
  std::optional<Index> least;
  for (std::string line; std::getline(groups, line);) {  // "hierarchy:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    std::optional<Index> limit;
    if (controllers.empty()) limit = least_limit(root, group, "memory.max");
    if (lists_memory(controllers)) limit = least_limit(root / "memory", group, "memory.limit_in_bytes");
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

}  // namespace nuna::topology
