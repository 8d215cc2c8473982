#pragma once
// Device functions that are not inlined: what they ask of their thread is read from nuna_thread_state.

#include "codegen/block_memory.hpp"
#include "codegen/device_module.hpp"

namespace nuna::compiler {

/// Where static shared memory lies that functions which are no kernels use.
CommonShared common_shared(const DeviceModule& device);

/// Replaces intrinsics and shared variables in all functions that are no kernels. Returns whether some read the state.
bool read_thread_state(DeviceModule& device, const CommonShared& common);

}  // namespace nuna::compiler
