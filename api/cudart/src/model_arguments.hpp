#pragma once
// What a kernel's model asks of a launch's arguments.

#include <cstdint>

#include "access/kernel_model.hpp"
#include "access/polyhedral.hpp"
#include "tiles.hpp"

namespace nuna::cudart {

/// `arguments` as cudaLaunchKernel takes them. Not of variables.
std::uintptr_t pointer_of(const void* const* arguments, const access::Pointer& pointer);

access::LaunchNumbers numbers_of(const Grid& grid, const Grid& block, const void* const* arguments,
                                 const access::KernelModel& model);

}  // namespace nuna::cudart
