#pragma once
// Where things lie in a block's scratch memory (nuna_cudart/image.h): a fixed part, then what each thread keeps, as arrays over
// the block's threads, then dynamic shared memory.

#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <vector>

#include "codegen/device_module.hpp"
#include "codegen/thread_code.hpp"

namespace nuna::compiler {

constexpr std::uint64_t kMaxWarps = 32;
constexpr std::uint64_t kMaxRowParts = 1024;
constexpr std::uint64_t kSlotWords = 256;  ///< two halves, of which exchanges take turns (warp_exchanges.hpp)
constexpr std::uint64_t kCacheLine = 64;

/// What a thread keeps: an array of `bytes` a thread, at fixed_bytes + threads * before.
struct PerThread {
  std::uint64_t before = 0;
  std::uint64_t bytes = 0;
};

struct BlockMemory {
  std::uint64_t cells = 0;                                      ///< 4 words of the block
  std::uint64_t slots = 0;                                      ///< kSlotWords words for each warp
  std::uint64_t group_counters = 0;                             ///< a program counter for each group
  std::map<const llvm::GlobalVariable*, std::uint64_t> shared;  ///< static __shared__ variables
  std::uint64_t shared_bytes = 0;                            ///< of static shared memory that the kernel uses
  std::map<const llvm::AllocaInst*, std::uint64_t> uniform;  ///< bytes_of_group for each group
  std::map<const llvm::AllocaInst*, PerThread>
      per_thread;      ///< others live within a group's turn: a word a lane
  PerThread counters;  ///< threads' own program counters
  PerThread masks;     ///< the lanes that a thread waits for
  std::uint64_t fixed_bytes = 0;
  std::uint64_t thread_bytes = 0;
};

/// What each group has for a uniform value of `bytes` bytes.
std::uint64_t bytes_of_group(std::uint64_t bytes);

/// Static shared memory of all functions that are no kernels: at the same place in every block.
using CommonShared = std::map<const llvm::GlobalVariable*, std::uint64_t>;

BlockMemory lay_out(const ThreadCode& code, const DeviceModule& device, const CommonShared& common);

}  // namespace nuna::compiler
