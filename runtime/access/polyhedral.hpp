#pragma once
// The second tier of the access analysis: a kernel's model with the numbers of one launch put in, so that all of it is affine, and
// evaluated exactly over integers. Done at the first launch of a signature (kernel, grid, block, scalars); the owner caches.
//
// Sources: paper 004 sections 4 and 6 (access maps, enumeration of rows), with its two unsound steps mended: what may be written is
// told apart from what is (D8), and sets that are not whole rows are enumerated instead of rounded up where something is written.
//
// Bytes are counted from what the pointer points to, and may be negative. Pure; a LaunchAccess is used by one thread at a time. Never
// throws for what a kernel does: it refuses, with the line that is the reason.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "access/kernel_model.hpp"
#include "nuna/box.hpp"

namespace nuna::access {

/// x comes first in all of them.
struct LaunchNumbers {
  std::array<Index, 3> block{1, 1, 1};  ///< threads
  std::array<Index, 3> grid{1, 1, 1};   ///< blocks
  std::vector<std::int64_t>
      scalars;  ///< the model's parameters from kScalars on; any number for derived ones
};

/// Blocks [begin, end) along x, y and z of a grid.
using BlockBox = std::array<Interval, 3>;

/// `count` rows of `bytes`, each `stride` behind the one before; stride >= bytes.
struct Rows {
  Index begin = 0;
  Index bytes = 0;
  Index stride = 0;
  Index count = 1;
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// What some blocks touch through a pointer: disjoint rows, by begin; or `anywhere` in what it points into.
struct Footprint {
  bool anywhere = false;
  std::vector<Rows> rows;
  bool empty() const { return !anywhere && rows.empty(); }
  Index bytes() const;  ///< of the rows
};

class LaunchAccess {
 public:
  /// Checks the model's assumptions. Costs about a microsecond for each of them and of the accesses; milliseconds at most.
  LaunchAccess(const KernelModel& model, const LaunchNumbers& numbers);
  ~LaunchAccess();
  LaunchAccess(LaunchAccess&&) noexcept;
  LaunchAccess& operator=(LaunchAccess&&) noexcept;

  /// Why several devices cannot share this launch whatever the cut: the model's refusal, atomics, a write anywhere, an
  /// assumption that does not hold ("an index of 32 bits may wrap"), sets that are too many or too irregular to enumerate.
  const std::optional<Refusal>& refusal() const;

  /// Whether the kernel reads, or writes, through a pointer at all (model.pointers), as far as this launch goes.
  bool reads(std::uint32_t pointer) const;
  bool writes(std::uint32_t pointer) const;
  /// Whether everything in written() is written for certain; else it may be, and must be fetched first (D8).
  bool writes_all(std::uint32_t pointer) const;

  /// What blocks of `box` read through a pointer. May be more than they do where the set is irregular, never less.
  Footprint read(std::uint32_t pointer, const BlockBox& box);
  /// What they write, or may write: exactly, byte for byte, or the launch is refused now (refusal() tells; the answer is then
  /// `anywhere`).
  Footprint written(std::uint32_t pointer, const BlockBox& box);

  /// Cuts the grid along `axis` at `begins` (the first block of each part but the first; ascending): whether no byte is written by
  /// blocks of two parts, and, if not, the line of a write that is.
  bool is_disjoint(int axis, const std::vector<Index>& begins, Refusal* why = nullptr);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace nuna::access
