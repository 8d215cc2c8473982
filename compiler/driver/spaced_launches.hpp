#pragma once
// kernel<< <grid, block>> >(...): nvcc takes blanks inside the marks of a launch, clang does not. Pure.

#include <optional>
#include <string>

namespace nuna::compiler {

/// `source` with `<< <` written `<<<` and the `>> >` that ends the same launch written `>>>`: blanks and comments move behind the
/// mark, so that nothing else changes its place. Nothing if there is no such launch. `operator<< <T>` is left alone.
std::optional<std::string> close_spaced_launches(const std::string& source);

}  // namespace nuna::compiler
