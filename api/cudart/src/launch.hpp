#pragma once
// A launch as the API has it, checked and made an operation.

#include <memory>

#include "cuda_runtime_api.h"
#include "kernel.hpp"

namespace nuna::cudart {

/// Throws Refused.
std::shared_ptr<const KernelAction> kernel_action(const void* function, dim3 grid, dim3 block,
                                                  void** arguments, std::size_t dynamic_shared_bytes);
std::shared_ptr<const KernelAction> kernel_action(const cudaKernelNodeParams& params);

/// What it was made of; the pointers are the action's.
cudaKernelNodeParams parameters_of(const KernelAction& action);

}  // namespace nuna::cudart
