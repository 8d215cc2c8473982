#include "free_list.hpp"

#include <iterator>

namespace nuna::cudart {

void FreeList::add(std::uintptr_t first, std::size_t bytes) {
  ranges_.emplace(first, bytes);
  insert_free(pieces_.insert_or_assign(first, Piece{bytes, true, true}).first);
}

std::uintptr_t FreeList::take(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto best = free_.lower_bound({bytes, 0});
  if (best == free_.end()) return 0;
  const auto piece = pieces_.find(best->second);
  free_.erase(best);
  piece->second.free = false;
  const std::size_t rest = piece->second.bytes - bytes;
  if (rest > 0) {
    piece->second.bytes = bytes;
    insert_free(pieces_.emplace_hint(std::next(piece), piece->first + bytes, Piece{rest, true, false}));
  }
  return piece->first;
}

std::size_t FreeList::give(std::uintptr_t first) {
  auto piece = pieces_.find(first);
  const std::size_t bytes = piece->second.bytes;
  piece->second.free = true;
  const auto next = std::next(piece);
  if (next != pieces_.end() && next->second.free && !next->second.begins_range) {
    erase_free(next);
    piece->second.bytes += next->second.bytes;
    pieces_.erase(next);
  }
  if (!piece->second.begins_range) {
    const auto before = std::prev(piece);
    if (before->second.free) {
      erase_free(before);
      before->second.bytes += piece->second.bytes;
      pieces_.erase(piece);
      piece = before;
    }
  }
  insert_free(piece);
  return bytes;
}

std::vector<std::uintptr_t> FreeList::unused() const {
  std::vector<std::uintptr_t> ranges;
  for (const auto& [first, bytes] : ranges_) {
    const Piece& piece = pieces_.at(first);
    if (piece.free && piece.bytes == bytes) ranges.push_back(first);
  }
  return ranges;
}

void FreeList::remove(std::uintptr_t first) {
  const auto piece = pieces_.find(first);
  erase_free(piece);
  pieces_.erase(piece);
  ranges_.erase(first);
}

}  // namespace nuna::cudart
