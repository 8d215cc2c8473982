#pragma once
// What the optimiser may know of a thread loop's memory accesses.

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

namespace nuna::compiler {

/// Metadata of one function: accesses that are independent from thread to thread, and memory that only we address.
class MemoryScopes {
 public:
  explicit MemoryScopes(llvm::LLVMContext& context);

  /// Of a kernel's own access, in a thread loop of group `group`.
  void mark_users(llvm::Instruction& access, llvm::MDNode* group) const;
  /// Of our access to what threads keep.
  void mark_kept(llvm::Instruction& access, llvm::MDNode* group) const;

  /// A group of accesses of one loop, and the loop's branch that says so.
  llvm::MDNode* make_group() const;
  void mark_parallel(llvm::BranchInst& branch, llvm::MDNode* group) const;
  /// A loop that is to stay as it is.
  void mark_plain(llvm::BranchInst& branch) const;

 private:
  llvm::LLVMContext& context_;
  llvm::MDNode* kept_;
};

}  // namespace nuna::compiler
