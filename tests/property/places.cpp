#include "property/places.hpp"

#include "property/script.hpp"

namespace nuna::property {

PlaceMemories::PlaceMemories(int ranks, int places, const std::vector<base::Shape>& buffers)
    : places_(places), buffers_(buffers) {
  for (const base::Shape& s : buffers) newest_.emplace_back(static_cast<std::size_t>(s.bytes()));
  memory_.assign(static_cast<std::size_t>(ranks * places), newest_);
}

Version& PlaceMemories::at(int rank, int place, int buffer, Index byte) {
  return memory_[static_cast<std::size_t>(rank * places_ + place)][static_cast<std::size_t>(buffer)]
                [static_cast<std::size_t>(byte)];
}

void PlaceMemories::perform(std::int64_t call, const std::vector<plan::PlacePlanRef>& plans,
                            const std::vector<int>& buffer_of) {
  std::vector<std::size_t> next(plans.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const auto& steps = plans[r]->instructions;
      while (next[r] < steps.size() && step(call, static_cast<int>(r), steps[next[r]], buffer_of)) {
        ++next[r];
        moved = true;
      }
    }
  }
  for (std::size_t r = 0; r < plans.size(); ++r) {
    if (next[r] < plans[r]->instructions.size())
      throw Mismatch("rank " + std::to_string(r) + " waits for ever");
  }
  for (const auto& [wire, packets] : wires_) {
    if (!packets.empty())
      throw Mismatch("rank " + std::to_string(wire.second) + " does not receive what was sent to it");
  }
  for (const auto& [where, version] : written_) newest(where.first, where.second) = version;
  written_.clear();
}

// False: it cannot be done yet.
bool PlaceMemories::step(std::int64_t call, int rank, const plan::Instruction& step,
                         const std::vector<int>& buffer_of) {
  const auto buffer = [&](const plan::PlacedBox& p) {
    return buffer_of[static_cast<std::size_t>(p.argument)];
  };
  switch (step.kind) {
    case plan::Kind::receive:
      return receive(rank, step, buffer_of);
    case plan::Kind::send: {
      Packet packet;
      for (const plan::PlacedBox& r : step.reads) {
        for_each_byte(shape(buffer(r)), r.box,
                      [&](Index b) { packet.push_back(at(rank, r.place.value, buffer(r), b)); });
      }
      wires_[{rank, step.peer.value}].emplace_back(step.message, std::move(packet));
      return true;
    }
    case plan::Kind::copy: {
      const plan::PlacedBox& from = step.reads.front();
      const plan::PlacedBox& to = step.writes.front();
      for_each_byte(shape(buffer(to)), to.box, [&](Index b) {
        at(rank, to.place.value, buffer(to), b) = at(rank, from.place.value, buffer(from), b);
      });
      return true;
    }
    case plan::Kind::fill:
      for (const plan::PlacedBox& w : step.writes) {
        for_each_byte(shape(buffer(w)), w.box,
                      [&](Index b) { at(rank, w.place.value, buffer(w), b) = Version{}; });
      }
      return true;
    default:
      run(call, rank, step, buffer_of);
      return true;
  }
}

bool PlaceMemories::receive(int rank, const plan::Instruction& step, const std::vector<int>& buffer_of) {
  auto& wire = wires_[{step.peer.value, rank}];
  if (wire.empty()) return false;
  const auto [message, packet] = std::move(wire.front());
  wire.pop_front();
  if (message != step.message) throw Mismatch("another message arrived than was expected");
  std::size_t next = 0;
  for (const plan::PlacedBox& w : step.writes) {
    const int buffer = buffer_of[static_cast<std::size_t>(w.argument)];
    for_each_byte(shape(buffer), w.box, [&](Index b) {
      if (next == packet.size()) throw Mismatch("a message is shorter than expected");
      const Version v = packet[next++];
      if (v != newest(buffer, b)) {
        throw Mismatch("rank " + std::to_string(rank) + " receives another byte or version for byte " +
                       std::to_string(b));
      }
      at(rank, w.place.value, buffer, b) = v;
    });
  }
  if (next != packet.size()) throw Mismatch("a message is longer than expected");
  return true;
}

void PlaceMemories::run(std::int64_t call, int rank, const plan::Instruction& step,
                        const std::vector<int>& buffer_of) {
  std::map<int, base::PlaceId> place_of;  // a kernel is given one instance of each argument
  for (const auto* boxes : {&step.reads, &step.writes}) {
    for (const plan::PlacedBox& b : *boxes) {
      if (place_of.emplace(b.argument, b.place).first->second != b.place)
        throw Mismatch("argument " + std::to_string(b.argument) + " is used in two places at once");
    }
  }
  for (const plan::PlacedBox& r : step.reads) {
    const int buffer = buffer_of[static_cast<std::size_t>(r.argument)];
    for_each_byte(shape(buffer), r.box, [&](Index b) {
      const Version found = at(rank, r.place.value, buffer, b);
      const bool by_this_launch = found == Version{call, b};  // its threads are unordered
      if (newest(buffer, b).call >= 0 && found != newest(buffer, b) && !by_this_launch) {
        throw Mismatch("rank " + std::to_string(rank) + ", place " + std::to_string(r.place.value) +
                       " reads a stale byte " + std::to_string(b) + " of #" + std::to_string(buffer));
      }
    });
  }
  for (const plan::PlacedBox& w : step.writes) {
    const int buffer = buffer_of[static_cast<std::size_t>(w.argument)];
    for_each_byte(shape(buffer), w.box, [&](Index b) {
      at(rank, w.place.value, buffer, b) = {call, b};
      written_.push_back({{buffer, b}, {call, b}});
    });
  }
}

}  // namespace nuna::property
