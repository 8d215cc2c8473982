#pragma once
// The names of the driver's results.

#include <cuda.h>

#include <optional>
#include <string_view>

namespace standin {

/// "CUDA_ERROR_OUT_OF_MEMORY", or null for a number that is none of them.
const char* result_name(CUresult result);

std::optional<CUresult> result_named(std::string_view name);

}  // namespace standin
