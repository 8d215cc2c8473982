// The host's side of a buffer: what its views bring to the host place, wait for, and have written.

#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "execute/program.hpp"
#include "nuna/error.hpp"

namespace nuna::execute {

using base::ByteBox;

void Program::check_local(const Buffer& buffer, const Box& box, std::string_view site) const {
  const ByteBox wanted = buffer.shape().of(box);
  base::BoxList lacking{wanted};
  for (const ByteBox& b : buffer.directory->held_by(config_.rank, wanted)) base::subtract(lacking, b);
  if (!lacking.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "host_local at " + std::string(site) + ": rank " + std::to_string(config_.rank.value) +
                    " does not hold " + base::to_string(lacking.front()) + ": ask for one of local_boxes()");
  }
}

void Program::fetch_local(Buffer& buffer, const Box& box, std::string_view site) {
  check_local(buffer, box, site);
  const ByteBox wanted = buffer.shape().of(box);
  bring_to_host(buffer, {wanted}, site);
  executor_.wait_for_host(*buffer.instances, wanted, false);
}

void Program::bring_to_host(Buffer& buffer, const base::BoxList& boxes, std::string_view site) {
  residency::ResidencyState state = *buffer.residency;
  plan::PlacePlan plan;
  plan.arguments = 1;
  for (const ByteBox& box : boxes) {
    for (const residency::Holding& h : buffer.residency->within(box)) {
      if (h.places.contains(base::kHostPlace)) continue;
      plan::Instruction step;
      step.kind = plan::Kind::copy;
      step.reads.push_back({0, h.places.first(), h.box});
      step.writes.push_back({0, base::kHostPlace, h.box});
      plan.instructions.push_back(std::move(step));
    }
    state.add(box, base::kHostPlace);
  }
  if (plan.instructions.empty()) return;
  Call call;
  call.name = name_of("fetch");
  call.buffers.push_back(buffer.instances.get());
  Arguments keep;
  keep.buffers.push_back(&buffer);
  prepare(plan, call, keep, "host view", site);
  executor_.submit(plan, call);
  buffer.residency = lowering_.intern(std::move(state));
}

void Program::wait_for_makers(Buffer& buffer, const ByteBox& box) {
  Tickets makers;
  for (const residency::Holding& h : buffer.residency->within(box))
    buffer.instances->before_read(h.places.first(), h.box, makers);
  wait_for(makers);
  for (const base::Ticket& t : makers) {
    if (const std::exception_ptr failure = t.failure()) std::rethrow_exception(failure);
  }
}

bool Program::host_is_used(const Buffer& buffer, const base::BoxList& boxes, bool reads_too) const {
  Tickets users;
  for (const ByteBox& box : boxes) {
    if (reads_too) {
      buffer.instances->before_write(base::kHostPlace, box, users);
    } else {
      buffer.instances->before_read(base::kHostPlace, box, users);
    }
  }
  return std::any_of(users.begin(), users.end(), [](const base::Ticket& t) { return !t.done(); });
}

void Program::wait_for_host_users(Buffer& buffer, const base::BoxList& boxes) {
  Tickets users;
  for (const ByteBox& box : boxes) buffer.instances->before_write(base::kHostPlace, box, users);
  wait_for(users);
}

void Program::wait_for(const Tickets& tickets) {
  const trace::PhaseTimer timer(stats_, trace::Phase::wait);
  executor_.wait_for(tickets);
}

void Program::settle(Buffer& buffer) {
  const HostAccess::News news = buffer.host->take_news();
  for (const Interval& used : news.used) {
    try {
      for (const ByteBox& box : base::boxes_of_range(buffer.shape(), used))
        buffer.instances->ensure(base::kHostPlace, box);
    } catch (const Error& e) {  // the memory is in use already: a touch cannot be refused
      base::warn_once("host access without room",
                      std::string("what the host has touched exceeds the limit: ") + e.what());
    }
  }
  for (const Interval& written : news.written) host_wrote(buffer, written, all_ranks());
  for (const Interval& written : news.twins) merge_twin(buffer, written, news.twin);
}

// The bytes are the newest at once; who uses them comes after the copy, which comes after who reads the old ones.
void Program::merge_twin(Buffer& buffer, Interval written, std::byte* twin) {
  Instances& instances = *buffer.instances;
  const base::BoxList boxes = base::boxes_of_range(buffer.shape(), written);
  Tickets after;
  for (const ByteBox& box : boxes) instances.before_write(base::kHostPlace, box, after);
  host_wrote(buffer, written, all_ranks());
  const std::ptrdiff_t away = twin - reinterpret_cast<std::byte*>(instances.view(base::kHostPlace).origin);
  for (const ByteBox& box : boxes) {
    const device::Region to = instances.region(base::kHostPlace, box);
    device::Region from = to;
    from.first += away;
    instances.note_write(base::kHostPlace, box, places_.at(base::kHostPlace).copy(to, from, after));
  }
}

void Program::make_usable_on_host(Buffer& buffer, const ByteBox& box) {
  plan::PlacePlan plan;  // only to make the memory usable
  plan::Instruction step;
  step.kind = plan::Kind::fill;
  step.writes.push_back({0, base::kHostPlace, box});
  plan.instructions.push_back(std::move(step));
  Call call;
  call.buffers.push_back(buffer.instances.get());
  executor_.prepare(plan, call);
}

void Program::poison_host(Buffer& buffer) {
  constexpr Index kMostBytes = Index{1} << 30;  // larger ones may be sparse
  if (!config_.poison || buffer.shape().bytes() > kMostBytes) return;
  try {
    make_usable_on_host(buffer, buffer.shape().whole());  // fresh memory is filled then
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory) throw;
  }
}

void Program::open_for_writing(Buffer& buffer, const ByteBox& box) {
  make_usable_on_host(buffer, box);
  executor_.wait_for_host(*buffer.instances, box, true);
}

template <class Boxes>
void Program::mark_host_written(Buffer& buffer, const Boxes& boxes, coherence::RankRange ranks,
                                coherence::DirectoryState next) {
  const bool held = ranks.contains(config_.rank);
  residency::ResidencyState state = *buffer.residency;
  plan::PlacePlan stale;
  stale.arguments = 1;
  for (const ByteBox& box : boxes) {
    for (const residency::Holding& h : state.within(box)) {
      for (auto left = h.places.without(base::kHostPlace); !left.empty(); left = left.without(left.first())) {
        plan::Instruction step;
        step.kind = plan::Kind::fill;
        step.writes.push_back({0, left.first(), h.box});
        stale.instructions.push_back(std::move(step));
      }
    }
    state.set(box, held ? residency::PlaceSet::only(base::kHostPlace) : residency::PlaceSet());
    // the host's own writing is over; it heals what failed before
    buffer.instances->note_write(base::kHostPlace, box, base::Ticket{});
  }
  if (config_.poison && !stale.instructions.empty()) {
    Call call;
    call.name = name_of("poison");
    call.buffers.push_back(buffer.instances.get());
    executor_.submit(stale, call);
  }
  buffer.directory = planner_.intern(std::move(next));
  buffer.residency = lowering_.intern(std::move(state));
}

void Program::host_wrote(Buffer& buffer, const ByteBox& box, coherence::RankRange ranks) {
  mark_host_written(buffer, std::array{box}, ranks,
                    buffer.directory->after_host_write(box, ranks, planner_.flattened()));
}

void Program::host_wrote(Buffer& buffer, Interval range, coherence::RankRange ranks) {
  mark_host_written(buffer, base::boxes_of_range(buffer.shape(), range), ranks,
                    buffer.directory->after_host_write(range, ranks));
}

}  // namespace nuna::execute
