#pragma once
// Atomics on shared memory: one thread of the CPU runs all threads of a block, so that they need not be atomic there.

#include <llvm/IR/Function.h>

#include <functional>

namespace nuna::compiler {

/// Marks the atomics of a kernel whose address is part of a variable that `is_shared`.
void mark_shared_atomics(llvm::Function& kernel,
                         const std::function<bool(const llvm::GlobalVariable&)>& is_shared);

/// Makes marked atomics, of code for blocks, into loads and stores. The loop over threads must know that these depend on each
/// other: they belong to no group of parallel accesses.
void lower_shared_atomics(llvm::Function& function);

}  // namespace nuna::compiler
