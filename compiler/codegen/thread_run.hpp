#pragma once
// The code of one thread's run through a region: what it brings, the region's own code, and what it leaves for the next.

#include <llvm/Transforms/Utils/ValueMapper.h>

#include "codegen/block_frame.hpp"

namespace nuna::compiler {

class ThreadRun {
 public:
  explicit ThreadRun(BlockFrame& frame) : frame_(frame), at_(frame.at), code_(frame.code) {}

  /// Reads, before a thread loop, what the region finds the same for all threads.
  void load_uniform(unsigned region);
  /// Makes the run: the builder ends behind it, wherever the thread stopped.
  void make(unsigned region, const Thread& thread);

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
  llvm::BasicBlock* done_ = nullptr;
  llvm::DenseMap<const llvm::MDNode*, llvm::MDNode*> locations_;
};

}  // namespace nuna::compiler
