#pragma once
// The code of one thread's run through a region: what it brings, the region's own code, and what it leaves for the next.

#include <llvm/Transforms/Utils/ValueMapper.h>

#include "codegen/block_frame.hpp"

namespace nuna::compiler {

/// Who runs a region together.
enum class Together {
  all,   ///< of the group, or of the block
  some,  ///< those whose program counters are there
};

class ThreadRun {
 public:
  explicit ThreadRun(BlockFrame& frame) : frame_(frame), at_(frame.at), code_(frame.code) {}

  /// Reads, before a thread loop, what the region finds the same for all threads.
  void load_uniform(unsigned region);
  /// Makes the run: the builder ends behind it, wherever the thread stopped.
  void make(unsigned region, const Thread& thread, Together together);

  /// Whether threads that run `region` together need not look at their program counters to go on to `next`: as one, in the same
  /// group, waiting for nobody.
  bool goes_straight_on(const Region& region, const Region& next, Together together) const;

 private:
  using Map = llvm::ValueToValueMapTy;

  void give(const Thread& thread, Map& map);
  void bring(unsigned region, const Thread& thread, Map& map);
  llvm::Value* recompute(const Recipe& recipe, Map& outer);
  llvm::BasicBlock* clone(unsigned region, const Thread& thread, Map& map);
  void drop_absent_predecessors(const Region& region, Map& map);
  void move_location(llvm::Instruction& instruction);
  void leave(unsigned region, llvm::BasicBlock& block, const Thread& thread, Map& map);
  void keep(unsigned region, unsigned next, const Thread& thread, Map& map);
  bool is_used(const KeptValue& value, unsigned region) const;
  bool is_stored(const KeptValue& value, unsigned region) const;

  BlockFrame& frame_;
  llvm::IRBuilder<>& at_;
  const ThreadCode& code_;
  Together together_ = Together::all;
  llvm::BasicBlock* done_ = nullptr;
  llvm::DenseMap<const llvm::MDNode*, llvm::MDNode*> locations_;
};

}  // namespace nuna::compiler
