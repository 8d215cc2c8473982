#include "codegen/inline_ptx.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "codegen/diagnostics.hpp"
#include "codegen/intrinsics.hpp"
#include "codegen/ptx_builder.hpp"
#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

void build(PtxBuilder& to, const ptx::Instruction& in) {
  if (build_ptx_helper(to, in)) return;
  for (auto* family : {build_ptx_threads, build_ptx_memory, build_ptx_conversion, build_ptx_choice,
                       build_ptx_arithmetic, build_ptx_reals}) {
    if (family(to, in)) return;
  }
  in.refuse();
}

void build_guarded(PtxBuilder& to, const ptx::Instruction& in) {
  if (in.guard.empty()) return build(to, in);
  auto* condition = to.read_predicate(ptx::Operand::named(in.guard));
  auto* then = to.new_block();
  auto* after = to.new_block();
  to.at.CreateCondBr(condition, in.unless ? after : then, in.unless ? then : after);
  to.enter(then);
  build(to, in);
  to.enter(after);
}

void translate(llvm::CallInst& statement) {
  const auto text = llvm::cast<llvm::InlineAsm>(statement.getCalledOperand())->getAsmString();
  const auto instructions = ptx::parse(text);
  PtxBuilder to(statement);
  for (const auto& in : instructions) {
    if (in.name == ".reg") {
      to.declare(in.operands[0].name, in.types[0]);
    } else if (in.name == ":") {
      to.enter(to.label(in.operands[0].name));
    } else {
      try {
        build_guarded(to, in);
      } catch (const ptx::Unknown& unknown) {
        const std::string what = unknown.what();
        throw what.starts_with(in.text) ? unknown : ptx::Unknown(in.text + ": " + what);
      }
    }
  }
  // Empty ones tell the compiler that memory has changed.
  const auto& constraints = llvm::cast<llvm::InlineAsm>(statement.getCalledOperand())->getConstraintString();
  if (instructions.empty() && constraints.find("~{memory}") != std::string::npos)
    to.at.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
  to.finish();
}

bool is_asm(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call != nullptr && call->isInlineAsm();
}

/// The block of the call ends there, and with it the thread.
void end_thread_at(llvm::Instruction& call) {
  auto* block = call.getParent();
  auto* rest = llvm::SplitBlock(block, &call);
  block->getTerminator()->eraseFromParent();
  llvm::ReturnInst::Create(call.getContext(), block);
  rest->removePredecessor(block);
}

void end_threads(llvm::Function& kernel) {
  std::vector<llvm::Instruction*> ends;
  for (auto& instruction : llvm::instructions(kernel)) {
    if (intrinsic_of(instruction) == Intrinsic::end_thread) ends.push_back(&instruction);
  }
  for (auto* end : ends) end_thread_at(*end);
  if (!ends.empty()) llvm::removeUnreachableBlocks(kernel);
}

void place_carries(llvm::GlobalVariable& carry) {
  std::map<llvm::Function*, llvm::AllocaInst*> places;
  for (auto* user : std::vector<llvm::User*>(carry.user_begin(), carry.user_end())) {
    auto* function = llvm::cast<llvm::Instruction>(user)->getFunction();
    auto& place = places[function];
    if (place == nullptr) {
      auto& entry = function->getEntryBlock();
      llvm::IRBuilder<> at(&entry, entry.begin());
      place = at.CreateAlloca(carry.getValueType());
      at.CreateStore(at.getFalse(), place);
    }
    user->replaceUsesOfWith(&carry, place);
  }
  carry.eraseFromParent();
}

}  // namespace

void translate_ptx(llvm::Module& module) {
  std::vector<llvm::Instruction*> statements;
  for (auto& function : module) {
    for (auto& instruction : llvm::instructions(function)) {
      if (is_asm(instruction)) statements.push_back(&instruction);
    }
  }
  for (auto* statement : statements) {
    const auto text = llvm::cast<llvm::InlineAsm>(llvm::cast<llvm::CallBase>(statement)->getCalledOperand())
                          ->getAsmString();
    try {
      auto* call = llvm::dyn_cast<llvm::CallInst>(statement);
      if (call == nullptr) throw ptx::Unknown("asm goto");
      translate(*call);
    } catch (const ptx::Unknown& unknown) {
      throw std::runtime_error(at_line(*statement) + "error: asm(\"" + text +
                               "\"): PTX is code for GPUs, of which nunacc does not translate " +
                               unknown.what() + "; write it in C++");
    }
  }
}

bool needs_its_thread(const llvm::Instruction& instruction) {
  return std::any_of(instruction.op_begin(), instruction.op_end(), [](const llvm::Use& use) {
    return llvm::isa<llvm::GlobalVariable>(use) && use->getName() == kPtxCarry;
  });
}

void settle_ptx(DeviceModule& device) {
  for (auto& kernel : device.kernels) end_threads(*kernel.function);
  for (auto& function : *device.module) {
    for (auto& instruction : llvm::instructions(function)) {
      if (intrinsic_of(instruction) == Intrinsic::end_thread) {
        throw std::runtime_error(at_line(instruction) + "a thread ends in '" + readable(function) +
                                 "', which is recursive or called through a pointer: that is not supported");
      }
    }
  }
  if (auto* carry = device.module->getNamedGlobal(kPtxCarry)) place_carries(*carry);
}

}  // namespace nuna::compiler
