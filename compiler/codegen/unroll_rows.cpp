#include "codegen/unroll_rows.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace nuna::compiler {

namespace {

/// Fewer do not pay (a hotspot by tiles of 16 rows took as long with 8 a round as with one), and tiles hardly have more.
constexpr unsigned kRows = 16;

/// Instructions of a row; longer ones keep the processor busy themselves.
constexpr std::size_t kLongestRow = 24;

}  // namespace

void unroll_rows(llvm::Function& function, const std::vector<TileRows>& tiles,
                 llvm::FunctionAnalysisManager& analyses) {
  if (tiles.empty()) return;
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  auto& remarks = analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function);
  for (const auto& [loop, rows] : tiles) {
    const std::size_t rounds = evolution.getSmallConstantMaxTripCount(loop);  // 0: unknown
    if (loop->getNumBlocks() != 1 || loop->getHeader()->size() > kLongestRow * rows || rows > kRows / 2 ||
        (rounds != 0 && rounds * rows < kRows))
      continue;
    auto* outermost = loop->getOutermostLoop();
    llvm::simplifyLoop(outermost, &tree, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    llvm::formLCSSARecursively(*outermost, tree, &loops, &evolution);
    llvm::UnrollLoopOptions options{};
    options.Count = kRows / rows;
    options.Runtime = true;
    options.AllowExpensiveTripCount = true;
    llvm::UnrollLoop(loop, options, &loops, &evolution, &tree, &assumptions, &target, &remarks,
                     /*PreserveLCSSA=*/true);
  }
}

}  // namespace nuna::compiler
