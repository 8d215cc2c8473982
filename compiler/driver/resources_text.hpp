#pragma once
// What -Xptxas -v prints. Pure.

#include <string>

#include "codegen/compile_device.hpp"

namespace nuna::compiler {

/// In ptxas's form, as far as there is something to say: bytes of variables (gmem), and of each kernel what its threads keep (stack frame), its
/// static shared memory (smem) and its parameters (cmem[0]). There are no registers to count.
std::string resources_text(const CompiledDevice& code);

}  // namespace nuna::compiler
