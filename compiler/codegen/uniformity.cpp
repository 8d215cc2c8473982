#include "codegen/uniformity.hpp"

#include <llvm/ADT/GenericUniformityImpl.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

class Divergence : public llvm::TargetTransformInfoImplCRTPBase<Divergence> {
 public:
  explicit Divergence(const llvm::DataLayout& layout) : TargetTransformInfoImplCRTPBase(layout) {}

  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const llvm::Value* value) const {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) return false;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) return !reads_constant(*load);
    if (llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst, llvm::VAArgInst>(
            instruction))
      return true;
    if (const auto k = special_register_of(*instruction)) return *k < kBlockIdx || *k == kLane;
    if (const auto intrinsic = intrinsic_of(*instruction)) {
      return intrinsic == Intrinsic::warp_barrier || intrinsic == Intrinsic::warp_slots;
    }
    const auto* call = llvm::dyn_cast<llvm::CallBase>(instruction);
    return call != nullptr && !call->doesNotAccessMemory();
  }
  bool isAlwaysUniform(const llvm::Value*) const { return false; }
};

}  // namespace

bool reads_constant(const llvm::LoadInst& load) {
  if (load.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return true;
  const auto* argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return argument != nullptr && argument->hasNoAliasAttr() && argument->onlyReadsMemory();
}

Uniformity::Uniformity(llvm::Function& function)
    : dominators_(function), divergence_(Divergence(function.getParent()->getDataLayout())) {
  cycles_.compute(function);
  info_ = std::make_unique<llvm::UniformityInfo>(dominators_, cycles_, &divergence_);
  info_->compute();
}

}  // namespace nuna::compiler
