#include "access/kernel_code.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "codegen/device_module.hpp"
#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

access::Parameter size_parameter(access::Parameter::Kind kind, int axis) {
  access::Parameter made;
  made.kind = kind;
  made.axis = axis;
  return made;
}

/// Whether the code reads `value` as unsigned wherever it says how it reads it.
bool is_read_unsigned(const llvm::Value& value) {
  bool is_unsigned = false;
  for (const auto* user : value.users()) {
    const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(user);
    const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(user);
    if (llvm::isa<llvm::SExtInst, llvm::SIToFPInst>(user) || (compare != nullptr && compare->isSigned()))
      return false;
    if (binary != nullptr) {
      const auto code = binary->getOpcode();
      if (code == llvm::Instruction::SDiv || code == llvm::Instruction::SRem) return false;
      if (llvm::isa<llvm::OverflowingBinaryOperator>(binary) && binary->hasNoSignedWrap()) return false;
      is_unsigned |= code == llvm::Instruction::UDiv || code == llvm::Instruction::URem;
    }
    if (const auto* extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(user)) {
      if (extreme->isSigned()) return false;
      is_unsigned = true;
    }
    const auto* extended = llvm::dyn_cast<llvm::ZExtInst>(user);
    is_unsigned |= (extended != nullptr && !extended->hasNonNeg()) || llvm::isa<llvm::UIToFPInst>(user) ||
                   (compare != nullptr && compare->isUnsigned());
  }
  return is_unsigned;
}

}  // namespace

KernelCode::KernelCode(llvm::Function& code, llvm::FunctionAnalysisManager& analyses,
                       const SharedVariables& shared, access::KernelModel& made)
    : function(code),
      layout(code.getParent()->getDataLayout()),
      dominators(analyses.getResult<llvm::DominatorTreeAnalysis>(code)),
      loops(analyses.getResult<llvm::LoopAnalysis>(code)),
      evolution(analyses.getResult<llvm::ScalarEvolutionAnalysis>(code)),
      model(made),
      shared_(shared) {
  using Kind = access::Parameter::Kind;
  for (const auto kind : {Kind::block_size, Kind::grid_size}) {
    for (int axis = 0; axis < 3; ++axis) add(size_parameter(kind, axis));
  }
}

std::optional<access::Pointer> KernelCode::place_of(const llvm::Value& value) const {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value)) {
    if (is_by_reference(*argument)) return std::nullopt;
    return access::Pointer{argument->getArgNo(), 0, ""};
  }
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (load == nullptr) return std::nullopt;
  llvm::APInt offset(64, 0);
  const auto* argument = llvm::dyn_cast<llvm::Argument>(
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true));
  if (argument == nullptr || !is_by_reference(*argument)) return std::nullopt;
  return access::Pointer{argument->getArgNo(), static_cast<std::uint32_t>(offset.getZExtValue()), ""};
}

std::uint16_t KernelCode::add(const access::Parameter& parameter) {
  auto& all = model.parameters;
  const auto found = std::find(all.begin(), all.end(), parameter);
  const auto index = static_cast<std::uint16_t>(found - all.begin());
  if (found == all.end()) {
    all.push_back(parameter);
    depths_.push_back(0);
  }
  return index;
}

std::optional<std::uint16_t> KernelCode::scalar(const llvm::Value& value) {
  const auto bytes = static_cast<std::uint32_t>(layout.getTypeStoreSize(value.getType()).getFixedValue());
  return part_of_scalar(value, 0, bytes);
}

std::optional<std::uint16_t> KernelCode::part_of_scalar(const llvm::Value& value, std::uint32_t offset,
                                                        std::uint32_t bytes) {
  const auto place = place_of(value);
  if (!place || !(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) return std::nullopt;
  if (!value.getType()->isIntegerTy() && !value.getType()->isPointerTy()) return std::nullopt;
  access::Parameter made;
  made.argument = place->argument;
  made.offset = place->offset + offset;
  made.bytes = bytes;
  made.is_signed = !is_unsigned_scalar(value);
  return add(made);
}

std::optional<std::uint16_t> KernelCode::derived(access::Parameter::Operation operation,
                                                 const access::Polynomial& left,
                                                 const access::Polynomial& right) {
  int depth = 0;
  for (const auto* side : {&left, &right}) {
    for (const auto& term : *side) {
      for (const auto index : term.parameters) depth = std::max(depth, depths_[index]);
    }
  }
  if (++depth > kDeepest) return std::nullopt;
  access::Parameter made;
  made.kind = access::Parameter::Kind::derived;
  made.operation = operation;
  made.left = left;
  made.right = right;
  const auto index = add(made);
  depths_[index] = depth;
  return index;
}

bool KernelCode::is_unsigned_scalar(const llvm::Value& value) {
  return value.getType()->isPointerTy() || value.getType()->isIntegerTy(1) || is_read_unsigned(value);
}

KernelCode::Home KernelCode::home_of(const llvm::Value& object) const {
  if (place_of(object)) return Home::elsewhere;
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&object); argument != nullptr) return Home::here;
  if (llvm::isa<llvm::AllocaInst, llvm::ConstantPointerNull, llvm::UndefValue>(object)) return Home::here;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&object)) {
    const bool fixed = variable->isConstant() && !variable->isExternallyInitialized();
    return fixed || shared_.count(variable) != 0 ? Home::here : Home::elsewhere;
  }
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&object);
  const auto intrinsic = instruction != nullptr ? intrinsic_of(*instruction) : std::nullopt;
  return intrinsic == Intrinsic::dynamic_shared || intrinsic == Intrinsic::warp_slots ||
                 intrinsic == Intrinsic::block_cells
             ? Home::here
             : Home::unknown;
}

std::uint32_t KernelCode::pointer(const llvm::Value& object) {
  auto place = place_of(object);
  if (!place) place = access::Pointer{0, 0, llvm::cast<llvm::GlobalVariable>(object).getName().str()};
  auto& all = model.pointers;
  const auto found = std::find(all.begin(), all.end(), *place);
  const auto index = static_cast<std::uint32_t>(found - all.begin());
  if (found == all.end()) all.push_back(*place);
  return index;
}

access::SourceLine source_line(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc();
  if (location == nullptr) return {};
  while (location->getInlinedAt() != nullptr && location->getFilename().contains("nuna/device/"))
    location = location->getInlinedAt();
  return {location->getFilename().str(), location->getLine()};
}

}  // namespace nuna::compiler
