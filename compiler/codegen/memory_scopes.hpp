#pragma once
// What the optimiser may know of a thread loop's memory accesses.

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

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

  /// A group of accesses of one loop, and the loop's branch that says so. A long loop stays one when it has been vectorised.
  llvm::MDNode* make_group() const;
  void mark_parallel(llvm::BranchInst& branch, llvm::MDNode* group, bool is_long) const;
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
