#pragma once
// Sets of bytes as lists of rows: made from arithmetic progressions, united, and tested for bytes in common; all of it exact.

#include <optional>
#include <span>
#include <vector>

#include "access/polyhedral.hpp"
#include "access/region.hpp"

namespace nuna::access {

/// What a list may hold, and what single rows may be looked at to unite it.
inline constexpr std::size_t kMaxRows = 65536;

/// Past the last byte.
inline Index end_of(const Rows& rows) { return rows.begin + rows.stride * (rows.count - 1) + rows.bytes; }

/// Appends `bytes` bytes from each value of the lattice on. False: they are more than kMaxRows. Throws TooLarge.
bool append_rows(const Lattice& lattice, Index bytes, std::vector<Rows>* rows);

/// The same bytes in disjoint rows, by begin; one row has its bytes as its stride. Nothing: too irregular.
std::optional<std::vector<Rows>> unite(std::vector<Rows> rows);

/// Rows that are at least half of where they lie become one, and the list shorter; for reads.
std::vector<Rows> without_narrow_gaps(std::vector<Rows> rows);

/// Two lists, by index, that have a byte in common.
struct Meeting {
  std::size_t one = 0;
  std::size_t other = 0;
};
struct Meetings {
  bool known = true;  ///< false: too irregular to say
  std::optional<Meeting> first;
};
Meetings find_meeting(std::span<const std::vector<Rows>> lists);

}  // namespace nuna::access
