#pragma once
// Sources: where the newest bytes of one buffer lie, and what must be over before the host may use them. A value that a
// fault handler reads (D7's {source, ticket}, for all blocks at once: a block's word would say the same as its neighbours').
//
// Made from the residency and the records of users whenever a call has changed them; never changed afterwards. Pure, but for
// tickets, which become done. Threads: any may read. Signals: state(), brings() and fetch() are safe in handlers: no lock, no
// allocation, cost by what meets the range.

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "base/boxes.hpp"
#include "base/timeline.hpp"

namespace nuna::adsm {

/// Calls f(first, last) for the runs of dense bytes that `box` has within `range`, ascending, until it returns false.
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
  /// Of all dense bytes, or of those that are `known`: what meets others may be left out.
  Sources(const base::Shape& shape, std::vector<Source> sources, const std::vector<Use>& uses,
          Interval known = kAll);

  static constexpr Interval kAll{std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()};
  const Interval& known() const { return known_; }

  enum class State : std::uint8_t {
    ready,     ///< fetch() may be called
    doubtful,  ///< so it may, but what should have made the bytes may have failed: see failure()
    in_use,    ///< to be written, but operations still read what is there
    pending,   ///< some operation must be over first
    distant,   ///< a device must bring the bytes
    unknown,   ///< some of the bytes are not known()
  };
  /// Whether the host may read (or also write) dense bytes `range`. `current`: the host place has the newest already.
  State state(Interval range, bool current, bool write) const noexcept;
  /// Whether fetch() would copy something. Of this and what follows the range is known().
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
  Interval known_ = kAll;
  std::vector<Spanned> sources_;
  std::vector<SpannedUse> uses_;
};

template <class F>
void for_each_run(const base::Shape& shape, const base::ByteBox& box, Interval range, F f) {
  const Index element = shape.element_bytes;
  const Index row = shape.extents.size[2] * element;
  const std::array<Index, 4> stride{shape.extents.size[1] * row, row, element, 1};
  // Whole axes behind an axis make its indices one run: of a 2-D buffer the third axis is whole.
  const base::ByteBox whole = shape.whole();
  int inner = base::kByteAxis;
  while (inner > 0 && box[inner] == whole[inner]) --inner;
  // Indices along an axis whose bytes, from `origin` on, meet the range.
  const auto meeting = [&](int a, Index origin) {
    const Index step = stride[static_cast<std::size_t>(a)];
    Interval met;
    met.begin = std::max(box[a].begin, (range.begin - origin) < 0 ? Index{0} : (range.begin - origin) / step);
    met.end =
        std::min(box[a].end, (range.end - origin) <= 0 ? Index{0} : (range.end - origin - 1) / step + 1);
    return met;
  };
  // False: f has seen enough.
  const auto walk = [&](const auto& self, int a, Index origin) -> bool {
    const Index step = stride[static_cast<std::size_t>(a)];
    if (a == inner) {
      const Index begin = std::max(origin + box[a].begin * step, range.begin);
      const Index end = std::min(origin + box[a].end * step, range.end);
      return begin >= end || f(begin, end);
    }
    const Interval indices = meeting(a, origin);
    for (Index i = indices.begin; i < indices.end; ++i) {
      if (!self(self, a + 1, origin + i * step)) return false;
    }
    return true;
  };
  if (!box.empty()) walk(walk, 0, 0);
}

}  // namespace nuna::adsm
