#pragma once
// Code of before Volta, which counts on the lanes of a warp running in step.

#include <llvm/IR/Function.h>

#include <vector>

#include "codegen/device_module.hpp"

namespace nuna::compiler {

/// Where lanes read by volatile pointers what other lanes have written to shared memory with no barrier between, they are made to
/// meet before and behind each such write, and where lanes that parted come together. Other kernels are left alone. `kernel` is
/// simplified. Returns whether there was such code.
bool keep_warps_in_step(llvm::Function& kernel, const std::vector<SharedVariable>& shared);

}  // namespace nuna::compiler
