#pragma once
// Recorded sets as a message between ranks: the first one records a launch, and all share out by what it has seen. Pure.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recorded_sets.hpp"

namespace nuna::cudart {

/// About an eighth of the bytes of the pages that are touched.
std::vector<std::byte> message_of(const RecordedSets& sets);

/// Makes `sets`, which are empty and of the same launch, what the message says. Why that cannot be: "memory lies ...", where chunks have
/// other addresses or numbers than with who recorded; pointers in memory would lead elsewhere then. Throws Error (diverged) for what
/// is no such message, or of another launch.
std::optional<std::string> add_message(std::span<const std::byte> message, RecordedSets& sets);

}  // namespace nuna::cudart
