#pragma once
// Which bytes of some ranges of addresses are in use. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace nuna::cudart {

/// Best fit; neighbours that are free become one piece, but never across ranges that were added one by one.
class FreeList {
 public:
  static constexpr std::size_t kAlignment = 256;  // of what is taken, and its granularity

  void add(std::uintptr_t first, std::size_t bytes);
  /// Returns 0 when no piece is large enough.
  std::uintptr_t take(std::size_t bytes);
  /// Gives back what take() returned; its bytes.
  std::size_t give(std::uintptr_t first);
  /// The bytes of what take() returned there.
  std::size_t taken_bytes(std::uintptr_t first) const { return pieces_.at(first).bytes; }
  /// The ranges that are not in use at all.
  std::vector<std::uintptr_t> unused() const;
  /// Forgets a range that is not in use.
  void remove(std::uintptr_t first);

 private:
  struct Piece {
    std::size_t bytes = 0;
    bool free = true;
    bool begins_range = false;
  };
  using Pieces = std::map<std::uintptr_t, Piece>;

  void insert_free(Pieces::iterator piece) { free_.emplace(piece->second.bytes, piece->first); }
  void erase_free(Pieces::iterator piece) { free_.erase({piece->second.bytes, piece->first}); }

  Pieces pieces_;
  std::set<std::pair<std::size_t, std::uintptr_t>> free_;
  std::map<std::uintptr_t, std::size_t> ranges_;
};

}  // namespace nuna::cudart
