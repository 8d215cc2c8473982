#pragma once
// Which loops are unrolled, among those in which threads wait for each other.

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace nuna::compiler {

/// Every suspension becomes a loop over threads of its own, so that unrolling may make far too many: loops stay whole, whatever their
/// pragma says, where together they would have more than a few dozen. Of a function of which variables are values already; rotates
/// its loops, if it has suspensions.
void keep_long_waits_whole(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace nuna::compiler
