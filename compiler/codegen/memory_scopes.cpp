#include "codegen/memory_scopes.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>

namespace nuna::compiler {

MemoryScopes::MemoryScopes(llvm::LLVMContext& context) : context_(context) {
  llvm::MDBuilder builder(context);
  auto* domain = builder.createAnonymousAliasScopeDomain("nuna");
  kept_ = llvm::MDNode::get(context, builder.createAnonymousAliasScope(domain, "kept"));
}

bool MemoryScopes::may_be_array(const llvm::Value& address) const {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(&address, objects, nullptr, 32);
  return llvm::any_of(objects, [&](const llvm::Value* object) {
    if (llvm::isa<llvm::Constant>(object)) return false;
    if (!llvm::isa<llvm::LoadInst>(object)) return true;  // an array, or nobody knows what
    return llvm::any_of(arrays_,
                        [](const auto* array) { return llvm::PointerMayBeCaptured(array, true, true); });
  });
}

bool MemoryScopes::is_independent(const llvm::Instruction& access) const {
  if (access.isVolatile() || access.isAtomic()) return false;
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&access);
  return address != nullptr && (arrays_.empty() || !may_be_array(*address));
}

void MemoryScopes::mark_users(llvm::Instruction& access, llvm::MDNode* group) const {
  if (!access.mayReadOrWriteMemory()) return;
  access.setMetadata(llvm::LLVMContext::MD_noalias,
                     llvm::MDNode::concatenate(access.getMetadata(llvm::LLVMContext::MD_noalias), kept_));
  if (group != nullptr && is_independent(access))
    access.setMetadata(llvm::LLVMContext::MD_access_group, group);
}

void MemoryScopes::mark_kept(llvm::Instruction& access, llvm::MDNode* group) const {
  access.setMetadata(llvm::LLVMContext::MD_alias_scope, kept_);
  if (group != nullptr) access.setMetadata(llvm::LLVMContext::MD_access_group, group);
}

void MemoryScopes::mark_plain(llvm::BranchInst& branch) const {
  auto self = llvm::MDNode::getTemporary(context_, {});
  auto flag = [&](const char* name) {
    return llvm::MDNode::get(context_, {llvm::MDString::get(context_, name)});
  };
  auto* off = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context_));
  auto* scalar =
      llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.vectorize.enable"), off});
  auto* loop = llvm::MDNode::getDistinct(context_, {self.get(), scalar, flag("llvm.loop.unroll.disable")});
  loop->replaceOperandWith(0, loop);
  branch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

llvm::MDNode* MemoryScopes::make_group() const { return llvm::MDNode::getDistinct(context_, {}); }

void MemoryScopes::mark_parallel(llvm::BranchInst& branch, llvm::MDNode* group, Threads threads) const {
  auto* accesses =
      llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.parallel_accesses"), group});
  auto self = llvm::MDNode::getTemporary(context_, {});
  // Not unrolled before it is vectorised; behind that, where its length is known, and small.
  auto* whole = llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.disable")});
  auto* known =
      llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.runtime.disable")});
  auto* vectorised = llvm::MDNode::get(
      context_, {llvm::MDString::get(context_, "llvm.loop.isvectorized"),
                 llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), 1))});
  auto then = [&](const char* of, llvm::MDNode* unrolling) {
    return llvm::MDNode::get(context_, {llvm::MDString::get(context_, of), vectorised, unrolling});
  };
  auto* vectors =
      then("llvm.loop.vectorize.followup_vectorized", threads == Threads::long_row ? whole : known);
  auto* others = then("llvm.loop.vectorize.followup_epilogue", threads == Threads::row ? known : whole);
  auto* loop = llvm::MDNode::getDistinct(context_, {self.get(), accesses, whole, vectors, others});
  loop->replaceOperandWith(0, loop);
  branch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace nuna::compiler
