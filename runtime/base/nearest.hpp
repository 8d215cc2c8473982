#pragma once
// The known name that a misspelt one most likely meant. Pure.

#include <span>
#include <string_view>

namespace nuna::base {

/// The fewest edits away (a letter more, less or another); of several the first. Not for an empty list.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

}  // namespace nuna::base
