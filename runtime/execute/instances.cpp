#include "execute/instances.hpp"

#include <algorithm>
#include <exception>
#include <span>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::execute {

using base::BoxList;
using base::ByteBox;
using base::PlaceId;
using base::Ticket;

namespace {

// Gaps between rows that are larger than this are not committed along with the rows.
constexpr Index kGapBytes = Index{64} << 10;

/// Memory of buffers with one axis is made usable in pieces of so many bytes.
constexpr Index kGranuleBytes = Index{64} << 10;

}  // namespace

Instances::Instances(const base::Shape& shape, address::Arena& arena, const Places& places, Index dense_limit,
                     std::optional<Adopted> adopted)
    : shape_(shape),
      arena_(arena),
      devices_(places),
      adopted_(adopted),
      places_(static_cast<std::size_t>(places.count())) {
  if (shape.bytes() <= dense_limit) {
    dense_offset_ = arena_.allocate(shape.bytes());
    for (Place& p : places_) set_strides(p, shape_.whole(), shape_.element_bytes, *dense_offset_);
  }
  if (!adopted_) return;
  // Its distance from the place's base, wherever that is: addresses are sums.
  const auto base = reinterpret_cast<std::uintptr_t>(devices_.at(adopted_->place).base());
  const auto first = reinterpret_cast<std::uintptr_t>(adopted_->first);
  Place& own = at(adopted_->place);
  set_strides(own, shape_.whole(), shape_.element_bytes, static_cast<Index>(first - base));
  own.ensured = {shape_.whole()};
}

Instances::~Instances() {
  for (int p = 0; p < devices_.count(); ++p) release({p});
  if (dense_offset_) arena_.free(*dense_offset_);
}

void Instances::set_strides(Place& place, const ByteBox& box, Index element_bytes, Index chunk_offset) {
  place.box = box;
  place.stride_bytes = {box[1].size() * box[2].size() * element_bytes, box[2].size() * element_bytes,
                        element_bytes};
  place.first_offset = chunk_offset;
  for (int a = 0; a < kMaxDims; ++a) {
    place.first_offset -= box[a].begin * place.stride_bytes[static_cast<std::size_t>(a)];
  }
}

Index Instances::offset_of(const Place& place, const ByteBox& box) const {
  Index offset = place.first_offset + box[base::kByteAxis].begin;
  for (int a = 0; a < kMaxDims; ++a) offset += box[a].begin * place.stride_bytes[static_cast<std::size_t>(a)];
  return offset;
}

// Rows that lie apart in one axis would be a long list; memory comes in pages anyway.
ByteBox Instances::with_surroundings(const ByteBox& box) const {
  if (!dense() || shape_.extents.dims != 1) return box;
  const Index granule = std::max<Index>(1, kGranuleBytes / shape_.element_bytes);
  ByteBox wide = shape_.whole();
  wide[0] = {box[0].begin / granule * granule,
             std::min(shape_.extents[0], (box[0].end + granule - 1) / granule * granule)};
  return wide;
}

BoxList Instances::ensure(PlaceId id, const ByteBox& wanted) {
  Place& place = at(id);
  if (wanted.empty()) return {};
  const ByteBox box = with_surroundings(wanted);
  for (const ByteBox& b : place.ensured) {
    if (b.contains(box)) return {};
  }
  BoxList fresh{box};
  for (const ByteBox& b : place.ensured) base::subtract(fresh, b);
  if (fresh.empty()) return {};
  if (!dense()) grow(id, box);
  place.half_committed = true;
  for (const ByteBox& b : fresh) commit(id, place, b);
  place.half_committed = false;
  place.ensured.insert(place.ensured.end(), fresh.begin(), fresh.end());
  base::coalesce(place.ensured);
  return fresh;
}

void Instances::commit(PlaceId id, const Place& place, const ByteBox& box) const {
  device::Device& device = devices_.at(id);
  const auto& stride = place.stride_bytes;
  const Index first = offset_of(place, box);
  const Index row = (box[2].size() - 1) * stride[2] + box[base::kByteAxis].size();
  const Index plane = (box[1].size() - 1) * stride[1] + row;
  const bool rows_apart = box[1].size() > 1 && stride[1] - row > kGapBytes;
  const bool planes_apart = box[0].size() > 1 && stride[0] - plane > kGapBytes;
  if (!rows_apart && !planes_apart) {
    device.commit({first, first + (box[0].size() - 1) * stride[0] + plane});
    return;
  }
  for (Index i = 0; i < box[0].size(); ++i) {
    if (!rows_apart) {
      device.commit({first + i * stride[0], first + i * stride[0] + plane});
      continue;
    }
    for (Index j = 0; j < box[1].size(); ++j) {
      const Index at_row = first + i * stride[0] + j * stride[1];
      device.commit({at_row, at_row + row});
    }
  }
}

// A bounding box that no longer bounds: a larger block, and the old contents moved. Rare, so it waits.
void Instances::grow(PlaceId id, const ByteBox& box) {
  Place& place = at(id);
  if (place.box.contains(box)) return;
  if (place.pins > 0) {
    throw Error(
        ErrorCode::unsupported,
        "a buffer of " + to_string(shape_.extents) +
            " is larger than an address slot and is stored as one box, which would have to move to hold " +
            base::to_string(box) + " as well, while a host view of it is open: close the view first");
  }
  ByteBox larger = base::hull(place.box, box);
  larger[base::kByteAxis] = {0, shape_.element_bytes};
  const Index chunk = arena_.allocate(larger.bytes());
  Place moved;
  set_strides(moved, larger, shape_.element_bytes, chunk);
  moved.chunk_offset = chunk;
  moved.ensured = place.ensured;
  moved.users = place.users;
  place.users.wait();
  try {
    for (const ByteBox& b : place.ensured) commit(id, moved, b);
  } catch (...) {
    give_back(id, moved);
    throw;
  }
  Ticket last;
  for (const ByteBox& b : place.ensured) {
    last = devices_.at(id).copy(region_in(id, moved, b), region_in(id, place, b), std::span(&last, 1));
  }
  last.wait();
  if (const std::exception_ptr failure = last.failure()) {
    give_back(id, moved);
    std::rethrow_exception(failure);
  }
  give_back(id, place);
  place = std::move(moved);
}

void Instances::give_back(PlaceId id, const Place& place) {
  if (place.chunk_offset < 0) return;
  devices_.at(id).release({place.chunk_offset, place.chunk_offset + place.box.bytes()});
  arena_.free(place.chunk_offset);
}

void Instances::release(PlaceId id) {
  Place& place = at(id);
  place.users.wait();
  place.users.clear();
  if (is_adopted(id)) return;
  if (!dense()) {
    give_back(id, place);
    place = Place{};
    return;
  }
  if (holds_memory(id)) devices_.at(id).release({*dense_offset_, *dense_offset_ + shape_.bytes()});
  place.ensured.clear();
  place.half_committed = false;
}

Index Instances::committed_bytes(PlaceId id) const {
  Index sum = 0;
  for (const ByteBox& b : at(id).ensured) sum += b.bytes();
  return sum;
}

device::Region Instances::region(PlaceId id, const ByteBox& box) const { return region_in(id, at(id), box); }

device::Region Instances::region_in(PlaceId id, const Place& place, const ByteBox& box) const {
  device::Region r;
  const auto base = reinterpret_cast<std::uintptr_t>(devices_.at(id).base());
  const auto first = base + static_cast<std::uintptr_t>(offset_of(place, box));
  r.first = reinterpret_cast<std::byte*>(first);  // NOLINT(performance-no-int-to-ptr)
  const bool whole_elements = box[base::kByteAxis].size() == shape_.element_bytes;
  r.counts = {box[0].size(), box[1].size(), whole_elements ? 1 : box[2].size()};
  r.stride_bytes = place.stride_bytes;
  r.run_bytes = whole_elements ? box[2].size() * shape_.element_bytes : box[base::kByteAxis].size();
  return r;
}

detail::InstanceView Instances::view(PlaceId id) const {
  const Place& place = at(id);
  detail::InstanceView v;
  const auto base = reinterpret_cast<std::uintptr_t>(devices_.at(id).base());
  const auto origin =
      base + static_cast<std::uintptr_t>(place.first_offset);  // of element 0, which may lie outside
  v.origin = reinterpret_cast<char*>(origin);                  // NOLINT(performance-no-int-to-ptr)
  v.stride_bytes = place.stride_bytes;
  v.extents = shape_.extents;
  return v;
}

bool Instances::idle() const {
  return std::all_of(places_.begin(), places_.end(), [](const Place& p) { return p.users.idle(); });
}

void Instances::all_users(Tickets& after) const {
  for (const Place& p : places_) {
    p.users.for_each([&](const ByteBox&, Ticket ticket, bool writes) {
      ticket.order_only = !writes;
      after.push_back(ticket);
    });
  }
}

}  // namespace nuna::execute
