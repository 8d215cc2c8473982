#pragma once
// A kernel's access model (access/kernel_model.hpp of the runtime) from its IR.

#include <vector>

#include "access/kernel_model.hpp"
#include "codegen/device_module.hpp"

namespace nuna::compiler {

/// The models of all kernels, in their order. To be called after inline_calls: the early passes have made values of variables, and
/// nothing has turned loops yet. The module is as before when it returns.
std::vector<access::KernelModel> model_kernels(DeviceModule& device, llvm::TargetMachine& machine);

}  // namespace nuna::compiler
