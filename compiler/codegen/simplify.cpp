#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <set>
#include <stdexcept>

#include "codegen/analyses.hpp"
#include "codegen/device_module.hpp"
#include "codegen/diagnostics.hpp"
#include "codegen/inline_ptx.hpp"
#include "codegen/intrinsics.hpp"
#include "codegen/long_waits.hpp"
#include "codegen/strided_loops.hpp"

namespace nuna::compiler {

namespace {

/// Functions of more instructions are left to clang's own judgement, unless they need their thread.
constexpr std::size_t kSmallFunction = 600;

class Inlining {
 public:
  explicit Inlining(DeviceModule& device) : graph_(*device.module) {
    for (auto& kernel : device.kernels) kernels_.insert(kernel.function);
    for (auto scc = llvm::scc_begin(&graph_); !scc.isAtEnd(); ++scc) {
      for (auto* node : *scc) visit(node->getFunction(), scc.hasCycle());
    }
  }

  std::vector<llvm::Argument*> was_restrict;  ///< of kernels in which threads wait

 private:
  /// Of a function in which threads wait: what one thread's `restrict` pointer leads to, others may have changed meanwhile.
  void forget_restrict(llvm::Function& function) {
    for (auto& argument : function.args()) {
      if (!argument.hasNoAliasAttr() || argument.onlyReadsMemory()) continue;
      argument.removeAttr(llvm::Attribute::NoAlias);
      if (kernels_.count(&function) != 0) was_restrict.push_back(&argument);
    }
  }

  /// Callees come before their callers.
  void visit(llvm::Function* function, bool recursive) {
    if (function == nullptr || function->isDeclaration()) return;
    bool waits = false;
    bool needs_thread = false;
    for (auto& instruction : llvm::instructions(*function)) {
      waits |= suspends(instruction);
      needs_thread |= intrinsic_of(instruction).has_value() || needs_its_thread(instruction);
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto* called = call != nullptr ? call->getCalledFunction() : nullptr;
      if (called == nullptr) continue;
      waits |= wait_.count(called) != 0;
      needs_thread |= need_thread_.count(called) != 0;
    }
    if (waits) {
      wait_.insert(function);
      forget_restrict(*function);
    }
    if (needs_thread) need_thread_.insert(function);
    if (kernels_.count(function) != 0) return;
    const bool by_pointer = function->hasAddressTaken();
    if (waits && (recursive || by_pointer)) {
      throw std::runtime_error(at_line(*function) + "threads wait for each other in '" + readable(*function) +
                               "', which is " + (recursive ? "recursive" : "called through a pointer") +
                               ": barriers, shuffles and votes there are not supported");
    }
    if (recursive) return;
    const bool small = function->getInstructionCount() <= kSmallFunction &&
                       !function->hasFnAttribute(llvm::Attribute::NoInline);
    if (waits || needs_thread || small) {
      function->removeFnAttr(llvm::Attribute::NoInline);
      function->removeFnAttr(llvm::Attribute::OptimizeNone);
      function->addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }

  llvm::CallGraph graph_;
  std::set<llvm::Function*> kernels_;
  std::set<llvm::Function*> wait_;
  std::set<llvm::Function*> need_thread_;
};

/// Whether the kernel writes nothing through the pointer, and gives it to nobody.
bool is_only_read(const llvm::Value& pointer) {
  std::vector<const llvm::Value*> work{&pointer};
  std::set<const llvm::Value*> seen;
  while (!work.empty()) {
    const auto* value = work.back();
    work.pop_back();
    if (!seen.insert(value).second) continue;
    for (const auto* user : value->users()) {
      if (llvm::isa<llvm::LoadInst, llvm::ICmpInst>(user)) continue;
      if (!llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst>(user)) return false;
      work.push_back(user);
    }
  }
  return true;
}

}  // namespace

void inline_calls(DeviceModule& device, llvm::TargetMachine& machine) {
  translate_ptx(*device.module);
  const Inlining inlined(device);
  std::set<const llvm::GlobalValue*> kept(device.variables.begin(), device.variables.end());
  for (const auto& shared : device.shared) kept.insert(shared.variable);
  for (const auto& kernel : device.kernels) kept.insert(kernel.function);
  llvm::ModulePassManager inlining;
  inlining.addPass(llvm::AlwaysInlinerPass());
  inlining.addPass(
      llvm::InternalizePass([&](const llvm::GlobalValue& value) { return kept.count(&value) != 0; }));
  inlining.addPass(llvm::GlobalDCEPass());
  inlining.run(*device.module, Analyses(machine).modules());
  settle_ptx(device);

  llvm::FunctionPassManager early;
  early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  early.addPass(llvm::EarlyCSEPass());
  early.addPass(llvm::SimplifyCFGPass());
  early.addPass(llvm::InstCombinePass());
  llvm::ModulePassManager first;
  first.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
  first.run(*device.module, Analyses(machine).modules());
  for (auto* argument : inlined.was_restrict) {
    if (is_only_read(*argument)) argument->addAttr(llvm::Attribute::NoAlias);
  }
}

void simplify(DeviceModule& device, llvm::TargetMachine& machine) {
  for (auto& kernel : device.kernels) share_strided_loops(*kernel.function);
  Analyses anew(machine);
  for (auto& kernel : device.kernels) keep_long_waits_whole(*kernel.function, anew.functions());
  llvm::ModulePassManager rest;
  rest.addPass(llvm::createModuleToFunctionPassAdaptor(anew.builder().buildFunctionSimplificationPipeline(
      llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None)));
  rest.run(*device.module, anew.modules());
}

}  // namespace nuna::compiler
