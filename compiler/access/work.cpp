#include "access/work.hpp"

#include <llvm/IR/IntrinsicInst.h>

#include "access/effects.hpp"

namespace nuna::compiler {

namespace {

std::uint32_t float_operations(const llvm::Instruction& instruction) {
  if (!instruction.getType()->isFPOrFPVectorTy()) return llvm::isa<llvm::FCmpInst>(instruction) ? 1 : 0;
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  const auto id = intrinsic != nullptr ? intrinsic->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
  if (id == llvm::Intrinsic::fma || id == llvm::Intrinsic::fmuladd) return 2;
  const bool counts = llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CallBase>(instruction);
  return counts ? 1 : 0;
}

bool is_integer_operation(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::ICmpInst, llvm::GetElementPtrInst>(instruction)) return true;
  return instruction.getType()->isIntOrIntVectorTy() &&
         llvm::isa<llvm::BinaryOperator, llvm::MinMaxIntrinsic>(instruction);
}

access::BlockWork work_of_block(const llvm::BasicBlock& block, const KernelCode& code) {
  access::BlockWork work;
  work.loops = static_cast<int>(code.loops.getLoopDepth(&block));
  for (const auto& instruction : block) {
    if (work.at.line == 0 && !llvm::isa<llvm::PHINode>(instruction)) work.at = source_line(instruction);
    for (const auto& one : effects_of(instruction, code.layout)) {
      if (one.kind != access::Access::Kind::write) ++work.loads;
      if (one.kind != access::Access::Kind::read) ++work.stores;
    }
    work.float_operations += float_operations(instruction);
    work.integer_operations += is_integer_operation(instruction) ? 1 : 0;
  }
  return work;
}

}  // namespace

std::vector<access::BlockWork> work_of(const KernelCode& code) {
  std::vector<access::BlockWork> all;
  for (const auto& block : code.function) {
    const auto work = work_of_block(block, code);
    if (work.loads + work.stores + work.float_operations + work.integer_operations > 0) all.push_back(work);
  }
  return all;
}

}  // namespace nuna::compiler
