#pragma once
// Nuna's own kernels for CUDA devices (kernels.cu), compiled into the library as one image for all architectures.

#include "nuna/instance.hpp"

namespace nuna::device::cuda {

/// A fat binary.
const void* builtin_image();

/// Entries in it.
inline constexpr const char* kCopyBytes = "nuna_copy_bytes";
inline constexpr const char* kFillBytes = "nuna_fill_bytes";

}  // namespace nuna::device::cuda
