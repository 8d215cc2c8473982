#pragma once
// static __managed__ variables: the host object keeps them to itself, and device code refers to them.

#include <string>
#include <vector>

namespace nuna::compiler {

/// The local variables of `host_object` that `device_object` refers to by name.
std::vector<std::string> shared_variables(const std::string& host_object, const std::string& device_object);

enum class Binding { local, global };

/// Rewrites `object` so that the symbols of these names have this binding. Throws std::runtime_error with the file's name.
void bind_symbols(const std::string& object, const std::vector<std::string>& names, Binding binding);

}  // namespace nuna::compiler
