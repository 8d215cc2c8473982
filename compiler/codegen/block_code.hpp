#pragma once
// Code for whole blocks: functions of the form `run` of nuna_cudart/image.h, made from a kernel's plan (thread_code.hpp).

#include <llvm/IR/Function.h>

#include <string>

#include "codegen/block_memory.hpp"
#include "codegen/thread_code.hpp"

namespace nuna::compiler {

/// Blocks that a function is made for.
struct Shape {
  unsigned x = 0;            ///< threads along x; 0: any
  bool whole_warps = false;  ///< the threads along x are a multiple of 32
  bool small = false;        ///< any blocks that other code is not made for: nothing is copied for speed

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Makes void name(const nuna_block_call*), internal, for blocks of `shape`. The plan may be used again.
llvm::Function* make_block_function(const ThreadCode& code, const BlockMemory& memory, const Shape& shape,
                                    const std::string& name);

}  // namespace nuna::compiler
