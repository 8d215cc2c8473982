#pragma once
// What is known of one byte of a buffer: owner, holders, describe (nuna/inspect.hpp). Changes nothing.

#include <string>
#include <vector>

#include "nuna/inspect.hpp"
#include "rank_runtime.hpp"

namespace nuna::detail {

/// Memories that have the newest version of a dense byte; the owner first: the one that wrote it, as far as this rank knows.
std::vector<Memory> holders_of(RankRuntime& runtime, const execute::Buffer& buffer, Index byte);

/// Several lines about it. `pointer`: by which it was found.
std::string text_of(RankRuntime& runtime, const execute::Buffer& buffer, Index byte, const void* pointer);

}  // namespace nuna::detail
