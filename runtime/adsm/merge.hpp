#pragma once
// Merging what several ranks wrote through views of the same bytes (D6). Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "adsm/pages.hpp"
#include "nuna/box.hpp"

namespace nuna::adsm {

/// Bytes of a view that differ from its twin, as runs; serialised to one message.
std::vector<std::byte> changes(std::span<const std::byte> now, std::span<const std::byte> twin);

/// Two ranks that changed the same bytes to different values.
struct Conflict {
  int rank_a = 0;
  int rank_b = 0;
  Interval bytes;
};

/// Applies all ranks' changes to the twin, in rank order from the last to the first, so that the lowest rank
/// wins a conflict; returns the first conflict. Throws Error (diverged) when a message is not one of changes().
std::optional<Conflict> merge(std::span<const std::vector<std::byte>> changes_by_rank,
                              std::span<std::byte> twin);

inline constexpr Index kChunkBytes = Index{64} << 10;
/// A hash per chunk, as one message.
std::vector<std::byte> chunk_hashes(std::span<const std::byte> bytes);
/// The chunks in which some rank's hashes differ from rank 0's, in order, each with the first such rank.
std::vector<Conflict> differences(std::span<const std::vector<std::byte>> hashes_by_rank, Index bytes);

/// What is changed of a view whose bytes are rank 0's in the end.
struct LedChanges {
  std::vector<Interval> alike;      ///< on all ranks
  std::vector<Interval> of_first;   ///< on rank 0 only, or not as there
  std::optional<Conflict> unequal;  ///< the first of the latter, if all ranks had the view
};
/// The pages of a view that differ from its twin, with hashes, as one message.
std::vector<std::byte> changed_pages(std::span<const std::byte> now, std::span<const std::byte> twin);
/// Of those of all ranks; with `everywhere` all had the view, else rank 0 alone. Intervals are disjoint, in order and apart. Throws Error
/// (diverged) when a message is not one of changed_pages().
LedChanges led_changes(std::span<const std::vector<std::byte>> pages_by_rank, bool everywhere, Index bytes);

}  // namespace nuna::adsm
