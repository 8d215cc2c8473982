// What the host gives to devices that have older bytes (spread.hpp).

#include <algorithm>
#include <vector>

#include "nuna/update.hpp"
#include "spread.hpp"

namespace nuna::cudart {
namespace {

/// Rows that lie apart, of which Nuna keeps account one by one. Of more the host writes the whole.
constexpr std::size_t kMostRows = 1024;

const std::byte* row_of(const Place& place, const Rows& rows, std::size_t row) {
  return place.first + row % rows.rows * place.row_bytes + row / rows.rows * place.plane_bytes;
}

bool ascends(const Place& place, const Rows& rows) {
  return rows.planes == 1 || place.plane_bytes >= place.row_bytes * rows.rows;
}

bool is_one_byte(const Fill& fill) {
  const std::uint32_t byte = fill.value & 0xff;
  return fill.element_bytes == 1 || fill.value == byte * (fill.element_bytes == 2 ? 0x101U : 0x1010101U);
}

}  // namespace

bool Spread::update(const Copy& copy) {
  if (memory_.backing(copy.from.first)) return false;
  return update(copy.to, copy.rows, &copy.from, {});
}

bool Spread::update(const Fill& fill) {
  if (!is_one_byte(fill)) return false;
  return update(fill.to, fill.rows, nullptr, static_cast<std::byte>(fill.value & 0xff));
}

/// `from` null: of one value.
bool Spread::update(const Place& to, const Rows& rows, const Place* from, std::byte value) {
  if (replicated() && context_.devices() == 1) return false;  // its memory is the host's
  const std::size_t count = rows.rows * rows.planes;
  if (count > (replicated() ? 1 : kMostRows) || !ascends(to, rows)) return false;
  if (from != nullptr && !ascends(*from, rows)) return false;
  const auto backing = memory_.backing(to.first);
  if (!backing) return false;
  if (replicated()) {
    close_views();
    if (from == nullptr) agreement_.settle_once(kFillSubject, {&value, 1});
  }
  std::vector<detail::NewBytes> made;
  for (std::size_t row = 0; row < count; ++row) {
    const auto begin =
        static_cast<Index>(reinterpret_cast<std::uintptr_t>(row_of(to, rows, row)) - backing->first);
    made.push_back({{begin, begin + static_cast<Index>(rows.width)},
                    from == nullptr ? nullptr : row_of(*from, rows, row),
                    value});
  }
  const bool updated = detail::update(context_.state(), backing->buffer->handle(), made, {"cuda update", 0});
  views_closed_ = true;
  if (!running()) settle();
  return updated;
}

}  // namespace nuna::cudart
