#include "codegen/long_waits.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>

#include <algorithm>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

/// Sums and scans of a warp have ten or so.
constexpr unsigned kMostSuspensions = 64;

/// The suspensions of `loop` once all that may be unrolled is; marks what may not.
unsigned suspensions_of(llvm::Loop& loop, const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution) {
  unsigned count = 0;
  for (auto* inner : loop) count += suspensions_of(*inner, loops, evolution);
  for (auto* block : loop.blocks()) {
    if (loops.getLoopFor(block) == &loop)
      count += static_cast<unsigned>(std::count_if(block->begin(), block->end(), suspends));
  }
  const unsigned rounds = evolution.getSmallConstantTripCount(&loop);
  if (count == 0 || rounds == 0) return count;
  if (rounds <= kMostSuspensions / count) return rounds * count;
  loop.setLoopAlreadyUnrolled();
  return count;
}

}  // namespace

void keep_long_waits_whole(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const auto all = llvm::instructions(function);
  if (std::none_of(all.begin(), all.end(), suspends)) return;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  analyses.invalidate(function, passes.run(function, analyses));
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (auto* loop : loops) suspensions_of(*loop, loops, evolution);
}

}  // namespace nuna::compiler
