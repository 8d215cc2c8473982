#pragma once
// What a caught failure says.

#include <exception>
#include <string>

namespace nuna::base {

/// The text of a caught exception (not null), whatever its type.
std::string text_of(const std::exception_ptr& failure);

}  // namespace nuna::base
