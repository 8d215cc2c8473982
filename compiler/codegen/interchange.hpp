#pragma once
// Loops that all threads of a block run alike, without waiting for each other: the loop over threads moves inside, where it
// vectorises, and what each thread carries from round to round stays in vector registers.

#include <llvm/IR/Function.h>

#include "codegen/uniformity.hpp"

namespace nuna::compiler {

/// Makes lanes of a warp meet (__nuna_lanes_meet) at the top of each such loop of a simplified kernel, and behind it, where that
/// pays: the loop is an innermost one, its rounds are the same for all threads, threads come to it together, and neighbouring
/// threads read neighbouring memory, or the same.
void interchange_uniform_loops(llvm::Function& kernel, Among among = Among::block);

}  // namespace nuna::compiler
