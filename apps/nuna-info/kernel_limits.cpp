#include "nuna-info/kernel_limits.hpp"

#include <sys/resource.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "base/units.hpp"
#include "topology/discover.hpp"

namespace nuna_info {
namespace {

namespace fs = std::filesystem;
using nuna::base::print_bytes;

constexpr std::int64_t kNone = -1;
constexpr int kCapabilityIpcLock = 14;
constexpr int kCapabilityPtrace = 19;

std::string contents(const fs::path& path) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::optional<std::int64_t> number(const std::string& text, int base = 10) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> soft_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return kNone;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

// A line of /proc/self/status or /proc/meminfo: what stands behind "name:".
std::string field(const fs::path& path, const std::string& name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size() + 1, name + ":") != 0) continue;
    const std::size_t first = line.find_first_not_of(" \t", name.size() + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return {};
}

bool has_capability(const fs::path& root, int bit) {
  const auto set = number(field(root / "proc/self/status", "CapEff"), 16);
  return set && ((*set >> bit) & 1) != 0;
}

std::optional<std::int64_t> host_memory(const fs::path& root) {
  const std::string text = field(root / "proc/meminfo", "MemTotal");
  const auto kibibytes = number(text.substr(0, text.find(' ')));
  if (!kibibytes) return std::nullopt;
  return *kibibytes * 1024;
}

std::string counted(const std::optional<std::int64_t>& value) {
  if (!value) return "unknown";
  return *value == kNone ? "no limit" : std::to_string(*value);
}
std::string sized(const std::optional<std::int64_t>& value) {
  if (!value) return "unknown";
  return *value == kNone ? "no limit" : print_bytes(*value);
}

Json plain(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }
Json plain(const std::string& word) { return word.empty() ? Json(nullptr) : Json(word); }

bool below(const std::optional<std::int64_t>& value, std::int64_t least) {
  return value && *value != kNone && *value < least;
}

// Below this the kernel has been told to allow less than it does by itself.
constexpr std::int64_t kUsualMappings = 65'530;

Fact mappings(const KernelLimits& limits) {
  Fact fact{"max_map_count", "vm.max_map_count", plain(limits.max_map_count), counted(limits.max_map_count),
            ""};
  if (below(limits.max_map_count, kUsualMappings)) {
    fact.advice =
        "sysctl vm.max_map_count=65530, or 262144: memory that is opened and closed in pieces needs a "
        "mapping for each "
        "piece, and one more fails";
  }
  return fact;
}

Fact locked_memory(const KernelLimits& limits, const Needs& needs) {
  Fact fact{"memlock_bytes", "locked memory (ulimit -l)", plain(limits.locked_bytes),
            sized(limits.locked_bytes), ""};
  if (limits.may_lock) {
    fact.words += ", which does not count for this process (CAP_IPC_LOCK)";
  } else if (below(limits.locked_bytes, needs.staging_bytes)) {
    fact.advice =
        "ulimit -l " + std::to_string(needs.staging_bytes / 1024) +
        " (memlock in /etc/security/limits.conf, --ulimit memlock for a container): staging blocks of " +
        print_bytes(needs.staging_bytes) +
        " (NUNA_STAGING) are used without being locked, and DMA is slower from memory that may move";
  }
  return fact;
}

Fact open_files(const KernelLimits& limits, const Needs& needs) {
  Fact fact{"open_files", "open files (ulimit -n)", plain(limits.open_files), counted(limits.open_files), ""};
  // One of each place of each rank of the node, and what MPI and the program need.
  constexpr std::int64_t kOthers = 256;
  const std::int64_t least = std::int64_t{needs.ranks_on_node} * needs.places + kOthers;
  if (below(limits.open_files, least)) {
    fact.advice =
        "ulimit -n " + std::to_string(least) +
        " or more: memory of neighbours is mapped through one file a place; without it messages are packed";
  }
  return fact;
}

Fact datagrams(const KernelLimits& limits, const Needs& needs) {
  Fact fact{"max_dgram_qlen", "net.unix.max_dgram_qlen", plain(limits.max_dgram_qlen),
            counted(limits.max_dgram_qlen), ""};
  if (below(limits.max_dgram_qlen, needs.ranks_on_node - 1)) {
    fact.advice =
        "sysctl net.unix.max_dgram_qlen=" + std::to_string(needs.ranks_on_node) +
        ": the ranks of a node give each other descriptors through one queue each; where it is full they try "
        "again, and Contexts take longer to create";
  }
  return fact;
}

Fact shared_huge_pages(const KernelLimits& limits) {
  Fact fact{"shared_huge_pages", "huge pages, shared memory", plain(limits.shared_huge_pages),
            limits.shared_huge_pages.empty() ? "unknown" : limits.shared_huge_pages, ""};
  if (limits.shared_huge_pages == "never" || limits.shared_huge_pages == "deny") {
    fact.advice =
        "echo within_size > /sys/kernel/mm/transparent_hugepage/shmem_enabled: places that neighbours map "
        "are files in "
        "memory; in pages of 4 KiB their first touch costs several times more";
  }
  return fact;
}

Fact huge_pages(const KernelLimits& limits) {
  return {"huge_pages", "huge pages, private memory", plain(limits.huge_pages),
          limits.huge_pages.empty() ? "unknown" : limits.huge_pages, ""};
}

Fact overcommit(const KernelLimits& limits) {
  Fact fact{"overcommit_memory", "vm.overcommit_memory", plain(limits.overcommit), counted(limits.overcommit),
            ""};
  if (limits.overcommit == 2) {
    fact.words += " (strict)";
    fact.advice =
        "sysctl vm.overcommit_memory=0: Nuna reserves addresses that it does not use; with strict accounting "
        "its slots, "
        "and so the largest buffers, are smaller";
  }
  return fact;
}

Fact address_space(const KernelLimits& limits) {
  Fact fact{"address_space_bytes", "address space (ulimit -v)", plain(limits.address_bytes),
            sized(limits.address_bytes), ""};
  if (limits.address_bytes && *limits.address_bytes != kNone)
    fact.advice =
        "ulimit -v unlimited: Nuna reserves 1 TiB of addresses a memory, and takes half of what the limit "
        "allows";
  return fact;
}

Fact cgroup(const KernelLimits& limits) {
  Fact fact{"cgroup_memory_bytes", "memory of the cgroup", plain(limits.cgroup_bytes),
            limits.cgroup_bytes ? print_bytes(*limits.cgroup_bytes) : "no limit", ""};
  if (limits.cgroup_bytes && limits.memory_bytes && *limits.cgroup_bytes < *limits.memory_bytes)
    fact.words += ", of the host's " + nuna::base::rounded_bytes(*limits.memory_bytes);
  return fact;
}

Fact userfaultfd(const KernelLimits& limits) {
  return {"unprivileged_userfaultfd", "vm.unprivileged_userfaultfd", plain(limits.unprivileged_userfaultfd),
          counted(limits.unprivileged_userfaultfd) + " (no part of this version needs it)", ""};
}

Fact ptrace(const KernelLimits& limits, const Needs& needs) {
  Fact fact{"ptrace_scope", "kernel.yama.ptrace_scope", plain(limits.ptrace_scope),
            limits.ptrace_scope ? std::to_string(*limits.ptrace_scope) : "no Yama", ""};
  if (limits.ptrace_scope && *limits.ptrace_scope > 0 && !limits.may_trace && needs.ranks_on_node > 1) {
    fact.advice =
        "sysctl kernel.yama.ptrace_scope=0 if messages are slow: MPI's single copy (CMA) between the ranks "
        "of a node is "
        "refused, and MPI copies twice. Nuna's own mapped messages do not need it";
  }
  return fact;
}

}  // namespace

std::string chosen_word(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

KernelLimits read_kernel_limits(const fs::path& root) {
  KernelLimits limits;
  const fs::path sysctl = root / "proc/sys";
  const fs::path pages = root / "sys/kernel/mm/transparent_hugepage";
  limits.max_map_count = number(contents(sysctl / "vm/max_map_count"));
  limits.overcommit = number(contents(sysctl / "vm/overcommit_memory"));
  limits.unprivileged_userfaultfd = number(contents(sysctl / "vm/unprivileged_userfaultfd"));
  limits.ptrace_scope = number(contents(sysctl / "kernel/yama/ptrace_scope"));
  limits.max_dgram_qlen = number(contents(sysctl / "net/unix/max_dgram_qlen"));
  limits.huge_pages = chosen_word(contents(pages / "enabled"));
  limits.shared_huge_pages = chosen_word(contents(pages / "shmem_enabled"));
  limits.cgroup_bytes =
      nuna::topology::cgroup_memory_limit(root / "sys/fs/cgroup", root / "proc/self/cgroup");
  limits.memory_bytes = host_memory(root);
  limits.locked_bytes = soft_limit(RLIMIT_MEMLOCK);
  limits.open_files = soft_limit(RLIMIT_NOFILE);
  limits.address_bytes = soft_limit(RLIMIT_AS);
  limits.may_lock = has_capability(root, kCapabilityIpcLock);
  limits.may_trace = has_capability(root, kCapabilityPtrace);
  return limits;
}

Section judge(const KernelLimits& limits, const Needs& needs) {
  return {"limits",
          "limits of the kernel",
          {mappings(limits), locked_memory(limits, needs), userfaultfd(limits), huge_pages(limits),
           shared_huge_pages(limits), overcommit(limits), address_space(limits), cgroup(limits),
           open_files(limits, needs), datagrams(limits, needs), ptrace(limits, needs)}};
}

}  // namespace nuna_info
