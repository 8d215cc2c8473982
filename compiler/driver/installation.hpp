#pragma once
// Where this nunacc finds its headers and libnuna_cudart.

#include "driver/jobs.hpp"

namespace nuna::compiler {

/// Beside the program: <prefix>/bin/nunacc with <prefix>/lib/nuna/toolkit (compiler/toolkit.cmake), installed or in the build tree. NUNACC_CLANG names
/// another clang++. Throws std::runtime_error when the headers are not there.
Installation find_installation();

/// The nvcc of the toolkit in `cuda_path`, or in what CUDA_HOME or CUDA_PATH names, or on the PATH; "" if there is none, or if it is
/// nunacc (`self`) by that name. NUNACC_PTX=off hides it. Throws std::runtime_error if there is none in `cuda_path`.
std::string find_nvcc(const std::string& cuda_path, const std::string& self);

/// Whether NUNA_AUDIT or NUNA_PROFILE asks for --audit.
bool audit_is_set();

}  // namespace nuna::compiler
