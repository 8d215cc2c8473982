#pragma once
// LLVM's analysis managers, registered with each other, for one machine.

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

namespace nuna::compiler {

class Analyses {
 public:
  explicit Analyses(llvm::TargetMachine& machine, llvm::PassInstrumentationCallbacks* callbacks = nullptr);
  llvm::PassBuilder& builder() { return builder_; }
  llvm::ModuleAnalysisManager& modules() { return modules_; }
  llvm::FunctionAnalysisManager& functions() { return functions_; }

 private:
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassBuilder builder_;
};

}  // namespace nuna::compiler
