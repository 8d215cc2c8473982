#pragma once
// Instances: where the copies of one buffer lie in a rank's places, and which operations use them.
//
// Usually an instance is dense: the whole buffer at one offset, the same in every place (D1), of which only the touched
// pages cost memory. A buffer larger than the address slot is stored as the bounding box of what the place uses,
// with strides of its own.
//
// Threads: one at a time.

#include <optional>
#include <vector>

#include "address/arena.hpp"
#include "base/boxes.hpp"
#include "base/timeline.hpp"
#include "device/device.hpp"
#include "execute/places.hpp"
#include "execute/users.hpp"
#include "nuna/instance.hpp"

namespace nuna::execute {

/// Memory of the program's own, dense, that is to be the instance in one place. The program keeps it alive.
struct Adopted {
  base::PlaceId place;
  std::byte* first = nullptr;
};

class Instances {
 public:
  /// Reserves the address range: dense when the buffer has at most `dense_limit` bytes. Throws Error
  /// (out_of_memory) when the arena is exhausted.
  Instances(const base::Shape& shape, address::Arena& arena, const Places& places, Index dense_limit,
            std::optional<Adopted> adopted = std::nullopt);
  /// The caller has waited for the users.
  ~Instances();
  Instances(const Instances&) = delete;
  Instances& operator=(const Instances&) = delete;

  const base::Shape& shape() const { return shape_; }
  bool dense() const { return dense_offset_.has_value(); }
  /// Of a dense buffer, in every place's range.
  Index offset() const { return *dense_offset_; }

  /// Commits the memory of `box` in `place`, and of what shares pages with it; returns the part of it that is new. Throws Error (out_of_memory; unsupported
  /// when a buffer that is not dense would have to move while it is pinned); the contents are as before then.
  base::BoxList ensure(base::PlaceId place, const base::ByteBox& box);
  const std::optional<Adopted>& adopted() const { return adopted_; }
  /// Gives all memory in `place` back, after waiting for its users; adopted memory stays the instance.
  void release(base::PlaceId place);
  /// Bytes that ensure() made usable in `place`.
  Index committed_bytes(base::PlaceId place) const;
  /// Whether release() would give memory back: also after an ensure() that failed half way.
  bool holds_memory(base::PlaceId place) const {
    return !is_adopted(place) && (!at(place).ensured.empty() || at(place).half_committed);
  }

  /// While pinned, the instance in `place` stays at its addresses. Counted.
  void pin(base::PlaceId place) { ++at(place).pins; }
  void unpin(base::PlaceId place) { --at(place).pins; }

  /// Where an ensured box lies.
  device::Region region(base::PlaceId place, const base::ByteBox& box) const;
  detail::InstanceView view(base::PlaceId place) const;

  /// What an operation that reads (writes) `box` comes after. A reader shares the fate of what it reads.
  void before_read(base::PlaceId place, const base::ByteBox& box, Tickets& after) const {
    at(place).users.before_read(box, after);
  }
  void before_write(base::PlaceId place, const base::ByteBox& box, Tickets& after) const {
    at(place).users.before_write(box, after);
  }
  /// Notes that the operation `by` reads (writes) `box`; a default ticket: it is done.
  void note_read(base::PlaceId place, const base::ByteBox& box, base::Ticket by) {
    at(place).users.note_read(box, by);
  }
  void note_write(base::PlaceId place, const base::ByteBox& box, base::Ticket by) {
    at(place).users.note_write(box, by);
  }
  /// Calls f(box, ticket, writes) for every operation noted in `place`, done or not.
  template <class F>
  void for_each_user(base::PlaceId place, F f) const {
    at(place).users.for_each(f);
  }
  /// The same for those that meet `region`.
  template <class F>
  void for_each_user(base::PlaceId place, const base::ByteBox& region, F f) const {
    at(place).users.for_each_meeting(region, f);
  }
  /// Whether nothing is in flight in any place, and nothing failed is held. May say no where little is known.
  bool idle() const;
  /// Everything in flight in any place; and the failure of what is held (not of those that read it).
  void all_users(Tickets& after) const;

 private:
  struct Place {
    base::ByteBox box;       // stored; the whole buffer if dense
    Index first_offset = 0;  // of element (0, 0, 0), which may lie outside the box
    std::array<Index, kMaxDims> stride_bytes{};
    Index chunk_offset = -1;  // of the arena's block, if not dense
    base::BoxList ensured;
    bool half_committed = false;  // an ensure() failed
    int pins = 0;
    Users users;
  };

  bool is_adopted(base::PlaceId p) const { return adopted_ && adopted_->place == p; }
  Place& at(base::PlaceId p) { return places_[static_cast<std::size_t>(p.value)]; }
  const Place& at(base::PlaceId p) const { return places_[static_cast<std::size_t>(p.value)]; }
  static void set_strides(Place& place, const base::ByteBox& box, Index element_bytes, Index chunk_offset);
  base::ByteBox with_surroundings(const base::ByteBox& box) const;
  void grow(base::PlaceId id, const base::ByteBox& box);
  void give_back(base::PlaceId id, const Place& place);
  void commit(base::PlaceId id, const Place& place, const base::ByteBox& box) const;
  device::Region region_in(base::PlaceId id, const Place& place, const base::ByteBox& box) const;
  Index offset_of(const Place& place, const base::ByteBox& box) const;

  base::Shape shape_;
  address::Arena& arena_;
  const Places& devices_;
  std::optional<Adopted> adopted_;
  std::optional<Index> dense_offset_;
  std::vector<Place> places_;
};

}  // namespace nuna::execute
