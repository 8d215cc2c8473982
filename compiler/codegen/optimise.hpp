#pragma once
// LLVM's passes over the code for blocks.

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace nuna::compiler {

/// Marks code that few blocks run: it is worth few passes, and is not inlined.
void mark_rarely_run(llvm::Function& function);

void optimise(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace nuna::compiler
