#pragma once
// A kernel's copy as models are computed from: calls inlined, guards of loops in front of their bodies, special registers and
// parameters read once at the beginning.

#include <llvm/IR/PassManager.h>

#include "codegen/device_module.hpp"

namespace nuna::compiler {

/// In the kernel's module; to be erased by the caller. Calls that are left are recursive, too large, or without a body.
llvm::Function* make_plain_copy(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

}  // namespace nuna::compiler
