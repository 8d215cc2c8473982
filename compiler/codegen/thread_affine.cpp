#include "codegen/thread_affine.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <cstdlib>

#include "codegen/device_module.hpp"

namespace nuna::compiler {

namespace {

/// With blocks of at most 1024 threads along each axis no value grows by 2^31 or more within one.
constexpr std::int64_t kLargestStep = 1 << 16;

std::optional<Steps> checked(const Steps& steps) {
  for (const auto step : steps.along) {
    if (std::abs(step) > kLargestStep) return std::nullopt;
  }
  return steps;
}

std::optional<Steps> sum(const std::optional<Steps>& a, const std::optional<Steps>& b, std::int64_t factor) {
  if (!a || !b) return std::nullopt;
  Steps result;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (std::abs(factor) > kLargestStep && b->along[axis] != 0) return std::nullopt;
    result.along[axis] = a->along[axis] + (b->along[axis] != 0 ? factor * b->along[axis] : 0);
  }
  return checked(result);
}

std::optional<std::int64_t> constant(const llvm::Value* value) {
  const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (integer == nullptr || integer->getBitWidth() > 64) return std::nullopt;
  return integer->getSExtValue();
}

/// A parameter passed in memory, or constant memory, at a place that the compiler knows: there at all times.
bool reads_known_constant(const llvm::LoadInst& load) {
  if (!reads_constant(load)) return false;
  const auto& layout = load.getModule()->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
  const auto* from = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, false);
  const auto* argument = llvm::dyn_cast<llvm::Argument>(from);
  return llvm::isa<llvm::GlobalVariable>(from) || (argument != nullptr && is_by_reference(*argument));
}

/// Whether the value is the same for all threads wherever its operands are, and may be computed where it is not needed.
bool is_pure(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return reads_known_constant(*load);
  if (llvm::isa<llvm::MinMaxIntrinsic>(instruction)) return true;
  return !llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::CallBase>(instruction) &&
         !instruction.mayReadOrWriteMemory() && llvm::isSafeToSpeculativelyExecute(&instruction);
}

}  // namespace

std::optional<Steps> ThreadAffine::steps_of(const llvm::Value& value) {
  if (llvm::isa<llvm::Constant, llvm::Argument>(value)) return Steps{};
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (instruction == nullptr) return std::nullopt;
  if (uniform_ != nullptr && uniform_->is_uniform(value)) return Steps{};
  const auto found = known_.find(instruction);
  if (found != known_.end()) return found->second;
  known_[instruction] = std::nullopt;  // of a cycle
  return known_[instruction] = compute(*instruction);
}

std::optional<Steps> ThreadAffine::compute(const llvm::Instruction& instruction) {
  if (const auto k = special_register_of(instruction)) {
    if (*k == kLane) return std::nullopt;
    Steps steps;
    if (*k < kBlockIdx) steps.along[*k - kThreadIdx] = 1;
    return steps;
  }
  if (!is_pure(instruction)) return std::nullopt;
  auto operand = [&](unsigned i) { return steps_of(*instruction.getOperand(i)); };
  switch (instruction.getOpcode()) {
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::Freeze:
      return operand(0);
    case llvm::Instruction::Add:
      return sum(operand(0), operand(1), 1);
    case llvm::Instruction::Sub:
      return sum(operand(0), operand(1), -1);
    case llvm::Instruction::Or:
      if (llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint())
        return sum(operand(0), operand(1), 1);
      break;
    case llvm::Instruction::Mul:
      if (const auto factor = constant(instruction.getOperand(1))) return sum(Steps{}, operand(0), *factor);
      break;
    case llvm::Instruction::Shl:
      if (const auto by = constant(instruction.getOperand(1)); by && *by >= 0 && *by < 16)
        return sum(Steps{}, operand(0), std::int64_t{1} << *by);
      break;
    default:
      break;
  }
  for (const auto& part : instruction.operands()) {  // anything else of what all threads know
    if (llvm::isa<llvm::Function>(part)) continue;
    const auto steps = steps_of(*part);
    if (!steps || !steps->none()) return std::nullopt;
  }
  return Steps{};
}

bool ThreadAffine::knows_block(const llvm::Value& value) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (instruction == nullptr || !steps_of(value)) return false;
  if (const auto k = special_register_of(*instruction)) return *k >= kBlockIdx && *k < kBlockDim;
  const auto found = knows_block_.find(instruction);
  if (found != knows_block_.end()) return found->second;
  return knows_block_[instruction] =
             llvm::any_of(instruction->operands(), [&](const auto& part) { return knows_block(*part); });
}

void ThreadAffine::for_extended(const llvm::Value& value, const Visit& visit) {
  std::set<const llvm::Value*> seen;
  visit_extended(value, visit, seen);
}

void ThreadAffine::visit_extended(const llvm::Value& value, const Visit& visit,
                                  std::set<const llvm::Value*>& seen) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  const auto steps = steps_of(value);
  if (instruction == nullptr || !steps || steps->none() || !seen.insert(&value).second) return;
  if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(instruction)) {
    const auto* part = instruction->getOperand(0);
    visit(*part, steps_of(*part).value(), llvm::isa<llvm::ZExtInst>(instruction));
  }
  for (const auto& part : instruction->operands()) visit_extended(*part, visit, seen);
}

}  // namespace nuna::compiler
