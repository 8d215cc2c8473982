#pragma once
// What the code of one function for blocks has at hand: its call, and where the block and its threads keep things.

#include <llvm/IR/IRBuilder.h>

#include <map>

#include "codegen/block_call.hpp"
#include "codegen/block_code.hpp"
#include "codegen/block_memory.hpp"
#include "codegen/memory_scopes.hpp"
#include "codegen/thread_code.hpp"

namespace nuna::compiler {

constexpr unsigned kLanes = 32;  ///< of a warp; at most of a group

/// The thread whose code is being made.
struct Thread {
  llvm::Value* index[3] = {};     ///< i32
  llvm::Value* linear = nullptr;  ///< i64
  llvm::Value* lane = nullptr;    ///< i32: its place in its group
};

class BlockFrame {
 public:
  /// Reads the call and finds memory, where the builder stands.
  BlockFrame(llvm::IRBuilder<>& builder, llvm::Function& made, const ThreadCode& plan,
             const BlockMemory& layout, const Shape& blocks);

  /// Keeps the block's index along an axis where it is found when its code faults.
  void note_block(unsigned axis, llvm::Value* index) const;
  /// The block that runs: its place in the grid, and what it finds in memory.
  void begin_block(llvm::Value* x, llvm::Value* y, llvm::Value* z);
  /// Tells device functions which thread runs.
  void begin_thread(const Thread& thread);

  llvm::Value* in_scratch(std::uint64_t offset) const;
  llvm::Value* special_register(unsigned k, const Thread& thread) const;
  llvm::Value* address(Intrinsic intrinsic, const Thread& thread) const;
  llvm::Value* place_of(const llvm::AllocaInst* kept, const Thread& thread) const;
  llvm::Value* uniform_place(const KeptValue& value) const;
  llvm::Value* counter_of(const Thread& thread) const;
  llvm::AllocaInst* scalar(const char* name, llvm::Type* type = nullptr) const;

  /// Memory of 1-bit values does not vectorise: they are kept in bytes.
  llvm::Value* load_kept(llvm::Type* type, llvm::Value* place) const;
  void store_kept(llvm::Value* value, llvm::Value* place) const;
  /// An access to what threads keep, in the thread loop that is being made.
  template <class Access>
  Access* mark(Access* access) const {
    scopes.mark_kept(*access, loop_group);
    return access;
  }

  llvm::IRBuilder<>& at;
  llvm::Function& function;
  const ThreadCode& code;
  const BlockMemory& memory;
  const Shape shape;
  MemoryScopes scopes;

  llvm::Value* grid[3] = {};
  llvm::Value* block[3] = {};
  llvm::Value* first[3] = {};
  llvm::Value* last[3] = {};
  llvm::Value* scratch = nullptr;
  llvm::Value* dynamic = nullptr;
  llvm::Value* dynamic_bytes = nullptr;
  llvm::Value* threads = nullptr;  ///< of a block, i32
  llvm::Value* places = nullptr;   ///< the same, rounded up to a multiple of 64, i64
  llvm::Value* counters = nullptr;
  llvm::Value* masks = nullptr;
  llvm::AllocaInst* next = nullptr;  ///< the region that follows, where all agree
  /// Arguments, shared variables and arrays of a thread's own: what they are here.
  std::map<const llvm::Value*, llvm::Value*> given;

  // Of what is being made.
  llvm::Value* block_index[3] = {};
  llvm::Value* group = nullptr;  ///< the group's number in its block, i32
  llvm::Value* members =
      nullptr;                 ///< its lanes that run together; without groups: not zero when all threads do
  llvm::Value* met = nullptr;  ///< its lanes that these have met, themselves among them
  llvm::MDNode* loop_group = nullptr;                              ///< of the thread loop's accesses
  std::map<const llvm::AllocaInst*, llvm::Value*> uniform_values;  ///< as the region found them

 private:
  void find_memory();
  void tell_launch();
  void tell(std::size_t offset, llvm::Value* value) const;
  llvm::Value* per_thread_base(const PerThread& place) const;
  llvm::Type* kept_type(llvm::Type* type) const { return type->isIntegerTy(1) ? at.getInt8Ty() : type; }

  llvm::Value* state_ = nullptr;
  llvm::Value* noted_block_ = nullptr;
  std::map<const llvm::AllocaInst*, llvm::Value*> per_thread_;
  std::map<const llvm::AllocaInst*, llvm::AllocaInst*> by_lane_;  ///< what lives within a group's turn
  std::map<const llvm::AllocaInst*, llvm::Value*> uniform_;
};

}  // namespace nuna::compiler
