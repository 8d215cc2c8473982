#pragma once
// Loops in which the threads of a block, or of a grid, share the rounds:
//
//   for (i = threadIdx.x; i < n; i += blockDim.x) ...
//
// Threads leave them after different numbers of rounds. Made into loops that all leave together, in whose last rounds some
// threads have nothing to do, they can be interchanged with the loop over threads (interchange.hpp): neighbouring threads read
// neighbouring memory at the same time, and not each the whole array after the other.

#include <llvm/IR/Function.h>

namespace nuna::compiler {

/// Rewrites such loops of `kernel`, innermost ones that nothing but their count ends: its loops are not rotated yet. Loops of
/// unsigned counts that something is taken from (threadIdx.x - 32) stay as they are, since these may wrap; others are taken not to.
void share_strided_loops(llvm::Function& kernel);

}  // namespace nuna::compiler
