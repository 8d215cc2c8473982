#pragma once
// How people read what models say: "blockDim.x * blockIdx.x + threadIdx.x < arg3".

#include <string>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

/// "blockDim.x"; "arg3", or "arg3+8" of a struct; "(arg3 / 4)".
std::string name_of(const access::Parameter& parameter, const access::KernelModel& model);
/// "argument 2", "argument 3+8", "the variable table".
std::string name_of(const access::Pointer& pointer);
/// "threadIdx.x", "k1".
std::string name_of_variable(int variable);

/// "4*(blockDim.x*blockIdx.x + threadIdx.x)".
std::string text_of(const access::Polynomial& polynomial, const access::KernelModel& model);
std::string text_of(const access::Constraint& constraint, const access::KernelModel& model);
std::string text_of(const access::SourceLine& at);

}  // namespace nuna::compiler
