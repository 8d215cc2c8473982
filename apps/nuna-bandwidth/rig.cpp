#include "nuna-bandwidth/rig.hpp"

#include <chrono>

#include "context_state.hpp"
#include "nuna-bandwidth/api_copy.hpp"
#include "nuna-bandwidth/predict.hpp"
#include "nuna/error.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::Index;
using nuna::base::kHostPlace;
using nuna::topology::MemoryId;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void mark(std::byte* memory, Index bytes, unsigned char stamp) {
  for (const Index at : {Index{0}, bytes / 2, bytes - 1}) memory[at] = std::byte{stamp};
}

bool is_marked(const std::byte* memory, Index bytes, unsigned char stamp) {
  for (const Index at : {Index{0}, bytes / 2, bytes - 1}) {
    if (memory[at] != std::byte{stamp}) return false;
  }
  return true;
}

}  // namespace

// One of the one or two ways of an experiment between ranks, and which staging it uses.
struct Rig::Direction {
  MemoryId from;
  MemoryId to;
  std::size_t number = 0;
};

Rig::Rig(nuna::Context& context, Index most_bytes, Index most_block_bytes)
    : context_(context),
      runtime_(context.state().runtime()),
      most_block_bytes_(most_block_bytes),
      places_(runtime_, most_bytes),
      unpinned_{HostBuffer(most_bytes, false), HostBuffer(most_bytes, false)},
      pinned_{HostBuffer(std::max(most_bytes, 2 * most_block_bytes), true),
              HostBuffer(std::max(most_bytes, 2 * most_block_bytes), true)},
      link_(runtime_),
      messages_(static_cast<std::size_t>(runtime_.ranks()), 0) {}

Rig::~Rig() = default;

bool Rig::takes_part(const Experiment& experiment) const {
  return keeps_time(experiment) || experiment.ends.to.rank == runtime_.rank();
}

int Rig::other_end(const Experiment& experiment) const {
  return keeps_time(experiment) ? experiment.ends.to.rank.value : experiment.ends.from.rank.value;
}

Index Rig::block_of(Index bytes) const { return block_bytes(bytes, most_block_bytes_); }

std::vector<Rig::Direction> Rig::directions(const Experiment& experiment) const {
  const auto& [from, to] = experiment.ends;
  std::vector<Direction> all{{from, to, 0}};
  if (experiment.two_way) all.push_back({to, from, 1});
  return all;
}

std::vector<Leg> Rig::legs(const Experiment& experiment) const {
  std::vector<Leg> legs;
  for (const Direction& d : directions(experiment)) {
    legs.push_back({d.from.place, d.to.place, places_.out(d.from.place), places_.in(d.to.place),
                    unpinned_[d.number].data(), pinned_[d.number].data()});
  }
  return legs;
}

double Rig::time_copy(const std::vector<Leg>& legs, Scheme scheme, Index bytes) const {
  const Copies copies(runtime_.places(), runtime_.mover(), legs);
  const auto begin = Clock::now();
  copies.run(scheme, bytes, block_of(bytes));
  return seconds_since(begin);
}

double Rig::time_within_place(nuna::base::PlaceId place, Index bytes) {
  Leg leg{place, place};
  leg.from = places_.out(place);
  leg.to = places_.in(place);
  return time_copy({leg}, Scheme::direct, bytes);
}

End Rig::end_of(const Direction& direction, bool sends) const {
  const MemoryId& mine = sends ? direction.from : direction.to;
  End end;
  end.peer = (sends ? direction.to : direction.from).rank.value;
  end.place = mine.place;
  end.queue = mine.place == kHostPlace ? nullptr : &runtime_.places().at(mine.place);
  end.memory = sends ? places_.out(mine.place) : places_.in(mine.place);
  end.unpinned = unpinned_[direction.number].data();
  end.pinned = pinned_[direction.number].data();
  end.carrier = link_.carrier();
  end.number = messages_[static_cast<std::size_t>(end.peer)];
  return end;
}

double Rig::time_message(const Experiment& experiment, Scheme scheme, Index bytes) {
  const int peer = other_end(experiment);
  const double answer_s = link_.half_round_trip_s(peer);
  ++messages_[static_cast<std::size_t>(peer)];
  std::vector<std::unique_ptr<Side>> sides;
  for (const Direction& direction : directions(experiment)) {
    const bool sends = direction.from.rank == runtime_.rank();
    const End end = end_of(direction, sends);
    sides.push_back(sends ? sending_side(scheme, end, bytes, block_of(bytes))
                          : receiving_side(scheme, end, bytes, block_of(bytes)));
  }
  link_.meet(peer);
  const auto begin = Clock::now();
  run(sides);
  if (!keeps_time(experiment)) {
    Link::tell(peer);
    return 0.0;
  }
  Link::hear(peer);
  return std::max(seconds_since(begin) - answer_s, 1e-9);
}

double Rig::time_api(const Experiment& experiment, Index bytes) {
  if (api_ == nullptr || !api_->is_for(experiment, bytes)) {
    api_.reset();
    api_ = std::make_unique<ApiCopy>(context_, experiment, bytes);
  }
  const int peer = other_end(experiment);
  const double answer_s = link_.half_round_trip_s(peer);
  api_->prepare();
  link_.meet(peer);
  const auto begin = Clock::now();
  api_->move();
  if (!keeps_time(experiment)) {
    Link::tell(peer);
    return 0.0;
  }
  Link::hear(peer);
  return std::max(seconds_since(begin) - answer_s, 1e-9);
}

double Rig::time(const Experiment& experiment, Scheme scheme, Index bytes) {
  if (experiment.within_rank()) return time_copy(legs(experiment), scheme, bytes);
  return scheme == Scheme::api ? time_api(experiment, bytes) : time_message(experiment, scheme, bytes);
}

double Rig::prove(const Experiment& experiment, Scheme scheme, Index bytes) {
  if (scheme == Scheme::api) return time(experiment, scheme, bytes);  // has buffers of its own
  // Both ends count their messages alike.
  stamp_ = static_cast<unsigned char>(
      experiment.within_rank() ? stamp_ + 1 : messages_[static_cast<std::size_t>(other_end(experiment))] + 1);
  const auto all = directions(experiment);
  const auto mine = [&](const MemoryId& memory) {
    return memory.rank == runtime_.rank() && runtime_.places().at(memory.place).properties().host_accessible;
  };
  for (const Direction& d : all) {
    if (mine(d.from)) mark(places_.out(d.from.place), bytes, stamp_);
  }
  const double time_s = time(experiment, scheme, bytes);
  for (const Direction& d : all) {
    if (!mine(d.to) || is_marked(places_.in(d.to.place), bytes, stamp_)) continue;
    throw nuna::Error(nuna::ErrorCode::unsupported, std::string("the scheme ") + to_string(scheme) +
                                                        " did not bring the bytes to " +
                                                        nuna::topology::to_string(d.to));
  }
  return time_s;
}

bool Rig::has_api(const Experiment& experiment) const {
  return runtime_.ranks() == 2 && ApiCopy::part_of(runtime_, experiment.ends.from) &&
         ApiCopy::part_of(runtime_, experiment.ends.to);
}

std::string Rig::choice(const Experiment& experiment, Index bytes) const {
  if (!experiment.within_rank()) return link_.choice(other_end(experiment), bytes);
  return words_of(runtime_.mover().way(experiment.ends.from.place, experiment.ends.to.place, bytes));
}

int Rig::agree(const Experiment& experiment, int mine) {
  if (experiment.within_rank()) return mine;
  return link_.agree(other_end(experiment), keeps_time(experiment), mine);
}

}  // namespace nuna_bandwidth
