#pragma once
// A kernel's code for one thread, cut where threads wait for each other: the plan from which code for whole blocks is made.
//
// Continuation-based loop fission: a *region* is what a thread may run from one suspension (a barrier of the block or of a
// warp, or the start) to the next. Between two suspensions all threads of the block run the region one after the other, or side
// by side in vector lanes. Values that live across a suspension are kept: recomputed in the next region where they are made of
// arguments and indices only, once a block where they are the same for all threads, else once a thread.
//
// Where every branch that decides which suspension comes next is uniform (the same for all threads that wait together), one
// program counter serves them all; otherwise each thread has its own, as threads of a GPU have.

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "codegen/intrinsics.hpp"
#include "codegen/uniformity.hpp"

namespace nuna::compiler {

/// Threads that may suspend together without the rest of their block.
enum class Grouping {
  none,
  warps,      ///< 32 threads whose linear numbers follow each other
  row_parts,  ///< up to 32 neighbours along x: where no thread can tell, and indices are to cost no division
};

struct Suspension {
  bool group = false;  ///< lanes of a group meet, not the block
  llvm::CallInst* call =
      nullptr;      ///< of a warp's suspension, which says which lanes; last but one in its block
  unsigned to = 0;  ///< the region that follows
};

struct Region {
  llvm::BasicBlock* start = nullptr;
  std::vector<llvm::BasicBlock*> blocks;  ///< in reverse post order; a block may belong to several regions
  llvm::Instruction* group = nullptr;     ///< stands for the lanes that met at a warp's suspension
  std::uint8_t kind = 0;                  ///< of that suspension: it meets others of its kind
  std::vector<unsigned> next;             ///< the regions that may follow
  bool may_end = false;                   ///< the kernel may end in it
  bool after_group = false;               ///< begins behind a group's suspension
  bool waited = false;                    ///< there, for others
  bool parts = false;                     ///< threads that run it together may leave it on different ways
};

/// Instructions that compute a value again from arguments, special registers and constants: in order, the value last. Not in
/// any block.
using Recipe = std::vector<llvm::Instruction*>;

struct KeptValue {
  enum class How { recompute, uniform, per_thread };
  llvm::AllocaInst* home = nullptr;  ///< where its uses read it
  How how = How::per_thread;
  bool across_barrier = false;  ///< lives across a barrier of the block, not only of warps
  Recipe recipe;                ///< of How::recompute
  std::vector<bool> live_in;    ///< by region
};

struct ThreadCode {
  llvm::Function* function = nullptr;
  std::vector<Region> regions;                          ///< the first is where threads start
  std::map<llvm::BasicBlock*, Suspension> suspensions;  ///< by the block that ends with one
  std::vector<KeptValue> values;
  std::vector<llvm::AllocaInst*> arrays;        ///< a thread's own memory that lives across suspensions
  std::vector<llvm::AllocaInst*> local_arrays;  ///< that does not
  std::array<llvm::Instruction*, kSpecialRegisters> registers{};
  std::map<Intrinsic, llvm::Instruction*> addresses;  ///< of block memory
  std::vector<llvm::GlobalVariable*> dynamic_shared;  ///< extern __shared__ arrays that it uses
  std::size_t instructions = 0;                       ///< of all regions: what one copy of the code takes
  Grouping grouping = Grouping::none;
  bool calls_with_state = false;  ///< calls functions that read nuna_thread_state
  bool diverges = false;          ///< threads need program counters of their own

  ThreadCode() = default;
  ThreadCode(ThreadCode&&) = default;
  ~ThreadCode();  ///< frees the recipes
};

/// Cuts `function`, a simplified kernel, which it changes: the plan refers to what it becomes. A plan among warps is good only for
/// blocks whose rows are whole warps, and only where threads suspend in warps.
ThreadCode plan_threads(llvm::Function& function, Among among = Among::block);

}  // namespace nuna::compiler
