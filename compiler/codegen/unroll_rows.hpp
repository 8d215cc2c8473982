#pragma once
// The rows of a tile in straight line. Where a block begins with reading them, the processor waits for one row after the other as long as it
// cannot look beyond the loop's end; of straight code it begins a whole tile of the usual height at once.

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include <vector>

#include "codegen/prefetch.hpp"

namespace nuna::compiler {

/// Unrolls such loops, where they are small, to 16 rows a round; what is left of fewer rows they do as before.
void unroll_rows(llvm::Function& function, const std::vector<TileRows>& tiles,
                 llvm::FunctionAnalysisManager& analyses);

}  // namespace nuna::compiler
