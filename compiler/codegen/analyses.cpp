#include "codegen/analyses.hpp"

#include <llvm/Analysis/TargetLibraryInfo.h>

namespace nuna::compiler {

Analyses::Analyses(llvm::TargetMachine& machine, llvm::PassInstrumentationCallbacks* callbacks)
    : builder_(&machine, llvm::PipelineTuningOptions(), std::nullopt, callbacks) {
  // Vector functions of the C library (libmvec: at most 4 ulp) for what loops call.
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.addVectorizableFunctionsFromVecLib(llvm::TargetLibraryInfoImpl::LIBMVEC_X86,
                                             machine.getTargetTriple());
  functions_.registerPass([library] { return llvm::TargetLibraryAnalysis(library); });
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(components_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
}

}  // namespace nuna::compiler
