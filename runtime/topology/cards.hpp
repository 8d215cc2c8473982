#pragma once
// Cards: how the ranks of a node share its GPUs (D10). Pure.
//
// Every rank tells which GPUs it sees; all come to the same division. A launcher may show each rank its own
// (CUDA_VISIBLE_DEVICES), or all ranks all of them: GPUs are told apart by their UUID.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace nuna::topology {

/// What a rank tells about a GPU that it sees. Exchanged as bytes.
struct CardFacts {
  std::array<std::byte, 16> uuid{};
  std::int64_t free_bytes = 0;
  std::int64_t copy_bytes_per_second = 0;  ///< within its memory
  std::uint64_t reaches = 0;               ///< bit i: it can use the memory of the i-th that the rank sees
  friend bool operator==(const CardFacts&, const CardFacts&) = default;
};
static_assert(std::has_unique_object_representations_v<CardFacts>);

inline constexpr int kMostCards = 16;  ///< that a rank tells of

struct RankCards {
  int node = 0;
  std::span<const CardFacts> seen;
};

/// A device of a rank.
struct CardShare {
  int card = 0;                 ///< the GPU, as the rank counts
  int sharers = 1;              ///< devices of all ranks on it
  std::int64_t free_bytes = 0;  ///< the device's part of what was free
  friend bool operator==(const CardShare&, const CardShare&) = default;
};

/// The devices of each rank: `devices` of them, or with 0 as many as every rank can have for itself alone, at least one. The
/// least used GPU comes first, of equals the first. A rank that sees none gets none.
std::vector<std::vector<CardShare>> share_out(std::span<const RankCards> ranks, int devices);

}  // namespace nuna::topology
