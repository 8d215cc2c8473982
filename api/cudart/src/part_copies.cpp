#include "part_copies.hpp"

#include <cstring>
#include <new>

namespace nuna::cudart {
namespace {

constexpr Index kPageBytes = 4096;

}  // namespace

void SavedRows::save(std::size_t chunk, const ByteRows& rows, const char* first) {
  for (const Interval row : rows) {
    rows_.push_back({chunk, row});
    bytes_.insert(bytes_.end(), first + row.begin, first + row.end);
  }
}

void SavedRows::put_back(const std::vector<char*>& firsts) const {
  const char* from = bytes_.data();
  for (const auto& [chunk, row] : rows_) {
    std::memcpy(firsts[chunk] + row.begin, from, static_cast<std::size_t>(row.size()));
    from += row.size();
  }
}

WorkingCopy::WorkingCopy(const ByteRows& rows, const char* first)
    : begin_(rows.front().begin / kPageBytes * kPageBytes) {
  const Index pages = (rows.back().end - begin_ + kPageBytes - 1) / kPageBytes;
  memory_.reset(
      static_cast<char*>(std::aligned_alloc(kPageBytes, static_cast<std::size_t>(pages * kPageBytes))));
  if (memory_ == nullptr) throw std::bad_alloc();
  copy_rows(rows, this->first(), first);
}

void copy_rows(const ByteRows& rows, char* to_first, const char* from_first) {
  for (const Interval row : rows)
    std::memcpy(to_first + row.begin, from_first + row.begin, static_cast<std::size_t>(row.size()));
}

}  // namespace nuna::cudart
