#pragma once
// What the optimiser may know of a thread loop's memory accesses.

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <cstdint>
#include <vector>

namespace nuna::compiler {

/// Metadata of one function: accesses that are independent from thread to thread, and memory that only we address.
class MemoryScopes {
 public:
  explicit MemoryScopes(llvm::LLVMContext& context);

  /// Tells of memory that all threads of a loop use, one after the other, each as its own.
  void add_array(const llvm::AllocaInst& array) { arrays_.push_back(&array); }

  /// Of a kernel's own access, in a thread loop of group `group`.
  void mark_users(llvm::Instruction& access, llvm::MDNode* group) const;
  /// Of our access to what threads keep.
  void mark_kept(llvm::Instruction& access, llvm::MDNode* group) const;

  /// What a loop over threads runs over.
  enum class Threads : std::uint8_t {
    row,  ///< a block's row: unrolled whole where it is small, so that the loop over rows is an innermost one (prefetch.hpp)
    long_row,  ///< stays a loop when it has been vectorised
    lanes,  ///< a warp's: what runs instead of vectors, where indices might wrap or memory overlap, stays a loop; there are many
  };
  /// A group of accesses of one loop, and the loop's branch that says so.
  llvm::MDNode* make_group() const;
  void mark_parallel(llvm::BranchInst& branch, llvm::MDNode* group, Threads threads) const;
  /// A loop that is to stay as it is.
  void mark_plain(llvm::BranchInst& branch) const;

 private:
  /// Whether threads of a block may make this access in any order: no atomic, nothing volatile, no unknown call, no array.
  bool is_independent(const llvm::Instruction& access) const;
  bool may_be_array(const llvm::Value& address) const;

  llvm::LLVMContext& context_;
  std::vector<const llvm::AllocaInst*> arrays_;
  llvm::MDNode* kept_;
};

}  // namespace nuna::compiler
