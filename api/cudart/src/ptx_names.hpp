#pragma once
// Names of kernels and variables in PTX that nvcc makes, beside those of clang. Pure.
//
// They differ for what is not seen outside of its file. clang's `static` is an L before the name ("_ZL4fillPf"), which nvcc leaves out
// ("_Z4fillPf"); nvcc's nameless namespaces have the file's name and a hash in theirs, and its variables in them, or all static
// ones of older versions, stand in a namespace "_INTERNAL_..." of the file.

#include <string>
#include <string_view>

namespace nuna::cudart {

/// What both compilers' names of one thing become.
std::string name_of_both(std::string_view mangled);

}  // namespace nuna::cudart
