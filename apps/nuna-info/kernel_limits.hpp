#pragma once
// Limits of the kernel that Nuna meets: read from /proc and /sys, then judged.
//
// Threads: any. Failure: none; what cannot be read is unknown, and is not judged.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "nuna-info/section.hpp"

namespace nuna_info {

/// As the kernel tells them; nothing where it does not.
struct KernelLimits {
  std::optional<std::int64_t> max_map_count;
  std::optional<std::int64_t> overcommit;  ///< vm.overcommit_memory: 0, 1, 2
  std::optional<std::int64_t> unprivileged_userfaultfd;
  std::optional<std::int64_t> ptrace_scope;
  std::optional<std::int64_t> max_dgram_qlen;
  std::string huge_pages;         ///< the chosen word of transparent_hugepage/enabled; empty: unknown
  std::string shared_huge_pages;  ///< of shmem_enabled
  std::optional<std::int64_t> cgroup_bytes;
  std::optional<std::int64_t> memory_bytes;  ///< of the host
  // Soft limits of the process; -1: none.
  std::optional<std::int64_t> locked_bytes;
  std::optional<std::int64_t> open_files;
  std::optional<std::int64_t> address_bytes;
  bool may_lock = false;   ///< CAP_IPC_LOCK: the limit on locked memory does not count
  bool may_trace = false;  ///< CAP_SYS_PTRACE
};

/// `root` stands before /proc and /sys.
KernelLimits read_kernel_limits(const std::filesystem::path& root = "/");

/// What Nuna would need of them.
struct Needs {
  std::int64_t staging_bytes = std::int64_t{64} << 20;  ///< to be locked, of each rank (NUNA_STAGING)
  int ranks_on_node = 1;
  int places = 1;  ///< of each rank
};
Section judge(const KernelLimits& limits, const Needs& needs);

/// The word in brackets: "madvise" of "always [madvise] never".
std::string chosen_word(const std::string& text);

}  // namespace nuna_info
