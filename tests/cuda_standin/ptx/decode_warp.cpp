// Instructions that the threads of a warp carry out together: each waits until all that it names have come.

#include <bit>

#include "ptx/decode_simple.hpp"

namespace standin::ptx {
namespace {

enum class Act : std::uint32_t {
  kBarrier,
  kShuffleUp,
  kShuffleDown,
  kShuffleButterfly,
  kShuffleIndex,
  kVoteAll,
  kVoteAny,
  kVoteUniform,
  kBallot,
  kActive,
  kMatchAny32,
  kMatchAny64,
  kMatchAll32,
  kMatchAll64
};

bool gather(Thread& t, const Instruction& i) { return t.wait(Status::kWarp, i); }

/// The threads of a warp that act together, by lane; null where none does.
struct Group {
  Thread* lanes[32] = {};
  std::uint32_t mask = 0;
};

void shuffle(Group& group, const Instruction& i, Act act) {
  std::uint32_t values[32] = {};
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    // What a thread gives that does not take part is not defined.
    values[lane] = group.lanes[lane] != nullptr ? group.lanes[lane]->get<std::uint32_t>(i.a) : 0xffffffffu;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    Thread* t = group.lanes[lane];
    if (t == nullptr) continue;
    const std::uint32_t by = t->get<std::uint32_t>(i.b) & 31, control = t->get<std::uint32_t>(i.c);
    const std::uint32_t clamp = control & 31, segment = control >> 8 & 31;
    const std::uint32_t first = lane & segment, last = first | (clamp & ~segment & 31);
    std::int32_t from = 0;
    bool inside = false;
    switch (act) {
      case Act::kShuffleUp:
        from = static_cast<std::int32_t>(lane) - static_cast<std::int32_t>(by);
        inside = from >= static_cast<std::int32_t>(last);
        break;
      case Act::kShuffleDown:
        from = static_cast<std::int32_t>(lane + by);
        break;
      case Act::kShuffleButterfly:
        from = static_cast<std::int32_t>(lane ^ by);
        break;
      default:
        from = static_cast<std::int32_t>(first | (by & ~segment));
        break;
    }
    if (act != Act::kShuffleUp) inside = from <= static_cast<std::int32_t>(last);
    if (!inside) from = static_cast<std::int32_t>(lane);
    t->set<std::uint32_t>(i.d, values[from & 31]);
    if (i.d2 != 0) t->r[i.d2] = inside ? 1 : 0;
  }
}

void vote(Group& group, const Instruction& i, Act act) {
  std::uint32_t yes = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (group.lanes[lane] != nullptr && group.lanes[lane]->r[i.a] != 0) yes |= 1u << lane;
  std::uint64_t result = yes;
  if (act == Act::kVoteAll) result = yes == group.mask ? 1 : 0;
  if (act == Act::kVoteAny) result = yes != 0 ? 1 : 0;
  if (act == Act::kVoteUniform) result = yes == 0 || yes == group.mask ? 1 : 0;
  for (Thread* t : group.lanes)
    if (t != nullptr) t->r[i.d] = result;
}

void match(Group& group, const Instruction& i, Act act) {
  const bool wide = act == Act::kMatchAny64 || act == Act::kMatchAll64;
  const bool all = act == Act::kMatchAll32 || act == Act::kMatchAll64;
  std::uint32_t same[32] = {};
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t other = 0; other < 32; ++other) {
      if (group.lanes[lane] == nullptr || group.lanes[other] == nullptr) continue;
      const std::uint64_t a = group.lanes[lane]->r[i.a], b = group.lanes[other]->r[i.a];
      if (wide ? a == b : static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(b))
        same[lane] |= 1u << other;
    }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    Thread* t = group.lanes[lane];
    if (t == nullptr) continue;
    const bool agreed = same[lane] == group.mask;
    t->r[i.d] = all && !agreed ? 0 : same[lane];
    if (i.d2 != 0) t->r[i.d2] = agreed ? 1 : 0;
  }
}

void act_together(Group& group, const Instruction& i) {
  const auto act = static_cast<Act>(i.option);
  if (act >= Act::kShuffleUp && act <= Act::kShuffleIndex) shuffle(group, i, act);
  if (act >= Act::kVoteAll && act <= Act::kBallot) vote(group, i, act);
  if (act >= Act::kMatchAny32) match(group, i, act);
  for (Thread* t : group.lanes) {
    if (t == nullptr) continue;
    if (act == Act::kActive) t->r[i.d] = group.mask;
    t->status = Status::kReady;
  }
}

bool waits_at(const Thread& t, const Instruction* at) { return t.status == Status::kWarp && t.waiting == at; }

Instruction& emit_gather(Decoder& decoder, Act act, std::uint32_t mask) {
  Instruction& made = decoder.emit(gather);
  made.option = static_cast<std::uint32_t>(act);
  made.e = mask;
  decoder.depends();
  return made;
}

void decode_shuffle(Decoder& decoder, Opcode& opcode) {
  if (!opcode.take("sync")) opcode.fail("only .sync is known");
  const auto mode = opcode.take_any({"up", "down", "bfly", "idx"});
  const Act act = mode == "up"     ? Act::kShuffleUp
                  : mode == "down" ? Act::kShuffleDown
                  : mode == "bfly" ? Act::kShuffleButterfly
                                   : Act::kShuffleIndex;
  const std::uint32_t d = decoder.result(0);
  const auto& second = decoder.operand(0).second;
  const std::uint32_t d2 = second.empty() ? 0 : decoder.result(second.front());
  const std::uint32_t a = decoder.source(1, Type::kB32), b = decoder.source(2, Type::kU32);
  const std::uint32_t c = decoder.source(3, Type::kU32), mask = decoder.source(4, Type::kU32);
  Instruction& made = emit_gather(decoder, act, mask);
  made.d = d, made.d2 = d2, made.a = a, made.b = b, made.c = c;
}

void decode_vote(Decoder& decoder, Opcode& opcode) {
  if (!opcode.take("sync")) opcode.fail("only .sync is known");
  const auto mode = opcode.take_any({"all", "any", "uni", "ballot"});
  const Act act = mode == "all"   ? Act::kVoteAll
                  : mode == "any" ? Act::kVoteAny
                  : mode == "uni" ? Act::kVoteUniform
                                  : Act::kBallot;
  const std::uint32_t d = decoder.result(0), a = decoder.source(1, Type::kPred),
                      mask = decoder.source(2, Type::kU32);
  Instruction& made = emit_gather(decoder, act, mask);
  made.d = d, made.a = a;
}

void decode_match(Decoder& decoder, Opcode& opcode) {
  opcode.take("sync");
  const bool wide = bits_of(opcode.type()) == 64, all = opcode.take_any({"all", "any"}) == "all";
  const std::uint32_t d = decoder.result(0);
  const auto& second = decoder.operand(0).second;
  const std::uint32_t d2 = second.empty() ? 0 : decoder.result(second.front());
  const std::uint32_t a = decoder.source(1, opcode.type()), mask = decoder.source(2, Type::kU32);
  Instruction& made = emit_gather(
      decoder,
      wide ? (all ? Act::kMatchAll64 : Act::kMatchAny64) : (all ? Act::kMatchAll32 : Act::kMatchAny32), mask);
  made.d = d, made.d2 = d2, made.a = a;
}

}  // namespace

void decode_warp_barrier(Decoder& decoder) {
  const std::uint32_t mask = decoder.source(0, Type::kU32);
  emit_gather(decoder, Act::kBarrier, mask);
}

bool resolve_warp(Thread* threads, std::uint32_t count, bool all_that_are_there) {
  bool any = false;
  for (std::uint32_t first = 0; first < count; ++first) {
    if (threads[first].status != Status::kWarp) continue;
    const Instruction& at = *threads[first].waiting;
    const bool open = static_cast<Act>(at.option) == Act::kActive;
    if (open != all_that_are_there) continue;
    const std::uint32_t named = open ? 0xffffffffu : threads[first].get<std::uint32_t>(at.e);
    Group group;
    bool complete = true;
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      Thread& t = threads[lane];
      if ((named >> lane & 1) == 0 || t.status == Status::kExited) continue;
      if (waits_at(t, &at)) {
        group.lanes[lane] = &t;
        group.mask |= 1u << lane;
      } else if (!open) {
        complete = false;
      }
    }
    if (!complete || group.mask == 0) continue;
    act_together(group, at);
    any = true;
  }
  return any;
}

void add_warp(Table& table) {
  table["shfl"] = decode_shuffle;
  table["vote"] = decode_vote;
  table["match"] = decode_match;
  table["activemask"] = [](Decoder& decoder, Opcode&) {
    const std::uint32_t d = decoder.result(0);
    emit_gather(decoder, Act::kActive, 0).d = d;
  };
}

}  // namespace standin::ptx
