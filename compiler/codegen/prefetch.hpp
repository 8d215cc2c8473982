#pragma once
// Prefetches for tiles. A block reads rows of a tile that lie far apart, the next block what lies right behind each row: between the
// rounds of the loop over rows an address jumps, and creeps along with the loop over blocks. The processor's prefetchers follow an
// instruction's steps and see the jumps only, so the code asks itself for the bytes of a block further on.

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include <vector>

namespace nuna::compiler {

/// A loop that reads rows of a tile.
struct TileRows {
  llvm::Loop* loop = nullptr;
  unsigned rows = 0;  ///< in a round
};

/// Adds prefetches to optimised code. Returns the loops that read what is prefetched: they are as they were, but for the prefetches.
std::vector<TileRows> prefetch_along_blocks(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses);

}  // namespace nuna::compiler
