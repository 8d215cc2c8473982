#include "execute/live.hpp"

#include <algorithm>
#include <span>

#include "transfer/shape.hpp"

namespace nuna::execute {

using base::Ticket;
using plan::Instruction;
using plan::Kind;
using plan::PlacedBox;

namespace {

Instances& buffer_of(const Call& call, const PlacedBox& placed) {
  return *call.buffers[static_cast<std::size_t>(placed.argument)];
}

device::Region packed(std::byte* first, Index bytes) {
  device::Region r;
  r.first = first;
  r.run_bytes = bytes;
  return r;
}

// Where the bytes of a message lie.
transfer::Pieces pieces_of(const Call& call, const absl::InlinedVector<PlacedBox, 4>& boxes) {
  transfer::Pieces pieces;
  for (const PlacedBox& b : boxes) pieces.push_back({b.place, buffer_of(call, b).region(b.place, b.box)});
  return pieces;
}

Index bytes_of(const absl::InlinedVector<PlacedBox, 4>& boxes) {
  Index sum = 0;
  for (const PlacedBox& b : boxes) sum += b.box.bytes();
  return sum;
}

/// What lies in `of` as `part` does in `whole`; both are boxes of one size.
base::ByteBox alike(const base::ByteBox& part, const base::ByteBox& whole, const base::ByteBox& of) {
  base::ByteBox box = part;
  for (int a = 0; a < 4; ++a) {
    const Index away = of[a].begin - whole[a].begin;
    box[a] = {part[a].begin + away, part[a].end + away};
  }
  return box;
}

trace::Route route_between(base::PlaceId from, base::PlaceId to) {
  if (from == to) return trace::Route::same_memory;
  if (from == base::kHostPlace) return trace::Route::host_to_device;
  if (to == base::kHostPlace) return trace::Route::device_to_host;
  return trace::Route::device_to_device;
}

}  // namespace

Live::~Live() { drain(); }

void Live::prepare(const plan::PlacePlan& plan, const Call& call) {
  const auto make_usable = [&](const PlacedBox& placed) {
    Instances& buffer = buffer_of(call, placed);
    const base::BoxList fresh = buffer.ensure(placed.place, placed.box);
    if (!config_.poison) return;
    for (const base::ByteBox& b : fresh) {
      buffer.note_write(placed.place, b,
                        places_.at(placed.place).fill(buffer.region(placed.place, b), plan::kPoison, {}));
    }
  };
  for (auto& packet : prepared_) wire_->recycle(std::move(packet));
  prepared_.clear();
  for (const Instruction& step : plan.instructions) {
    for (const PlacedBox& placed : step.reads) make_usable(placed);
    for (const PlacedBox& placed : step.writes) make_usable(placed);
    if (step.kind == Kind::copy) mover_.prove(step.reads.front().place, step.writes.front().place);
    if (step.kind != Kind::send && step.kind != Kind::receive) continue;
    const auto& boxes = step.kind == Kind::send ? step.reads : step.writes;
    if (!stays_in_place(step, call, way_of(step, call))) prepared_.push_back(wire_->packet(bytes_of(boxes)));
  }
  std::reverse(prepared_.begin(), prepared_.end());
}

// Whether a message's bytes are left where they lie: the way that it goes takes them so, or they are one run, and worth it:
// an instance is busy as long as its message is on its way, and packing costs little for small ones.
bool Live::stays_in_place(const Instruction& step, const Call& call, const route::Step& way) const {
  if (transfer::Carrier::takes_pieces(way)) return true;
  const auto& boxes = step.kind == Kind::send ? step.reads : step.writes;
  if (boxes.size() != 1) return false;
  const PlacedBox& only = boxes.front();
  if (only.box.bytes() < plan::kInPlaceBytes || !places_.at(only.place).properties().host_accessible)
    return false;
  return buffer_of(call, only).region(only.place, only.box).contiguous();
}

// The same on both ends: dense buffers are dense on every rank.
route::Step Live::way_of(const Instruction& step, const Call& call) const {
  const bool sends = step.kind == Kind::send;
  const auto& boxes = sends ? step.reads : step.writes;
  const bool one_run = step.one_run && buffer_of(call, boxes.front()).dense();
  const Index bytes = bytes_of(boxes);
  const transfer::Carrier& carrier = wire_->carrier();
  return sends ? carrier.way_to(step.peer, bytes, one_run) : carrier.way_from(step.peer, bytes, one_run);
}

std::unique_ptr<Packet> Live::next_packet() {
  auto packet = std::move(prepared_.back());
  prepared_.pop_back();
  return packet;
}

void Live::make_room() {
  while (flights_.size() >= static_cast<std::size_t>(config_.ahead)) {
    const trace::PhaseTimer timer(stats_, trace::Phase::wait);
    land_through(submitted() - flights_.size() / 2);
  }
}

Completion Live::submit(const plan::PlacePlan& plan, const Call& call) {
  const trace::PhaseTimer timer(stats_, trace::Phase::tracker);
  Flight flight;
  for (const Instruction& step : plan.instructions) start(step, call, flight);
  if (wire_ != nullptr) wire_->submitted_through(call.envelope.sequence);
  Completion completion = flight.completion;
  if (!completion.tickets.empty()) flights_.push_back(std::move(flight));
  return completion;
}

void Live::start(const Instruction& step, const Call& call, Flight& flight) {
  if (step.kind == Kind::send) return send(step, call, flight);
  if (step.kind == Kind::receive) return receive(step, call, flight);
  Tickets after;
  for (const PlacedBox& r : step.reads) buffer_of(call, r).before_read(r.place, r.box, after);
  for (const PlacedBox& w : step.writes) buffer_of(call, w).before_write(w.place, w.box, after);
  Ticket ticket;
  switch (step.kind) {
    case Kind::run:
      ticket = run(step, call, after);
      break;
    case Kind::copy:
      ticket = copy(step, call, after);
      break;
    default: {
      const PlacedBox& to = step.writes.front();
      ticket = places_.at(to.place).fill(buffer_of(call, to).region(to.place, to.box), step.value, after);
    }
  }
  for (const PlacedBox& r : step.reads) buffer_of(call, r).note_read(r.place, r.box, ticket);
  for (const PlacedBox& w : step.writes) buffer_of(call, w).note_write(w.place, w.box, ticket);
  flight.completion.tickets.push_back(ticket);
}

Ticket Live::run(const Instruction& step, const Call& call, const Tickets& after) {
  device::KernelCall kernel;
  kernel.name = call.name;
  kernel.code = call.code;
  kernel.blocks = call.blocks;
  kernel.closure = call.closure;
  kernel.threads = step.threads;
  kernel.brief = call.brief;
  absl::InlinedVector<base::PlaceId, 6> place_of(call.buffers.size(), step.place);
  for (const PlacedBox& r : step.reads) place_of[static_cast<std::size_t>(r.argument)] = r.place;
  for (const PlacedBox& w : step.writes) place_of[static_cast<std::size_t>(w.argument)] = w.place;
  for (std::size_t a = 0; a < call.buffers.size(); ++a)
    kernel.views.push_back(call.buffers[a]->view(place_of[a]));
  return places_.of_slot(step.slot).run(std::move(kernel), after);
}

Ticket Live::copy(const Instruction& step, const Call& call, const Tickets& after) {
  const PlacedBox& from = step.reads.front();
  const PlacedBox& to = step.writes.front();
  stats_.moved(route_between(from.place, to.place), to.box.bytes());
  const route::Step way = mover_.way(from.place, to.place, to.box.bytes());
  std::vector<transfer::Mover::Part> parts;
  for (const base::ByteBox& b : way.kind == route::Kind::staged
                                    ? transfer::merged_and_cut({to.box}, way.chunk_bytes)
                                    : base::BoxList{to.box}) {
    parts.push_back({buffer_of(call, to).region(to.place, b),
                     buffer_of(call, from).region(from.place, alike(b, to.box, from.box))});
  }
  return mover_.copy(to.place, from.place, parts, way, after);
}

void Live::send(const Instruction& step, const Call& call, Flight& flight) {
  cluster::Envelope envelope = call.envelope;
  envelope.message = step.message;
  if (const route::Step way = way_of(step, call); stays_in_place(step, call, way)) {
    Tickets after;
    for (const PlacedBox& r : step.reads) buffer_of(call, r).before_read(r.place, r.box, after);
    // The lane comes by when the bytes are there, and so drives the wire.
    const Ticket ready = places_.at(step.reads.front().place).join(after);
    const Ticket sent =
        wire_->send(step.peer, std::move(envelope), pieces_of(call, step.reads), way, {ready});
    for (const PlacedBox& r : step.reads) buffer_of(call, r).note_read(r.place, r.box, sent);
    flight.completion.tickets.push_back(sent);
    return;
  }
  auto packet = next_packet();
  std::byte* next = packet->data();
  Tickets packing;
  for (const PlacedBox& r : step.reads) {
    Instances& buffer = buffer_of(call, r);
    Tickets after;
    buffer.before_read(r.place, r.box, after);
    const Ticket ticket =
        places_.at(r.place).copy(packed(next, r.box.bytes()), buffer.region(r.place, r.box), after);
    buffer.note_read(r.place, r.box, ticket);
    packing.push_back(ticket);
    next += r.box.bytes();
  }
  flight.completion.tickets.push_back(
      wire_->send(step.peer, std::move(envelope), std::move(packet), packing));
}

void Live::receive(const Instruction& step, const Call& call, Flight& flight) {
  cluster::Envelope expected = call.envelope;
  expected.message = step.message;
  if (const route::Step way = way_of(step, call); stays_in_place(step, call, way)) {
    Tickets after;
    for (const PlacedBox& w : step.writes) buffer_of(call, w).before_write(w.place, w.box, after);
    const Ticket arrived = wire_->receive(step.peer, expected, pieces_of(call, step.writes), way, after);
    for (const PlacedBox& w : step.writes) buffer_of(call, w).note_write(w.place, w.box, arrived);
    flight.completion.tickets.push_back(arrived);
    // The lane waits for it, and so drives the wire: nobody else may need the bytes, and a thread that sleeps is late.
    flight.completion.tickets.push_back(places_.at(step.writes.front().place).join(std::span(&arrived, 1)));
    return;
  }
  auto packet = next_packet();
  const Ticket arrived = wire_->receive(
      step.peer, expected, {{base::kHostPlace, packed(packet->data(), static_cast<Index>(packet->size()))}},
      way_of(step, call));
  const std::byte* next = packet->data();
  for (const PlacedBox& w : step.writes) {
    Instances& buffer = buffer_of(call, w);
    Tickets after{arrived};
    buffer.before_write(w.place, w.box, after);
    const Ticket ticket = places_.at(w.place).copy(
        buffer.region(w.place, w.box), packed(const_cast<std::byte*>(next), w.box.bytes()), after);
    buffer.note_write(w.place, w.box, ticket);
    flight.completion.tickets.push_back(ticket);
    next += w.box.bytes();
  }
  flight.packets.push_back(std::move(packet));
}

// Waits for the flights up to this number, the youngest of them first, so that the caller is woken seldom. Other threads
// land some of them meanwhile, and add others.
void Live::land_through(std::uint64_t flight) {
  const Wire::Waiting waiting(wire_);
  const auto wait_for_flight = [&](const Flight& of) {
    if (of.completion.done()) return;
    turn_.outside([completion = of.completion] { completion.wait(); });
  };
  if (landed_ < flight) wait_for_flight(flights_[flight - landed_ - 1]);
  while (landed_ < flight) {
    if (flights_.front().completion.done()) {
      land_first();
    } else {
      wait_for_flight(flights_.front());
    }
  }
}

void Live::land_first() {
  Flight& first = flights_.front();
  if (auto failure = first.completion.failure()) failures_.push_back(std::move(failure));
  for (auto& packet : first.packets) wire_->recycle(std::move(packet));
  flights_.pop_front();
  ++landed_;
}

void Live::wait_outside(const Tickets& tickets) {
  if (std::all_of(tickets.begin(), tickets.end(), [](const Ticket& t) { return t.done(); })) return;
  const Wire::Waiting waiting(wire_);
  turn_.outside([&] {
    for (const Ticket& t : tickets) t.wait();
  });
}

void Live::wait_for_host(Instances& buffer, const base::ByteBox& box, bool write) {
  Tickets after;
  buffer.before_read(base::kHostPlace, box, after);
  if (write) buffer.before_write(base::kHostPlace, box, after);
  wait_outside(after);
  // The openings of views by one rank make no room; they clear away what they leave.
  while (!flights_.empty() && flights_.front().completion.done()) land_first();
  for (const Ticket& t : after) {
    if (auto failure = t.failure(); failure && !write) std::rethrow_exception(failure);
  }
}

void Live::wait_for(const Tickets& operations) { wait_outside(operations); }

void Live::quiesce(Instances& buffer) {
  Tickets users;
  buffer.all_users(users);
  wait_outside(users);
}

void Live::wait_for(Instances& buffer) {
  Tickets users;
  buffer.all_users(users);
  wait_outside(users);
  for (const Ticket& t : users) {
    if (auto failure = t.failure()) std::rethrow_exception(failure);
  }
}

std::vector<std::exception_ptr> Live::drain() {
  land_through(submitted());
  return std::exchange(failures_, {});
}

}  // namespace nuna::execute
