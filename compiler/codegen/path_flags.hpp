#pragma once
// Truths that depend on the way a thread came, as conditions of that way.
//
// if (known) ...; __syncthreads(); if (known) ...: LLVM asks once, and lets a phi of constants say after the first branch what the second one
// is to do. Across a barrier a phi is kept once a thread, in memory, whereas a condition on indices is computed again, or known when code is made.

#include <llvm/IR/Function.h>

namespace nuna::compiler {

/// Replaces phis of constant truths by the conditions that decide between them, in kernels whose threads meet, where all of these are made
/// of arguments, special registers and constants.
void spell_out_path_flags(llvm::Function& kernel);

}  // namespace nuna::compiler
