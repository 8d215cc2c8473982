#pragma once
// nunacc --audit: device code that tells libnuna_cudart of each byte before it touches it, and touches it where that says
// (__nuna_audit in nuna_cudart/image.h).

#include "codegen/device_module.hpp"

namespace nuna::compiler {

/// Puts the calls into kernels and into functions that they still call: to be done between inline_calls() and simplify(), on the code
/// that models are of. Simplification drops stores of what was just loaded from there, which models claim.
/// Memory of threads and blocks, parameters and the code's own tables are left out. Lines come from debug information.
void tell_of_accesses(DeviceModule& device);

}  // namespace nuna::compiler
