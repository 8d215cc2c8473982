#pragma once
// Table: the best way between two memories as a function of the size. A value.

#include <cstdint>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::route {

enum class Kind : std::uint8_t { same_memory, direct, staged, mapped, in_place, packed, pipelined };
inline constexpr int kKinds = 7;
/// "same memory", "direct", "staged", "mapped", "in place", "packed", "pipelined".
const char* to_string(Kind kind);

/// Holds from `from_bytes` up to the next step's.
struct Step {
  Index from_bytes = 0;
  Kind kind = Kind::direct;
  Index chunk_bytes = 0;  ///< staged, pipelined; else 0
  int blocks = 0;         ///< the same
  friend bool operator==(const Step&, const Step&) = default;
};

class Table {
 public:
  /// Empty: there is no way.
  Table() = default;
  /// Ascending; the first begins at 0.
  explicit Table(std::vector<Step> steps);
  /// Not for an empty table, nor for less than 0 bytes.
  const Step& at(Index bytes) const;
  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  friend bool operator==(const Table&, const Table&) = default;

 private:
  std::vector<Step> steps_;
};

}  // namespace nuna::route
