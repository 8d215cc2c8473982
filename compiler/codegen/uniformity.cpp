#include "codegen/uniformity.hpp"

#include <llvm/ADT/GenericUniformityImpl.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

bool is_register(const llvm::Value& value, unsigned k) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  return instruction != nullptr && special_register_of(*instruction) == k;
}

constexpr int kDeepest = 8;  ///< what is made in more steps is not looked at

/// Whether the value is made of what all threads of a warp know.
bool is_of_warp(const llvm::Value& value, int depth = 0) {
  if (llvm::isa<llvm::Constant, llvm::Argument>(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (instruction == nullptr || depth > kDeepest) return false;
  if (const auto k = special_register_of(*instruction)) return *k != kThreadIdx && *k != kLane;
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst>(instruction) &&
         llvm::all_of(instruction->operands(),
                      [&](const auto& part) { return is_of_warp(*part, depth + 1); });
}

/// Whether the value is made of what all threads of a warp know, and a multiple of 32 where blockDim.x is.
bool is_whole_warps(const llvm::Value& value, int depth = 0) {
  using namespace llvm::PatternMatch;
  const llvm::APInt* by = nullptr;
  const llvm::Value* a = nullptr;
  const llvm::Value* b = nullptr;
  if (depth > kDeepest) return false;
  auto whole = [&](const llvm::Value& part) { return is_whole_warps(part, depth + 1); };
  if (match(&value, m_APInt(by))) return (*by & 31) == 0;
  if (match(&value, m_Shl(m_Value(a), m_APInt(by)))) return by->uge(5) && is_of_warp(*a);
  if (match(&value, m_ZExtOrSExt(m_Value(a))) || match(&value, m_Trunc(m_Value(a)))) return whole(*a);
  if (match(&value, m_Mul(m_Value(a), m_Value(b))))
    return (whole(*a) && is_of_warp(*b)) || (is_of_warp(*a) && whole(*b));
  if (match(&value, m_Add(m_Value(a), m_Value(b)))) return whole(*a) && whole(*b);
  return is_register(value, kBlockDim);
}

/// Whether the value is threadIdx.x and whole warps: counted through a warp, beginning at a multiple of 32.
bool counts_lanes(const llvm::Value& value, int depth = 0) {
  using namespace llvm::PatternMatch;
  const llvm::Value* a = nullptr;
  const llvm::Value* b = nullptr;
  if (depth > kDeepest) return false;
  if (match(&value, m_ZExtOrSExt(m_Value(a)))) return counts_lanes(*a, depth + 1);
  if (match(&value, m_Add(m_Value(a), m_Value(b))))
    return (is_whole_warps(*b) && counts_lanes(*a, depth + 1)) ||
           (is_whole_warps(*a) && counts_lanes(*b, depth + 1));
  return is_register(value, kThreadIdx);
}

/// Whether `value` tells warps of a row apart, and no lanes.
bool counts_warps(const llvm::Value& value) {
  using namespace llvm::PatternMatch;
  const llvm::Value* of = nullptr;
  const llvm::APInt* by = nullptr;
  if (match(&value, m_LShr(m_Value(of), m_APInt(by)))) return by->uge(5) && counts_lanes(*of);
  if (match(&value, m_UDiv(m_Value(of), m_APInt(by))) || match(&value, m_And(m_Value(of), m_APInt(by))))
    return !by->isZero() && (*by & 31) == 0 && counts_lanes(*of);
  llvm::ICmpInst::Predicate predicate;
  if (!match(&value, m_ICmp(predicate, m_Value(of), m_APInt(by))) || !counts_lanes(*of)) return false;
  if (llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isGE(predicate)) return (*by & 31) == 0;
  return (llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isLE(predicate)) && ((*by + 1) & 31) == 0;
}

class Divergence : public llvm::TargetTransformInfoImplCRTPBase<Divergence> {
 public:
  Divergence(const llvm::DataLayout& layout, Among among)
      : TargetTransformInfoImplCRTPBase(layout), among_(among) {}

  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const llvm::Value* value) const {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) return false;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) return !reads_constant(*load);
    if (llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst, llvm::VAArgInst>(
            instruction))
      return true;
    if (const auto k = special_register_of(*instruction))
      return *k == kThreadIdx || *k == kLane || (*k < kBlockIdx && among_ == Among::block);
    if (const auto intrinsic = intrinsic_of(*instruction)) {
      return intrinsic == Intrinsic::warp_barrier || intrinsic == Intrinsic::warp_slots;
    }
    const auto* call = llvm::dyn_cast<llvm::CallBase>(instruction);
    return call != nullptr && !call->doesNotAccessMemory();
  }
  bool isAlwaysUniform(const llvm::Value* value) const {
    return among_ == Among::warp && counts_warps(*value);
  }

 private:
  Among among_;
};

}  // namespace

bool reads_constant(const llvm::LoadInst& load) {
  if (load.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return true;
  const auto* argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return argument != nullptr && argument->hasNoAliasAttr() && argument->onlyReadsMemory();
}

Uniformity::Uniformity(llvm::Function& function, Among among)
    : dominators_(function), divergence_(Divergence(function.getParent()->getDataLayout(), among)) {
  cycles_.compute(function);
  info_ = std::make_unique<llvm::UniformityInfo>(dominators_, cycles_, &divergence_);
  info_->compute();
}

}  // namespace nuna::compiler
