#pragma once
// What nunacc --explain prints.

#include <string>
#include <vector>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

std::string explain(const std::vector<access::KernelModel>& models);

}  // namespace nuna::compiler
