#pragma once
// Sources: where the newest bytes of one buffer lie, and what must be over before the host may use them. A value that a
// fault handler reads (D7's {source, ticket}, for all blocks at once: a block's word would say the same as its neighbours').
//
// Made from the residency and the records of users whenever a call has changed them; never changed afterwards. Pure, but for
// tickets, which become done. Threads: any may read. Signals: state(), brings() and fetch() are safe in handlers: no lock, no
// allocation, cost by what meets the range.

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "base/boxes.hpp"
#include "base/timeline.hpp"

namespace nuna::adsm {

/// Calls f(first, last) for the runs of dense bytes that `box` has within `range`, ascending.
template <class F>
void for_each_run(const base::Shape& shape, const base::ByteBox& box, Interval range, F f);

class Sources {
 public:
  /// A box whose newest bytes lie in one memory (and maybe in others, too).
  struct Source {
    base::ByteBox box;
    enum class Kind : std::uint8_t {
      host,     ///< the host place has them
      near,     ///< memory that the CPU reads: bytes at `first` + dense offset
      distant,  ///< only a device gets at them
    } kind = Kind::host;
    const std::byte* first = nullptr;
    absl::InlinedVector<base::Ticket, 2> written_by;
  };
  /// What uses the host place's instance.
  struct Use {
    base::ByteBox box;
    base::Ticket ticket;
    bool writes = false;
  };

  Sources() = default;
  Sources(const base::Shape& shape, std::vector<Source> sources, const std::vector<Use>& uses);

  enum class State : std::uint8_t {
    ready,     ///< fetch() may be called
    doubtful,  ///< so it may, but what should have made the bytes may have failed: see failure()
    in_use,    ///< to be written, but operations still read what is there
    pending,   ///< some operation must be over first
    distant,   ///< a device must bring the bytes
  };
  /// Whether the host may read (or also write) dense bytes `range`. `current`: the host place has the newest already.
  State state(Interval range, bool current, bool write) const noexcept;
  /// Whether fetch() would copy something.
  bool brings(Interval range) const noexcept;
  /// The failure of what should have made bytes of `range`, or null. Not in handlers.
  std::exception_ptr failure(Interval range) const;
  /// Brings the bytes of `range` that lie elsewhere into the host place's instance, whose byte 0 is at `host`. After
  /// state() said ready. Returns how many bytes that were.
  Index fetch(Interval range, std::byte* host) const noexcept;
  /// The same by writing to the file that is mapped there, from `offset` on. For pages that do not exist yet: the kernel does
  /// not clear them first.
  Index fetch(Interval range, std::byte* host, int file, Index offset) const noexcept;

 private:
  // Sorted by where their hulls begin, so that most are passed over at once.
  struct Spanned {
    Interval hull;  // dense bytes
    Source source;
    Index reach = 0;  // where the hulls so far end, this one included
  };
  struct SpannedUse {
    Interval hull;
    Use use;
    Index reach = 0;
  };
  template <class S>
  static void sort(std::vector<S>& spanned);
  /// Those whose hulls may meet the range: [first, last).
  template <class S>
  static std::pair<const S*, const S*> around(const std::vector<S>& spanned, Interval range) noexcept;
  template <class Copy>
  Index fetch_by(Interval range, Copy copy) const noexcept;
  bool meets(Interval hull, const base::ByteBox& box, Interval range) const noexcept;

  base::Shape shape_;
  std::vector<Spanned> sources_;
  std::vector<SpannedUse> uses_;
};

template <class F>
void for_each_run(const base::Shape& shape, const base::ByteBox& box, Interval range, F f) {
  const Index element = shape.element_bytes;
  const Index row = shape.extents.size[2] * element;
  const Index plane = shape.extents.size[1] * row;
  // Indices along an axis of `stride` bytes whose bytes, from `origin` on, meet the range.
  const auto meeting = [&](const Interval& axis, Index origin, Index stride) {
    Interval met;
    met.begin = std::max(axis.begin, (range.begin - origin) < 0 ? Index{0} : (range.begin - origin) / stride);
    met.end =
        std::min(axis.end, (range.end - origin) <= 0 ? Index{0} : (range.end - origin - 1) / stride + 1);
    return met;
  };
  const auto emit = [&](Index begin, Index end) {
    begin = std::max(begin, range.begin);
    end = std::min(end, range.end);
    if (begin < end) f(begin, end);
  };
  if (shape.is_run(box)) {
    const Interval whole = base::hull_range(shape, box);
    return emit(whole.begin, whole.end);
  }
  const bool whole_elements = box[base::kByteAxis].size() == element;
  const Interval planes = meeting(box[0], 0, plane);
  for (Index i = planes.begin; i < planes.end; ++i) {
    const Interval rows = meeting(box[1], i * plane, row);
    for (Index j = rows.begin; j < rows.end; ++j) {
      const Index origin = i * plane + j * row;
      if (whole_elements) {
        emit(origin + box[2].begin * element, origin + box[2].end * element);
        continue;
      }
      const Interval columns = meeting(box[2], origin, element);
      for (Index k = columns.begin; k < columns.end; ++k) {
        emit(origin + k * element + box[base::kByteAxis].begin,
             origin + k * element + box[base::kByteAxis].end);
      }
    }
  }
}

}  // namespace nuna::adsm
