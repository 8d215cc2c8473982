#include "codegen/optimise.hpp"

#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopStrengthReduce.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/CanonicalizeFreezeInLoops.h>

#include "codegen/analyses.hpp"
#include "codegen/hoist_divisions.hpp"
#include "codegen/prefetch.hpp"
#include "codegen/unroll_rows.hpp"

namespace nuna::compiler {

namespace {

constexpr llvm::StringLiteral kRarelyRun = "nuna-rarely-run";

/// Functions of more instructions keep their loops as they are: reducing the strength of what they compute takes longer than the rest
/// of code generation, and gains nothing where a loop is long.
constexpr std::size_t kLargestReduced = 1500;

/// The code of each thread has been simplified before: what is left to do is with what was made around it.
llvm::FunctionPassManager few_passes() {
  llvm::FunctionPassManager few;
  few.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  few.addPass(llvm::EarlyCSEPass());
  few.addPass(llvm::SimplifyCFGPass());
  few.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  few.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  few.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  few.addPass(llvm::SimplifyCFGPass());
  return few;
}

void reduce_strength(llvm::ArrayRef<llvm::Function*> functions, llvm::TargetMachine& machine) {
  Analyses analyses(machine);
  llvm::LoopPassManager loops;
  loops.addPass(llvm::CanonicalizeFreezeInLoopsPass());
  loops.addPass(llvm::LoopStrengthReducePass());
  auto reduce = llvm::createFunctionToLoopPassAdaptor(std::move(loops));
  for (auto* function : functions) reduce.run(*function, analyses.functions());
}

}  // namespace

void mark_rarely_run(llvm::Function& function) {
  function.addFnAttr(kRarelyRun);
  function.addFnAttr(llvm::Attribute::NoInline);
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  std::vector<llvm::Function*> rarely_run;
  for (auto& function : module) {
    if (!function.isDeclaration() && function.hasFnAttribute(kRarelyRun)) rarely_run.push_back(&function);
  }
  Analyses first(machine);
  auto few = few_passes();
  for (auto* function : rarely_run) {
    few.run(*function, first.functions());
    function->addFnAttr(llvm::Attribute::OptimizeNone);
  }
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation leaves_out(/*DebugLogging=*/false);
  leaves_out.registerCallbacks(callbacks);
  Analyses analyses(machine, &callbacks);
  analyses.builder().registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(HoistDivisionsPass());
      });
  analyses.builder()
      .buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, analyses.modules());
  for (auto* function : rarely_run) function->removeFnAttr(llvm::Attribute::OptimizeNone);
  std::vector<llvm::Function*> reduced;
  for (auto& function : module) {
    if (function.isDeclaration() || function.hasFnAttribute(kRarelyRun)) continue;
    if (function.getInstructionCount() <= kLargestReduced) reduced.push_back(&function);
    unroll_rows(function, prefetch_along_blocks(function, analyses.functions()), analyses.functions());
  }
  reduce_strength(reduced, machine);
}

}  // namespace nuna::compiler
