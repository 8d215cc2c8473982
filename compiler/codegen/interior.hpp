#pragma once
// Blocks in the interior of a grid: those whose threads all lie on the same side of every bound that the kernel asks about
// (i < n, x > 0, max(x - 1, 0)). Their code asks no more: loops over threads need no masks, neighbours lie side by side, and no
// thread returns before the others. Blocks at the grid's edge run the code that asks.

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include <optional>
#include <string>
#include <vector>

namespace nuna::compiler {

/// A comparison, minimum or maximum of a value that is affine in the thread's indices with one that is the same for all threads,
/// both known when a block starts. A minimum or maximum that is a guard is, in the interior, one of its operands, and may be the
/// varying value of a later guard.
struct Guard {
  llvm::Instruction* instruction = nullptr;
  llvm::Value* varying = nullptr;
  llvm::Value* bound = nullptr;
  bool below = false;  ///< in the interior, varying lies below the bound
};

/// The guards of a simplified kernel that a block's place in the grid decides.
std::vector<Guard> find_guards(llvm::Function& kernel);

/// An internal copy of `kernel`.
llvm::Function* copy_kernel(llvm::Function& kernel, const char* suffix);

/// A copy of `kernel`, simplified, for blocks whose threads are all where the guards say.
llvm::Function* make_interior_kernel(llvm::Function& kernel, const std::vector<Guard>& guards,
                                     llvm::TargetMachine& machine);

/// Makes bool name(const nuna_block_call*, uint32_t x, uint32_t y, uint32_t z): whether that block lies in the interior.
llvm::Function* make_interior_test(const llvm::Function& kernel, const std::vector<Guard>& guards,
                                   const std::string& name);

/// Makes void name(const nuna_block_call*), which has runs of blocks along x done by `interior` or by `edge`, as `test` says.
llvm::Function* make_interior_choice(llvm::Function& test, llvm::Function& interior, llvm::Function& edge,
                                     const std::string& name);

}  // namespace nuna::compiler
