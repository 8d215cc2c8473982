#include "codegen/wide_indices.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <map>
#include <vector>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

constexpr int kDeepest = 8;  ///< terms of terms

/// A sum, a difference, or a product that is taken not to wrap.
const llvm::Instruction* sum_of(const llvm::Value& value) {
  const auto* sum = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&value);
  if (sum == nullptr || !sum->hasNoSignedWrap() || !llvm::isa<llvm::Instruction>(sum)) return nullptr;
  const bool adds = sum->getOpcode() == llvm::Instruction::Add || sum->getOpcode() == llvm::Instruction::Sub;
  const bool multiplies = sum->getOpcode() == llvm::Instruction::Mul;
  return adds || multiplies ? llvm::cast<llvm::Instruction>(sum) : nullptr;
}

/// What a sum is made of.
struct Terms {
  bool thread = false;  ///< threadIdx.x
  bool others = false;  ///< anything that may be large
};

/// Whether the value has 16 bits, as constants that are added to indices do.
bool is_small(const llvm::Value& value, const llvm::DataLayout& layout) {
  return llvm::ComputeNumSignBits(&value, layout) > 16;
}

void gather(const llvm::Value& value, const llvm::DataLayout& layout, Terms& terms, int depth) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  const auto* sum = depth > 0 ? sum_of(value) : nullptr;
  if (sum != nullptr) {
    for (const auto& part : sum->operands()) gather(*part, layout, terms, depth - 1);
  } else if (instruction != nullptr && special_register_of(*instruction) == kThreadIdx) {
    terms.thread = true;
  } else {
    terms.others |= !is_small(value, layout);
  }
}

/// Whether LLVM may come to doubt that the sum stays within 32 bits, as it does not of threadIdx.x and what is small. Such sums stay as they
/// are: in 64 bits threadIdx.x + 1 would be one with the counter of the loop over threads, which is then no counter any more.
bool may_seem_to_wrap(const llvm::Value& value, const llvm::DataLayout& layout) {
  Terms terms;
  gather(value, layout, terms, kDeepest);
  return terms.thread && terms.others;
}

class Widener {
 public:
  explicit Widener(llvm::Function& kernel) : kernel_(kernel) {}

  llvm::Value* widened(llvm::Value& value, llvm::Type& type, int depth) {
    auto& made = made_[&value];
    if (made != nullptr && made->getType() == &type) return made;
    auto* wide = make(value, type, depth);
    return made_[&value] = wide;
  }

 private:
  llvm::Value* make(llvm::Value& value, llvm::Type& type, int depth) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    llvm::IRBuilder<> at(kernel_.getContext());
    if (instruction == nullptr) {
      at.SetInsertPoint(&*kernel_.getEntryBlock().getFirstInsertionPt());
      return at.CreateSExt(&value, &type);
    }
    const auto place = instruction->getInsertionPointAfterDef();
    at.SetInsertPoint(*place);
    at.SetCurrentDebugLocation(instruction->getDebugLoc());
    const auto* sum = depth > 0 ? sum_of(value) : nullptr;
    if (sum == nullptr) return at.CreateSExt(&value, &type);
    auto* left = widened(*sum->getOperand(0), type, depth - 1);
    auto* right = widened(*sum->getOperand(1), type, depth - 1);
    auto* wide = at.CreateBinOp(llvm::Instruction::BinaryOps(sum->getOpcode()), left, right);
    if (auto* made = llvm::dyn_cast<llvm::BinaryOperator>(wide)) made->setHasNoSignedWrap(true);
    return wide;
  }

  llvm::Function& kernel_;
  std::map<llvm::Value*, llvm::Value*> made_;
};

bool is_signed_index(const llvm::Instruction& instruction) {
  const auto* extension = llvm::dyn_cast<llvm::CastInst>(&instruction);
  if (extension == nullptr || !extension->getType()->isIntegerTy(64)) return false;
  return llvm::isa<llvm::SExtInst>(extension) ||
         (llvm::isa<llvm::ZExtInst>(extension) && extension->hasNonNeg());
}

}  // namespace

void widen_indices(llvm::Function& kernel) {
  const auto& layout = kernel.getParent()->getDataLayout();
  std::vector<llvm::Instruction*> indices;
  for (auto& instruction : llvm::instructions(kernel)) {
    if (is_signed_index(instruction) && may_seem_to_wrap(*instruction.getOperand(0), layout))
      indices.push_back(&instruction);
  }
  Widener widener(kernel);
  for (auto* index : indices) {
    index->replaceAllUsesWith(widener.widened(*index->getOperand(0), *index->getType(), kDeepest));
    index->eraseFromParent();
  }
}

}  // namespace nuna::compiler
