#include "codegen/hoist_divisions.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace nuna::compiler {

namespace {

using Opcode = llvm::Instruction::BinaryOps;

bool divides(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
      return instruction.getType()->isIntegerTy();
    default:
      return false;
  }
}

/// The same result wherever there is one, and no trap where there is none.
llvm::Value* divided_safely(llvm::BinaryOperator& division, llvm::Instruction& before) {
  llvm::IRBuilder<> at(&before);
  auto* dividend = at.CreateFreeze(division.getOperand(0));
  auto* divisor = at.CreateFreeze(division.getOperand(1));
  auto* const zero = llvm::ConstantInt::getNullValue(division.getType());
  auto* bad = at.CreateICmpEQ(divisor, zero);
  const auto opcode = division.getOpcode();
  if (opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem) {
    auto* least = llvm::ConstantInt::get(
        division.getType(), llvm::APInt::getSignedMinValue(division.getType()->getIntegerBitWidth()));
    auto* overflows =
        at.CreateAnd(at.CreateICmpEQ(dividend, least),
                     at.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(division.getType())));
    bad = at.CreateOr(bad, overflows);
  }
  auto* safe = at.CreateSelect(bad, llvm::ConstantInt::get(division.getType(), 1), divisor);
  return at.CreateBinOp(opcode, dividend, safe);
}

bool hoist_out_of(llvm::Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree& dominators) {
  const bool has_preheader = loop.getLoopPreheader() != nullptr;
  auto* preheader = has_preheader ? loop.getLoopPreheader()
                                  : llvm::InsertPreheaderForLoop(&loop, &dominators, &loops, nullptr,
                                                                 /*PreserveLCSSA=*/false);
  if (preheader == nullptr) return false;
  bool changed = !has_preheader;
  llvm::LoopBlocksRPO order(&loop);
  order.perform(&loops);
  for (auto* block : order) {
    for (auto& instruction : llvm::make_early_inc_range(*block)) {
      if (!divides(instruction)) continue;
      auto& division = llvm::cast<llvm::BinaryOperator>(instruction);
      if (llvm::isa<llvm::ConstantInt>(division.getOperand(1))) continue;
      auto* before = preheader->getTerminator();
      if (!loop.makeLoopInvariant(division.getOperand(0), changed, before) ||
          !loop.makeLoopInvariant(division.getOperand(1), changed, before))
        continue;
      division.replaceAllUsesWith(divided_safely(division, *before));
      division.eraseFromParent();
      changed = true;
    }
  }
  return changed;
}

}  // namespace

llvm::PreservedAnalyses HoistDivisionsPass::run(llvm::Function& function,
                                                llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool changed = false;
  for (auto* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost()) changed |= hoist_out_of(*loop, loops, dominators);
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserve<llvm::LoopAnalysis>();
  kept.preserve<llvm::DominatorTreeAnalysis>();
  return kept;
}

}  // namespace nuna::compiler
