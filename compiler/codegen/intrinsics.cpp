#include "codegen/intrinsics.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace nuna::compiler {

std::optional<Intrinsic> intrinsic_of(const llvm::Function& function) {
  return llvm::StringSwitch<std::optional<Intrinsic>>(function.getName())
      .Case("__nuna_sreg", Intrinsic::special_register)
      .Case("__nuna_barrier", Intrinsic::barrier)
      .Case("__nuna_warp_barrier", Intrinsic::warp_barrier)
      .Case("__nuna_lanes_meet", Intrinsic::lanes_meet)
      .Case("__nuna_warp_slots", Intrinsic::warp_slots)
      .Case("__nuna_block_cells", Intrinsic::block_cells)
      .Case("__nuna_dynamic_shared", Intrinsic::dynamic_shared)
      .Case("__nuna_dynamic_shared_bytes", Intrinsic::dynamic_shared_bytes)
      .Case("__nuna_exit", Intrinsic::end_thread)
      .Default(std::nullopt);
}

std::optional<Intrinsic> intrinsic_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  const llvm::Function* called = call != nullptr ? call->getCalledFunction() : nullptr;
  return called != nullptr ? intrinsic_of(*called) : std::nullopt;
}

std::optional<unsigned> special_register_of(const llvm::Instruction& instruction) {
  if (intrinsic_of(instruction) != Intrinsic::special_register) return std::nullopt;
  const auto* k = llvm::dyn_cast<llvm::ConstantInt>(llvm::cast<llvm::CallBase>(instruction).getArgOperand(0));
  if (k == nullptr || k->getZExtValue() >= kSpecialRegisters) return std::nullopt;
  return static_cast<unsigned>(k->getZExtValue());
}

bool suspends(const llvm::Instruction& instruction) {
  const auto intrinsic = intrinsic_of(instruction);
  return intrinsic == Intrinsic::barrier || intrinsic == Intrinsic::warp_barrier ||
         intrinsic == Intrinsic::lanes_meet;
}

}  // namespace nuna::compiler
