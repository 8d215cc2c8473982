#pragma once
// Sizes in bytes on a command line: "64KiB,1MiB", or "4KiB..256MiB" for steps of a factor.

#include <string>
#include <string_view>
#include <vector>

#include "nuna/box.hpp"

namespace apps {

/// The largest size that is accepted: 64 GiB.
inline constexpr nuna::Index kMostSizeBytes = nuna::Index{1} << 36;

/// A size from 1 byte to kMostSizeBytes. Throws nuna::Error (invalid_argument) that begins with `option`.
nuna::Index parse_size(std::string_view text, const std::string& option);

/// A list, ascending and without repetition: sizes and ranges with commas between them. A range goes up by `factor` from its
/// first size, and ends with its last.
std::vector<nuna::Index> parse_sizes(std::string_view text, const std::string& option,
                                     nuna::Index factor = 4);

}  // namespace apps
