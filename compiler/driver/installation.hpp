#pragma once
// Where this nunacc finds its headers and libnuna_cudart.

#include "driver/jobs.hpp"

namespace nuna::compiler {

/// Beside the program: <prefix>/bin/nunacc with <prefix>/include/nuna/cuda and <prefix>/lib, or in the build tree. NUNACC_CLANG names
/// another clang++. Throws std::runtime_error when the headers are not there.
Installation find_installation();

}  // namespace nuna::compiler
