#pragma once
// Which values and branches of a kernel are the same for all threads of a block, or of a warp.

#include <llvm/ADT/GenericCycleInfo.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <memory>

namespace nuna::compiler {

/// Whether no thread of the launch writes what `load` reads.
bool reads_constant(const llvm::LoadInst& load);

/// The threads among which values are compared.
enum class Among {
  block,
  warp,  ///< of blocks whose rows are whole warps: there, threadIdx.x / 32 and the other indices are the same
};

/// LLVM's uniformity analysis with our sources of divergence: thread indices, memory that threads may change, calls that read
/// memory, atomics. Good until the function's control flow changes.
class Uniformity {
 public:
  explicit Uniformity(llvm::Function& function, Among among = Among::block);
  bool is_uniform(const llvm::Value& value) const { return info_->isUniform(&value); }

 private:
  llvm::DominatorTree dominators_;
  llvm::CycleInfo cycles_;
  llvm::TargetTransformInfo divergence_;
  std::unique_ptr<llvm::UniformityInfo> info_;
};

}  // namespace nuna::compiler
