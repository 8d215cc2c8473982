#pragma once
// How the blocks of a launch are divided into pieces for threads to take. Pure.

#include <algorithm>
#include <array>
#include <cstdint>

#include "nuna/box.hpp"

namespace nuna::cudart {

using Grid = std::array<std::uint32_t, 3>;  // x, y, z

/// Blocks [first, last) along each axis.
struct GridBox {
  Grid first{};
  Grid last{};
};

/// The blocks along an axis that the part has where Nuna cuts it into equal parts (schedule/partition.hpp).
inline Interval blocks_of_part(Index blocks, int part, int parts) {
  const auto begin = [=](int of) { return blocks / parts * of + std::min<Index>(of, blocks % parts); };
  return {begin(part), begin(part + 1)};
}

/// Boxes of blocks of equal size (but at the grid's ends), x fastest: pieces of rows, or whole rows of a plane, or whole planes.
class Tiles {
 public:
  /// Of about `blocks_per_tile` blocks each.
  Tiles(const Grid& grid, std::uint64_t blocks_per_tile) : grid_(grid) {
    std::uint64_t rest = std::max<std::uint64_t>(1, blocks_per_tile);
    for (std::size_t a = 0; a < 3; ++a) {
      size_[a] = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rest, 1, grid[a]));
      rest = size_[a] == grid[a] ? rest / grid[a] : 1;
      counts_[a] = (std::uint64_t{grid[a]} + size_[a] - 1) / size_[a];
    }
  }

  std::uint64_t count() const { return counts_[0] * counts_[1] * counts_[2]; }
  void tile(std::uint64_t number, std::uint32_t first[3], std::uint32_t last[3]) const {
    for (std::size_t a = 0; a < 3; ++a) {
      const std::uint64_t begin = number % counts_[a] * size_[a];
      first[a] = static_cast<std::uint32_t>(begin);
      last[a] = static_cast<std::uint32_t>(std::min<std::uint64_t>(begin + size_[a], grid_[a]));
      number /= counts_[a];
    }
  }

 private:
  Grid grid_;
  Grid size_{};
  std::array<std::uint64_t, 3> counts_{};
};

}  // namespace nuna::cudart
