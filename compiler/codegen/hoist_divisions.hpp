#pragma once
// Divisions that are the same in all rounds of a loop, done once before it, also where not every round divides.
//
// LLVM leaves them where they are, as the divisor may be 0, and its vectoriser then takes the address of consecutive elements from the first
// lane, also where the condition leaves that lane out: there it divides by 1, or not at all (LLVM 19). Threads are the rounds of such loops:
// in `if (x > 0) out[x] = in[(y + n - 1) % n * width + x]` thread 0 is the lane.

#include <llvm/IR/PassManager.h>

namespace nuna::compiler {

class HoistDivisionsPass : public llvm::PassInfoMixin<HoistDivisionsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace nuna::compiler
