#include "codegen/shared_atomics.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

constexpr const char* kMark = "nuna.shared";

llvm::Value* address_of(llvm::Instruction& instruction) {
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return update->getPointerOperand();
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return exchange->getPointerOperand();
  return nullptr;
}

}  // namespace

void mark_shared_atomics(llvm::Function& kernel,
                         const std::function<bool(const llvm::GlobalVariable&)>& is_shared) {
  for (auto& instruction : llvm::instructions(kernel)) {
    auto* address = address_of(instruction);
    if (address == nullptr) continue;
    auto* object = llvm::getUnderlyingObject(address, 12);
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
    const auto* call = llvm::dyn_cast<llvm::Instruction>(object);
    if ((variable != nullptr && is_shared(*variable)) ||
        (call != nullptr && intrinsic_of(*call) == Intrinsic::dynamic_shared))
      instruction.setMetadata(kMark, llvm::MDNode::get(kernel.getContext(), {}));
  }
}

void lower_shared_atomics(llvm::Function& function) {
  for (auto& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!instruction.hasMetadata(kMark)) continue;
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      llvm::lowerAtomicRMWInst(update);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      llvm::lowerAtomicCmpXchgInst(exchange);
    }
  }
}

}  // namespace nuna::compiler
