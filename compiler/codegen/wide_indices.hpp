#pragma once
// Indices of arrays as sums of 64 bits.
//
// A signed sum of 32 bits does not wrap, which LLVM forgets as soon as it reorders the terms. The loop over threads, which grows one of
// them, would then ask row by row whether the sum does, and keep a second form for the rows where it does.

#include <llvm/IR/Function.h>

namespace nuna::compiler {

/// Adds up in 64 bits what `kernel`, for one thread, extends to 64 bits after adding it to threadIdx.x.
void widen_indices(llvm::Function& kernel);

}  // namespace nuna::compiler
