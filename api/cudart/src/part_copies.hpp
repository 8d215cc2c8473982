#pragma once
// Copies of bytes that a part of a launch may write. Chunks and rows are those of recorded_sets.hpp: rows count from a chunk's first byte.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::cudart {

using ByteRows = std::vector<Interval>;

/// Some rows of some chunks as they were.
class SavedRows {
 public:
  /// `first`: where the chunk's first byte is, or would be.
  void save(std::size_t chunk, const ByteRows& rows, const char* first);
  /// `firsts`: of each chunk.
  void put_back(const std::vector<char*>& firsts) const;

 private:
  std::vector<std::pair<std::size_t, Interval>> rows_;
  std::vector<char> bytes_;
};

/// Memory for the rows of one chunk between the first and the last, to work on. Bytes lie in their pages as in the chunk. What is between
/// rows is not touched.
class WorkingCopy {
 public:
  /// Of no rows.
  WorkingCopy() = default;
  /// In order; not empty. Throws std::bad_alloc.
  WorkingCopy(const ByteRows& rows, const char* first);
  /// Where the chunk's first byte would be; null of no rows.
  char* first() const { return memory_ == nullptr ? nullptr : memory_.get() - begin_; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  Index begin_ = 0;
};

void copy_rows(const ByteRows& rows, char* to_first, const char* from_first);

}  // namespace nuna::cudart
