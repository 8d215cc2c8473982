#include "copy.hpp"

#include <algorithm>
#include <cstring>

#include "device.hpp"

namespace nuna::cudart {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

bool is_dense(const Place& place, const Rows& rows) {
  return (rows.rows == 1 || place.row_bytes == rows.width) &&
         (rows.planes == 1 || place.plane_bytes == rows.width * rows.rows);
}

// The same bytes as one row where they lie so.
Copy flattened(Copy copy) {
  if (is_dense(copy.to, copy.rows) && is_dense(copy.from, copy.rows)) copy.rows = {copy.rows.bytes(), 1, 1};
  return copy;
}
Fill flattened(Fill fill) {
  if (is_dense(fill.to, fill.rows)) fill.rows = {fill.rows.bytes(), 1, 1};
  return fill;
}

std::byte* row_of(const Place& place, const Rows& rows, std::size_t row) {
  return place.first + row % rows.rows * place.row_bytes + row / rows.rows * place.plane_bytes;
}

void fill_row(std::byte* to, std::size_t bytes, const Fill& fill) {
  if (fill.element_bytes == 1) {
    std::memset(to, static_cast<int>(fill.value & 0xff), bytes);
    return;
  }
  for (std::size_t at = 0; at + fill.element_bytes <= bytes; at += fill.element_bytes)
    std::memcpy(to + at, &fill.value, fill.element_bytes);
}

// `each` is called for pieces of rows: row, first byte, bytes.
template <class Each>
void for_pieces(const Rows& rows, std::size_t first_piece, std::size_t pieces_per_row, std::size_t count,
                Each each) {
  const std::size_t piece = (rows.width / pieces_per_row + 64) / 64 * 64;
  for (std::size_t p = first_piece; p < first_piece + count; ++p) {
    const std::size_t begin = std::min(rows.width, p % pieces_per_row * piece);
    const std::size_t end = std::min(rows.width, begin + piece);
    if (begin < end) each(p / pieces_per_row, begin, end - begin);
  }
}

// Rows are cut where they are long, and taken several at once where they are short.
template <class Each>
class RowsJob final : public Job {
 public:
  RowsJob(const Rows& rows, Each each) : Job(tiles_of(rows)), rows_(rows), each_(each) {}
  void work() override {
    for (std::uint64_t tile = take(); tile < tiles(); tile = take()) {
      const std::size_t first = tile * per_tile(rows_);
      const std::size_t count = std::min(per_tile(rows_), pieces(rows_) - first);
      for_pieces(rows_, first, pieces_per_row(rows_), count, each_);
    }
  }

 private:
  static std::size_t pieces_per_row(const Rows& rows) { return (rows.width + kPieceBytes - 1) / kPieceBytes; }
  static std::size_t pieces(const Rows& rows) { return rows.rows * rows.planes * pieces_per_row(rows); }
  static std::size_t per_tile(const Rows& rows) {
    return std::max<std::size_t>(1, kPieceBytes / std::max<std::size_t>(1, rows.width));
  }
  static std::uint64_t tiles_of(const Rows& rows) {
    return (pieces(rows) + per_tile(rows) - 1) / per_tile(rows);
  }

  const Rows rows_;
  const Each each_;
};

template <class Each>
void share(Crew& crew, const Rows& rows, Each each) {
  RowsJob job(rows, each);
  crew.perform(job, false);
}

}  // namespace

void perform(const Copy& wanted) {
  const Copy copy = flattened(wanted);
  if (copy.rows.bytes() == 0) return;
  for (std::size_t row = 0; row < copy.rows.rows * copy.rows.planes; ++row)
    std::memmove(row_of(copy.to, copy.rows, row), row_of(copy.from, copy.rows, row), copy.rows.width);
}

void perform(const Fill& wanted) {
  const Fill fill = flattened(wanted);
  if (fill.rows.bytes() == 0) return;
  for (std::size_t row = 0; row < fill.rows.rows * fill.rows.planes; ++row)
    fill_row(row_of(fill.to, fill.rows, row), fill.rows.width, fill);
}

void CopyAction::run(Crew& crew) const {
  if (Spread* const spread = Device::get().spread()) {
    if (spread->start(flattened(copy_)) || spread->update(flattened(copy_))) return;
    spread->settle();
    if (spread->replicated()) return spread->copy(copy_);
  }
  const Copy copy = flattened(copy_);
  if (copy.rows.bytes() < kCrewBytes) return perform(copy);
  share(crew, copy.rows, [&](std::size_t row, std::size_t begin, std::size_t bytes) {
    std::memcpy(row_of(copy.to, copy.rows, row) + begin, row_of(copy.from, copy.rows, row) + begin, bytes);
  });
}

void FillAction::run(Crew& crew) const {
  if (Spread* const spread = Device::get().spread()) {
    if (spread->update(flattened(fill_)) || spread->start(flattened(fill_))) return;
    spread->settle();
    if (spread->replicated()) return spread->fill(fill_);
  }
  const Fill fill = flattened(fill_);
  if (fill.rows.bytes() < kCrewBytes) return perform(fill);
  share(crew, fill.rows, [&](std::size_t row, std::size_t begin, std::size_t bytes) {
    fill_row(row_of(fill.to, fill.rows, row) + begin, bytes, fill);
  });
}

}  // namespace nuna::cudart
