// New contents from the host for bytes that devices have copies of (Program::update).
//
// Who has read bytes since they were last written has a copy of them: the places that a residency names are the pattern of the
// launches before. Bytes that the host gives new contents replace those copies, where otherwise they would make them stale and be brought
// there again by the next launch.

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "execute/program.hpp"

namespace nuna::execute {

using base::ByteBox;
using detail::NewBytes;

namespace {

ByteBox box_of(Interval bytes) { return {{bytes, Interval{0, 1}, Interval{0, 1}, Interval{0, 1}}}; }

const std::byte* first_of(const NewBytes& row) { return static_cast<const std::byte*>(row.from); }

Interval span_of(absl::Span<const NewBytes> rows) {
  return {rows.front().bytes.begin, rows.back().bytes.end};
}

/// Calls f(part of a row inside `bytes`, row).
template <class F>
void for_each_inside(absl::Span<const NewBytes> rows, Interval bytes, F f) {
  auto row = std::partition_point(rows.begin(), rows.end(),
                                  [&](const NewBytes& r) { return r.bytes.end <= bytes.begin; });
  for (; row != rows.end() && row->bytes.begin < bytes.end; ++row) f(row->bytes.intersect(bytes), *row);
}

/// The same on all ranks.
std::uint64_t asked(const Buffer& buffer, Interval bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = buffer.number;
  for (const Index each : {bytes.begin, bytes.end})
    hash = (hash ^ (hash >> 29U)) * kOdd + static_cast<std::uint64_t>(each);
  return hash;
}

}  // namespace

struct Program::Update {
  absl::Span<const NewBytes> rows;
  std::optional<Instances> source;

  // Planned from a state of the buffer.
  residency::ResidencyState next;
  plan::PlacePlan plan;
  Index updated = 0;  // bytes, of all devices
  std::vector<std::pair<Interval, const NewBytes*>> on_host;
  base::BoxList host_boxes;

  void plan_for(const residency::ResidencyState& state, bool poisons);
  void add_on_host(Interval bytes);
  void add(Interval bytes, const NewBytes& row, base::PlaceId place);
};

void Program::Update::plan_for(const residency::ResidencyState& state, bool poisons) {
  next = state;
  plan = {};
  plan.arguments = 2;
  updated = 0;
  on_host.clear();
  host_boxes.clear();
  const Interval span = span_of(rows);
  Index known = span.begin;  // of what is behind it nobody is known to hold anything
  for (const residency::Holding& held : state.within(box_of(span))) {
    const Interval here = held.box[0];
    add_on_host({known, here.begin});
    known = here.end;
    const residency::PlaceSet devices = held.places.without(base::kHostPlace);
    if (devices.empty()) {
      add_on_host(here);
      continue;
    }
    next.set(held.box, devices);  // what lies between rows they have as well
    for_each_inside(rows, here, [&](Interval bytes, const NewBytes& row) {
      for (auto left = devices; !left.empty(); left = left.without(left.first()))
        add(bytes, row, left.first());
    });
    if (!poisons || devices == held.places) continue;
    plan::Instruction stale;
    stale.kind = plan::Kind::fill;
    stale.writes.push_back({0, base::kHostPlace, held.box});
    plan.instructions.push_back(std::move(stale));
  }
  add_on_host({known, span.end});
}

void Program::Update::add_on_host(Interval bytes) {
  for_each_inside(rows, bytes, [&](Interval part, const NewBytes& row) {
    on_host.emplace_back(part, &row);
    host_boxes.push_back(box_of(part));
    next.set(host_boxes.back(), residency::PlaceSet::only(base::kHostPlace));
  });
}

void Program::Update::add(Interval bytes, const NewBytes& row, base::PlaceId place) {
  plan::Instruction step;
  step.kind = source ? plan::Kind::copy : plan::Kind::fill;
  step.value = row.value;
  step.writes.push_back({0, place, box_of(bytes)});
  if (source) {
    const Index begin = first_of(row) - first_of(rows.front()) + bytes.begin - row.bytes.begin;
    step.reads.push_back({1, base::kHostPlace, box_of({begin, begin + bytes.size()})});
  }
  plan.instructions.push_back(std::move(step));
  updated += bytes.size();
}

bool Program::devices_have(Buffer& buffer, absl::Span<const NewBytes> rows) {
  std::optional<Paused> paused;
  if (buffer.host != nullptr) {
    paused.emplace(*buffer.host);
    settle(buffer);
  }
  const auto held = buffer.residency->within(box_of(span_of(rows)));
  return std::any_of(held.begin(), held.end(),
                     [](const residency::Holding& h) { return !h.places.without(base::kHostPlace).empty(); });
}

void Program::update(Buffer& buffer, absl::Span<const NewBytes> rows, std::string_view site) {
  base::check(buffer.shape().bytes() == buffer.shape().extents.size[0], "an update is of a row of bytes");
  if (const std::exception_ptr lost = executor_.lost()) std::rethrow_exception(lost);
  Update update;
  update.rows = rows;
  if (rows.front().from != nullptr) {
    // The program's memory as an instance that nobody else knows.
    const Index bytes = first_of(rows.back()) + rows.back().bytes.size() - first_of(rows.front());
    const Adopted memory{base::kHostPlace, const_cast<std::byte*>(first_of(rows.front()))};
    update.source.emplace(base::Shape{Extents{bytes}, 1}, arena_, places_, 0, memory);
  }
  std::optional<Completion> begun;
  while (!(begun = begin_update(buffer, update, site))) wait_for_host_users(buffer, update.host_boxes);
  // Afterwards the program may change its memory.
  wait_for(Tickets(begun->tickets.begin(), begun->tickets.end()));
  if (const std::exception_ptr failure = begun->failure()) std::rethrow_exception(failure);
}

/// Nothing has happened if operations use the host place where it is to be written.
std::optional<Completion> Program::begin_update(Buffer& buffer, Update& update, std::string_view site) {
  std::optional<Paused> paused;
  if (buffer.host != nullptr) {
    paused.emplace(*buffer.host);
    settle(buffer);
  }
  update.plan_for(*buffer.residency, config_.poison);
  if (host_is_used(buffer, update.host_boxes, true)) return std::nullopt;
  for (const ByteBox& box : update.host_boxes) make_usable_on_host(buffer, box);
  Call call;
  call.name = name_of("update");
  call.buffers.push_back(buffer.instances.get());
  if (update.source) call.buffers.push_back(&*update.source);
  Arguments keep;
  keep.buffers.push_back(&buffer);
  prepare(update.plan, call, keep, "update", site);
  const Interval span = span_of(update.rows);
  if (buffer.host != nullptr) {
    base::BoxList written;
    for (const NewBytes& row : update.rows) written.push_back(box_of(row.bytes));
    buffer.host->close({}, written);
  }
  number_call("update", {}, site, asked(buffer, span), call.envelope);
  for (const auto& [bytes, row] : update.on_host) {
    std::byte* const to = buffer.instances->region(base::kHostPlace, box_of(bytes)).first;
    const auto size = static_cast<std::size_t>(bytes.size());
    if (update.source) {
      std::memcpy(to, first_of(*row) + (bytes.begin - row->bytes.begin), size);
    } else {
      std::memset(to, std::to_integer<int>(row->value), size);
    }
    buffer.instances->note_write(base::kHostPlace, box_of(bytes), base::Ticket{});
  }
  buffer.directory = planner_.intern(buffer.directory->after_host_write(span, all_ranks()));
  buffer.residency = lowering_.intern(std::move(update.next));
  buffer.last_use = sequence_;
  stats_.updated(update.updated);
  return executor_.submit(update.plan, call);
}

}  // namespace nuna::execute
