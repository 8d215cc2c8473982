#pragma once
// What a thread does in each basic block, in instructions.

#include <vector>

#include "access/kernel_code.hpp"

namespace nuna::compiler {

std::vector<access::BlockWork> work_of(const KernelCode& code);

}  // namespace nuna::compiler
