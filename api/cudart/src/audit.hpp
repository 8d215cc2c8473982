#pragma once
// The audit (NUNA_AUDIT): kernels of nunacc --audit tell of each byte before they touch it (__nuna_audit in image.h); here it is looked
// up in what the kernel's model says that this block touches. A launch of which something is not so fails, and says what.
//
// A block may read what its model says that it reads or writes, and write what it says that it may write; where the model is certain of
// a write, it must happen. Memory that nobody has allocated from CUDA is judged only where the model speaks of it, and so are reads of the
// program's variables. Models that refuse are not audited.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "access/polyhedral.hpp"
#include "images.hpp"
#include "tiles.hpp"

namespace nuna::cudart {

/// Where a pointer of a kernel's model leads, if not to an allocation of Memory: a device's own copy of one.
struct PointerPlace {
  std::uint32_t pointer = 0;
  Interval allocation;  ///< addresses
};

/// Of one kernel. Any thread.
class KernelAudit {
 public:
  explicit KernelAudit(const Function& function) : function_(function) {}

  void count_launch() { launches_.fetch_add(1); }
  /// Runs the blocks of `box` one by one, by `run_block`, which returns the kernel's error, until one fails; returns its error. Misses
  /// become the process's sticky error.
  int run(const nuna_block_call& box, std::span<const PointerPlace> places,
          const std::function<int(const nuna_block_call&)>& run_block);

  std::uint64_t launches() const { return launches_.load(); }
  std::uint64_t blocks() const { return blocks_.load(); }
  std::uint64_t misses() const { return misses_.load(); }

 private:
  struct Target;
  struct Claims;
  struct Numbers {
    std::tuple<Grid, Grid, std::vector<std::int64_t>> key;
    access::LaunchNumbers numbers;
  };

  std::vector<Target> targets_of(const nuna_block_call& call, std::span<const PointerPlace> places) const;
  Claims claims_of(const Numbers& numbers, const access::BlockBox& block, const std::vector<Target>& targets);
  bool judge(const class BlockAudit& block, const Claims& claims, const std::vector<Target>& targets,
             const nuna_block_call& call);
  bool is_known(Interval bytes, bool written, const std::vector<Target>& targets) const;
  void tell(const nuna_block_call& call, const Target* target, const std::string& does, Interval bytes,
            const std::string& at, const std::string& ends);

  const Function& function_;
  std::mutex mutex_;  // of all below but counts
  std::map<std::tuple<Grid, Grid, std::vector<std::int64_t>>, access::LaunchAccess> accesses_;
  int told_ = 0;
  std::atomic<std::uint64_t> launches_{0};
  std::atomic<std::uint64_t> blocks_{0};
  std::atomic<std::uint64_t> misses_{0};
};

/// Of the process. Any thread.
class Audit {
 public:
  /// A kernel's, or null where it is not audited: NUNA_AUDIT is off, its code does not tell, or its model refuses, which is said once.
  static KernelAudit* of(const Function& function);
  /// Says what was audited, if NUNA_AUDIT is on.
  static void report();

 private:
  static Audit* if_on();
  KernelAudit* find(const Function& function);
  std::unique_ptr<KernelAudit> make(const Function& function);

  std::mutex mutex_;
  std::map<const Function*, std::unique_ptr<KernelAudit>> kernels_;
  bool told_how_ = false;
};

}  // namespace nuna::cudart
