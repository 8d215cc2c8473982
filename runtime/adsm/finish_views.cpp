// The ends of eager views: what of their bytes is the newest then, and on which ranks (host_view.hpp).

#include <algorithm>
#include <cstring>

#include "adsm/host_view.hpp"
#include "adsm/merge.hpp"
#include "nuna/error.hpp"

namespace nuna::adsm {

using base::ByteBox;

namespace {

// Calls f(address, bytes) for every contiguous run of the region, in packing order. Elements that lie side by side are one run: of
// a buffer of bytes each would be one otherwise.
template <class F>
void for_each_region_run(device::Region r, F f) {
  for (std::size_t a = 3; a-- > 0 && (r.counts[a] == 1 || r.stride_bytes[a] == r.run_bytes);) {
    r.run_bytes *= r.counts[a];
    r.counts[a] = 1;
  }
  for (Index i = 0; i < r.counts[0]; ++i) {
    for (Index j = 0; j < r.counts[1]; ++j) {
      for (Index k = 0; k < r.counts[2]; ++k) {
        f(r.first + i * r.stride_bytes[0] + j * r.stride_bytes[1] + k * r.stride_bytes[2], r.run_bytes);
      }
    }
  }
}

Interval span_of(const HostView& v) {
  return v.bytes ? *v.bytes : base::hull_range(v.buffer->shape(), v.buffer->shape().of(v.elements));
}

}  // namespace

// What all ranks must have asked for alike: the buffer and its bytes.
std::uint64_t HostViews::asked(const HostView& v) {
  const Interval span = span_of(v);
  return (v.buffer->number << 48) ^ (static_cast<std::uint64_t>(span.begin) << 24) ^
         static_cast<std::uint64_t>(span.end);
}

std::vector<std::byte> HostViews::packed(const HostView& view) const {
  std::vector<std::byte> bytes;
  for (const ByteBox& b : boxes(view)) {
    for_each_region_run(
        view.buffer->instances->region(base::kHostPlace, b),
        [&](const std::byte* run, Index size) { bytes.insert(bytes.end(), run, run + size); });
  }
  return bytes;
}

std::span<const std::byte> HostViews::bytes_of(const HostView& view, std::vector<std::byte>& room) const {
  std::span<const std::byte> all;
  int runs = 0;
  for (const ByteBox& b : boxes(view)) {
    for_each_region_run(view.buffer->instances->region(base::kHostPlace, b),
                        [&](const std::byte* run, Index size) {
                          all = {run, static_cast<std::size_t>(size)};
                          ++runs;
                        });
  }
  if (runs == 1) return all;
  room = packed(view);
  return room;
}

void HostViews::unpack(const HostView& view, const std::vector<std::byte>& bytes) const {
  const std::byte* next = bytes.data();
  for (const ByteBox& b : boxes(view)) {
    for_each_region_run(view.buffer->instances->region(base::kHostPlace, b), [&](std::byte* run, Index size) {
      std::memcpy(run, next, static_cast<std::size_t>(size));
      next += size;
    });
  }
}

std::string HostViews::range_text(const HostView& view, Interval packed_bytes) const {
  const base::Shape& shape = view.buffer->shape();
  if (view.bytes) {
    return "bytes [" + std::to_string(view.bytes->begin + packed_bytes.begin) + ", " +
           std::to_string(view.bytes->begin + packed_bytes.end) + ")";
  }
  const Index first = packed_bytes.begin / shape.element_bytes;
  const Index last = (packed_bytes.end - 1) / shape.element_bytes;
  const auto element = [&](Index n) {
    const Box& e = view.elements;
    std::array<Index, kMaxDims> at{e[0].begin + n / (e[1].size() * e[2].size()),
                                   e[1].begin + n / e[2].size() % e[1].size(), e[2].begin + n % e[2].size()};
    std::string text = "(" + std::to_string(at[0]);
    for (int a = 1; a < e.dims; ++a) text += ", " + std::to_string(at[static_cast<std::size_t>(a)]);
    return text + ")";
  };
  return "elements " + element(first) + " to " + element(last);
}

void HostViews::mark_written(HostView& view, coherence::RankRange ranks) {
  if (view.bytes) {
    program_.host_wrote(*view.buffer, *view.bytes, ranks);
  } else {
    program_.host_wrote(*view.buffer, view.buffer->shape().of(view.elements), ranks);
  }
}

void HostViews::finish_write(HostView& view, std::string_view site) {
  const auto envelope = program_.count_call("close a host view", site, asked(view));
  if (program_.config().team.ranks == 1) return;  // it holds the newest bytes since its opening
  std::vector<std::byte> room;
  const std::span<const std::byte> bytes = bytes_of(view, room);
  const auto hashes = program_.communicator().allgather(envelope, chunk_hashes(bytes));
  const auto unequal = differences(hashes, static_cast<Index>(bytes.size()));
  if (unequal.empty()) return;
  if (view.bytes) {
    const Index first = view.bytes->begin;
    for (const Conflict& each : unequal)
      program_.host_wrote(*view.buffer, Interval{first + each.bytes.begin, first + each.bytes.end}, {0, 1});
  } else {
    mark_written(view, {0, 1});
  }
  refuse_unequal(view, unequal.front());
}

void HostViews::refuse_unequal(const HostView& view, const Conflict& first) const {
  throw Error(ErrorCode::unequal_fill,
              "the view opened at " + view.site + " was filled differently on rank 0 and rank " +
                  std::to_string(first.rank_b) + ", within " + range_text(view, first.bytes) +
                  ": fill it alike on every rank, or open it as read_write (rank 0's bytes are kept)");
}

void HostViews::finish_led(HostView& view, std::string_view site) {
  const auto envelope = program_.count_call("close a host view", site, asked(view));
  if (program_.config().team.ranks == 1) return mark_written(view, program_.all_ranks());
  std::vector<std::byte> room;
  const auto all = program_.communicator().allgather(
      envelope, view.elsewhere ? std::vector<std::byte>() : changed_pages(bytes_of(view, room), view.twin));
  view.twin.clear();
  const LedChanges changed = led_changes(all, view.everywhere, view.buffer->shape().bytes());
  for (const Interval& bytes : changed.alike) program_.host_wrote(*view.buffer, bytes, program_.all_ranks());
  for (const Interval& bytes : changed.of_first) program_.host_wrote(*view.buffer, bytes, {0, 1});
  if (changed.unequal) refuse_unequal(view, *changed.unequal);
}

void HostViews::finish_read_write(HostView& view, std::string_view site) {
  const auto envelope = program_.count_call("close a host view", site, asked(view));
  if (program_.config().team.ranks == 1) return mark_written(view, program_.all_ranks());
  const auto all = program_.communicator().allgather(envelope, changes(packed(view), view.twin));
  const auto conflict = merge(all, view.twin);
  unpack(view, view.twin);
  view.twin.clear();
  mark_written(view, program_.all_ranks());
  if (!conflict) return;
  throw Error(ErrorCode::conflicting_writes,
              "rank " + std::to_string(conflict->rank_a) + " and rank " + std::to_string(conflict->rank_b) +
                  " changed " + range_text(view, conflict->bytes) +
                  " to different values through the view opened at " + view.site +
                  ": let one rank write each byte (the lower rank's value is kept)");
}

}  // namespace nuna::adsm
