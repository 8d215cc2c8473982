#pragma once
// What two passes over the same file say, said once. Pure.

#include <string>

namespace nuna::compiler {

/// Clang's diagnostics in `device` that are not in `host`, without its counts of errors and warnings. A diagnostic is its first
/// line ("file:line:column: error: text", after "In file included from" lines) and what follows up to the next.
std::string only_of_device(const std::string& device, const std::string& host);

/// `text` without clang's counts ("2 errors generated when compiling for sm_80.").
std::string without_counts(const std::string& text);

/// `text` with what clang says of launches of kernels in device code, and of calls of CUDA's runtime there, in words of ours; once a line.
std::string explained(const std::string& text);

/// `text` without the marks that make terminals show colours.
std::string without_colours(const std::string& text);

}  // namespace nuna::compiler
