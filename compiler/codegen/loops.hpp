#pragma once
// Counted loops in IR, built around what a callable inserts.

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace nuna::compiler {

/// for (i = begin; i < end; ++i) body(i), with begin < end (unsigned): the condition stands at the bottom. `body` inserts at the
/// builder's place and leaves it where the next round begins; afterwards the builder stands behind the loop. Returns the loop's
/// branch, for metadata.
inline llvm::BranchInst* build_loop(llvm::IRBuilder<>& at, llvm::Value* begin, llvm::Value* end,
                                    const char* name, llvm::function_ref<void(llvm::Value*)> body) {
  auto* function = at.GetInsertBlock()->getParent();
  auto* before = at.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(at.getContext(), name, function);
  at.CreateBr(loop);
  at.SetInsertPoint(loop);
  auto* index = at.CreatePHI(begin->getType(), 2, name);
  index->addIncoming(begin, before);
  body(index);
  auto* next = at.CreateAdd(index, llvm::ConstantInt::get(begin->getType(), 1), "", true, true);
  index->addIncoming(next, at.GetInsertBlock());
  auto* done = llvm::BasicBlock::Create(at.getContext(), "done", function);
  auto* branch = at.CreateCondBr(at.CreateICmpULT(next, end), loop, done);
  at.SetInsertPoint(done);
  return branch;
}

}  // namespace nuna::compiler
