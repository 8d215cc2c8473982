#include "access/plain_copy.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <map>
#include <set>
#include <tuple>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

/// Nothing is inlined beyond this.
constexpr std::size_t kMostInstructions = 20000;

bool calls_itself(const llvm::Function& function, std::set<const llvm::Function*>& above) {
  if (!above.insert(&function).second) return true;
  bool found = false;
  for (const auto& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const auto* called = call != nullptr ? call->getCalledFunction() : nullptr;
    if (called != nullptr && !called->isDeclaration()) found = found || calls_itself(*called, above);
  }
  above.erase(&function);
  return found;
}

llvm::CallBase* next_to_inline(llvm::Function& function) {
  for (auto& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    auto* called = call != nullptr ? call->getCalledFunction() : nullptr;
    if (called == nullptr || called->isDeclaration() || call->doesNotAccessMemory()) continue;
    std::set<const llvm::Function*> above;
    if (!calls_itself(*called, above)) return call;
  }
  return nullptr;
}

bool inline_calls(llvm::Function& function) {
  bool found = false;
  while (function.getInstructionCount() < kMostInstructions) {
    auto* call = next_to_inline(function);
    llvm::InlineFunctionInfo info;
    if (call == nullptr || !llvm::InlineFunction(*call, info).isSuccess()) break;
    found = true;
  }
  return found;
}

/// The argument whose memory `load` reads at a fixed place, and where.
std::pair<const llvm::Argument*, std::int64_t> parameter_of(const llvm::LoadInst& load,
                                                            const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  const auto* base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  const auto* argument = llvm::dyn_cast<llvm::Argument>(base);
  const bool is_parameter = argument != nullptr && is_by_reference(*argument) && load.isSimple();
  return {is_parameter ? argument : nullptr, offset.getSExtValue()};
}

/// One read of each special register and parameter, where the kernel begins: so that loops see that they do not change.
void read_at_the_beginning(llvm::Function& function) {
  const auto& layout = function.getParent()->getDataLayout();
  using Place = std::tuple<const llvm::Argument*, std::int64_t, const llvm::Type*>;
  std::map<Place, llvm::Instruction*> first;
  std::vector<std::pair<llvm::Instruction*, llvm::Instruction*>> again;
  std::vector<std::pair<llvm::Instruction*, std::pair<llvm::Argument*, std::int64_t>>> moved;
  for (auto& instruction : llvm::instructions(function)) {
    std::optional<Place> place;
    if (const auto which = special_register_of(instruction)) {
      place = Place{nullptr, *which, instruction.getType()};
    } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const auto [argument, offset] = parameter_of(*load, layout);
      if (argument != nullptr) place = Place{argument, offset, load->getType()};
    }
    if (!place) continue;
    const auto [found, is_new] = first.try_emplace(*place, &instruction);
    if (!is_new) {
      again.emplace_back(&instruction, found->second);
    } else {
      moved.push_back(
          {&instruction, {const_cast<llvm::Argument*>(std::get<0>(*place)), std::get<1>(*place)}});
    }
  }
  for (auto& [instruction, instead] : again) {
    instruction->replaceAllUsesWith(instead);
    instruction->eraseFromParent();
  }
  for (auto& [instruction, place] : moved) {
    instruction->moveBefore(function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
      auto* byte = llvm::Type::getInt8Ty(function.getContext());
      auto* offset = llvm::ConstantInt::get(llvm::Type::getInt64Ty(function.getContext()),
                                            static_cast<std::uint64_t>(place.second));
      auto* pointer = llvm::GetElementPtrInst::Create(byte, place.first, {offset}, "", load->getIterator());
      load->setOperand(0, pointer);
    }
  }
}

/// A block that ends the kernel, as a failed assertion does, is nobody's way to anywhere.
void forget_failures(llvm::Function& function) {
  std::vector<llvm::BasicBlock*> ends;
  for (auto& block : function) {
    if (llvm::isa<llvm::UnreachableInst>(block.getTerminator()) && &block != &function.getEntryBlock())
      ends.push_back(&block);
  }
  while (!ends.empty()) {
    auto* end = ends.back();
    ends.pop_back();
    const std::set<llvm::BasicBlock*> before(llvm::pred_begin(end), llvm::pred_end(end));
    for (auto* from : before) {
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());
      if (branch == nullptr) continue;
      const bool only = !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1);
      if (only) {
        if (from != &function.getEntryBlock()) ends.push_back(from);
        continue;
      }
      auto* other = branch->getSuccessor(branch->getSuccessor(0) == end ? 1 : 0);
      llvm::BranchInst::Create(other, branch->getIterator());
      end->removePredecessor(from);
      branch->eraseFromParent();
    }
  }
  llvm::removeUnreachableBlocks(function);
}

}  // namespace

llvm::Function* make_plain_copy(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  llvm::ValueToValueMapTy values;
  auto* copy = llvm::CloneFunction(&kernel, values);
  copy->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::FunctionPassManager passes;
  if (inline_calls(*copy)) {
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
  }
  read_at_the_beginning(*copy);
  forget_failures(*copy);
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(*copy, analyses);
  analyses.clear(*copy, copy->getName());
  return copy;
}

}  // namespace nuna::compiler
