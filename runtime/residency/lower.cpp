#include "residency/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "access/declared.hpp"
#include "base/check.hpp"
#include "residency/overlap.hpp"
#include "transfer/shape.hpp"

namespace nuna::residency {

using base::BoxList;
using base::ByteBox;
using base::PlaceId;
using plan::Instruction;
using plan::Kind;
using plan::PlacedBox;

namespace {

// Messages of one launch to one peer are joined up to this size: beyond it a message costs less than waiting for others.
constexpr Index kSmallBytes = Index{64} << 10;

// One launch being lowered: the residency as it changes, and the steps so far.
class Work {
 public:
  Work(const plan::RankPlan& plan, const plan::Uses& uses, const States& states,
       const Lowering::Config& config, Manner manner)
      : plan_(plan), uses_(uses), config_(config), manner_(manner) {
    for (const auto& s : states) states_.push_back(*s);
    steps_.arguments = static_cast<int>(uses.size());
    sends_ = grouped(plan.sends);
    receives_ = grouped(plan.receives);
  }

  void run() {
    for (std::size_t a = 0; a < uses_.size(); ++a) fetch(static_cast<int>(a));
    run_parts();
    for (std::size_t a = 0; a < uses_.size(); ++a) invalidate(static_cast<int>(a));
    for (std::size_t a = 0; a < uses_.size(); ++a) hold_written(static_cast<int>(a));
  }

  plan::PlacePlan take_steps() { return std::move(steps_); }
  std::vector<ResidencyState> take_states() { return std::move(states_); }

 private:
  PlaceId own_place(int part) const {
    if (manner_.on_host) return base::kHostPlace;
    return config_.place_of_slot[static_cast<std::size_t>(plan_.cut->slot_of(part))];
  }

  // Of the argument's instance, for the threads of a part.
  PlaceId place_of(int argument, int part) const {
    const PlaceId own = own_place(part);
    const std::optional<int> device = uses_[static_cast<std::size_t>(argument)].device;
    const auto devices = static_cast<int>(config_.place_of_slot.size());
    if (!device || manner_.on_host || *device / devices != config_.rank.value) return own;
    const auto slot = static_cast<std::size_t>(plan_.cut->slot_of(part));
    const PlaceId named = config_.place_of_slot[static_cast<std::size_t>(*device % devices)];
    const bool reached =
        slot < config_.reached_by_slot.size() && config_.reached_by_slot[slot].contains(named);
    return reached ? named : own;
  }
  int buffer_of(int argument) const { return uses_[static_cast<std::size_t>(argument)].buffer; }
  ResidencyState& state_of(int argument) { return states_[static_cast<std::size_t>(buffer_of(argument))]; }

  // Sends first, from what is held now; then receives; then copies between places.
  void fetch(int argument) {
    for (const Group& group : sends_) {
      if (group.messages.front()->argument == argument) send(group);
    }
    for (const Group& group : receives_) {
      if (group.messages.front()->argument == argument) receive(group);
    }
    for (const plan::Touch& touch : plan_.effects[static_cast<std::size_t>(argument)].reads) {
      for (const ByteBox& box : touch.boxes) bring(argument, place_of(argument, touch.part), box);
    }
  }

  // Small messages to (or from) one peer travel as one, when the first of them does. Both sides group alike, because each
  // sees the other's messages in the same order and with the same sizes. Of a buffer with several arguments only the first
  // is grouped: the next may send on what it received.
  struct Group {
    absl::InlinedVector<const plan::Message*, 4> messages;
    Index bytes = 0;
    bool open = false;
  };
  std::vector<Group> grouped(const std::vector<plan::Message>& messages) const {
    std::vector<Group> groups;
    for (const plan::Message& m : messages) {
      const bool may_join = is_first_of_buffer(m.argument);
      const auto last = std::find_if(groups.rbegin(), groups.rend(), [&](const Group& g) {
        return g.open && g.messages.front()->peer == m.peer;
      });
      if (may_join && last != groups.rend() && last->bytes + m.bytes() <= kSmallBytes) {
        last->messages.push_back(&m);
        last->bytes += m.bytes();
        continue;
      }
      groups.push_back({{&m}, m.bytes(), may_join});
    }
    return groups;
  }

  bool is_first_of_buffer(int argument) const {
    const int buffer = buffer_of(argument);
    return std::none_of(uses_.begin(), uses_.begin() + argument,
                        [&](const auto& use) { return use.buffer == buffer; });
  }

  bool is_run(const Group& group) const {
    const plan::Message& first = *group.messages.front();
    return group.messages.size() == 1 && first.items.size() == 1 &&
           uses_[static_cast<std::size_t>(first.argument)].shape.is_run(first.items.front().box);
  }

  void send(const Group& group) {
    Instruction step;
    step.kind = Kind::send;
    step.peer = group.messages.front()->peer;
    step.message = static_cast<std::uint32_t>(group.messages.front()->argument);
    step.one_run = is_run(group);
    for (const plan::Message* m : group.messages) {
      for (const auto& item : m->items) append_sources(m->argument, item.box, step);
    }
    steps_.instructions.push_back(std::move(step));
  }

  // The bytes of `box` in the order of rows of the box itself: the receiver unpacks in that order, whatever places
  // hold them here. Where no place has all of them, holdings that split the box along its outer axes keep that order;
  // others are sent row by row.
  void append_sources(int argument, const ByteBox& box, Instruction& step) {
    const std::vector<Holding> held = state_of(argument).within(box);
    Index bytes = 0;
    PlaceSet everywhere = held.empty() ? PlaceSet() : held.front().places;
    for (const Holding& h : held) {
      bytes += h.box.bytes();
      everywhere = everywhere.intersect(h.places);
    }
    base::check(bytes == box.bytes(), "a rank holds what the directory says it holds");
    if (!everywhere.empty()) {
      step.reads.push_back({argument, everywhere.first(), box});
      return;
    }
    split_in_order(argument, box, held, 0, step);
  }

  void split_in_order(int argument, const ByteBox& box, const std::vector<Holding>& held, int axis,
                      Instruction& step) {
    for (const Holding& h : held) {
      if (h.box.contains(box)) {
        step.reads.push_back({argument, h.places.first(), box});
        return;
      }
    }
    base::check(axis < 4, "holdings cover the box");
    // slabs along this axis at every boundary of a holding; single indices unless the inner axes are uncut
    std::vector<Index> at{box[axis].begin, box[axis].end};
    for (const Holding& h : held) {
      for (const Index x : {h.box[axis].begin, h.box[axis].end}) {
        if (box[axis].contains(x)) at.push_back(x);
      }
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      ByteBox slab = box;
      slab[axis] = {at[i], at[i + 1]};
      const bool in_one =
          std::any_of(held.begin(), held.end(), [&](const Holding& h) { return h.box.contains(slab); });
      if (in_one || axis == 3) {
        split_in_order(argument, slab, held, axis + 1, step);
        continue;
      }
      for (Index x = at[i]; x < at[i + 1]; ++x) {
        slab[axis] = {x, x + 1};
        split_in_order(argument, slab, held, axis + 1, step);
      }
    }
  }

  void receive(const Group& group) {
    Instruction step;
    step.kind = Kind::receive;
    step.peer = group.messages.front()->peer;
    step.message = static_cast<std::uint32_t>(group.messages.front()->argument);
    step.one_run = is_run(group);
    for (const plan::Message* m : group.messages) {
      for (const auto& item : m->items) {
        const PlaceId place = place_of(m->argument, item.reader_part);
        step.writes.push_back({m->argument, place, item.box});
        state_of(m->argument).set(item.box, PlaceSet::only(place));
      }
    }
    steps_.instructions.push_back(std::move(step));
  }

  // Copies what `place` lacks of `box` from places that hold it. Bytes that nobody holds were never written.
  void bring(int argument, PlaceId place, const ByteBox& box) {
    ResidencyState& state = state_of(argument);
    std::map<int, BoxList> from;  // by source place
    for (const Holding& h : state.within(box)) {
      if (!h.places.contains(place)) from[h.places.first().value].push_back(h.box);
    }
    if (from.empty()) return;
    for (const auto& [source, boxes] : from) {
      for (const ByteBox& b : transfer::merged_and_cut(boxes)) {
        Instruction step;
        step.kind = Kind::copy;
        step.reads.push_back({argument, PlaceId{source}, b});
        step.writes.push_back({argument, place, b});
        steps_.instructions.push_back(std::move(step));
      }
    }
    state.add(box, place);
  }

  // What can be sent at once is; then run the threads that need nothing of what is on its way; then comes what arrives,
  // with what depends on it, and the threads that are left.
  void run_parts() {
    const std::vector<Instruction> late = take_waiting();
    std::vector<Instruction>& steps = steps_.instructions;
    std::vector<Instruction> last;
    for (const plan::PartRun& run : plan_.runs) {
      const Division division = division_of(run, late);
      if (division.interior) steps.push_back(run_of(run, *division.interior));
      for (const Box& box : division.boundary) last.push_back(run_of(run, box));
    }
    steps.insert(steps.end(), late.begin(), late.end());
    steps.insert(steps.end(), last.begin(), last.end());
  }

  // Takes out what waits for another rank or place, the sends that wait for such a step, and all that follow those: a
  // peer expects them in order.
  std::vector<Instruction> take_waiting() {
    std::vector<Instruction> prompt;
    std::vector<Instruction> late;
    bool sends_wait = false;
    for (Instruction& step : steps_.instructions) {
      const bool is_send = step.kind == Kind::send;
      sends_wait = sends_wait || (is_send && reads_from(late, step));
      (is_send && !sends_wait ? prompt : late).push_back(std::move(step));
    }
    steps_.instructions = std::move(prompt);
    return late;
  }

  bool reads_from(const std::vector<Instruction>& earlier, const Instruction& step) const {
    const auto meets = [&](const PlacedBox& w, const PlacedBox& r) {
      return w.place == r.place && buffer_of(w.argument) == buffer_of(r.argument) && w.box.overlaps(r.box);
    };
    return std::any_of(earlier.begin(), earlier.end(), [&](const Instruction& e) {
      return std::any_of(e.writes.begin(), e.writes.end(), [&](const PlacedBox& w) {
        return std::any_of(step.reads.begin(), step.reads.end(),
                           [&](const PlacedBox& r) { return meets(w, r); });
      });
    });
  }

  // Whether the threads of a part use the instance that the box is of.
  bool uses_instance(const plan::PartRun& run, const PlacedBox& b) const {
    for (std::size_t a = 0; a < uses_.size(); ++a) {
      const auto argument = static_cast<int>(a);
      if (buffer_of(argument) == buffer_of(b.argument) && place_of(argument, run.part) == b.place)
        return true;
    }
    return false;
  }

  Division division_of(const plan::PartRun& run, const std::vector<Instruction>& late) const {
    Division undivided{std::nullopt, {run.threads}};
    const Index fewest = config_.fewest_ahead;
    if (late.empty() || manner_.whole_parts || fewest == 0 || run.threads.count() < fewest) return undivided;
    std::vector<Moving> moving;
    const auto add = [&](const absl::InlinedVector<PlacedBox, 4>& boxes, bool arrives) {
      for (const PlacedBox& b : boxes) {
        if (uses_instance(run, b)) moving.push_back({buffer_of(b.argument), b.box, arrives});
      }
    };
    for (const Instruction& step : late) {
      add(step.writes, true);
      add(step.reads, false);
    }
    Division division = divide(*plan_.cut, run.threads, uses_, moving);
    return division.interior && division.interior->count() >= fewest ? division : undivided;
  }

  Instruction run_of(const plan::PartRun& run, const Box& threads) const {
    Instruction step;
    step.kind = Kind::run;
    step.slot = run.slot;
    step.place = own_place(run.part);
    step.threads = threads;
    const bool whole = threads == run.threads;
    for (std::size_t a = 0; a < uses_.size(); ++a) {
      const auto argument = static_cast<int>(a);
      const auto& effect = plan_.effects[a];
      const PlaceId place = place_of(argument, run.part);
      if (whole) {
        append_touched(argument, place, run.part, effect.reads, step.reads);
        append_touched(argument, place, run.part, effect.writes, step.writes);
        continue;
      }
      const plan::ArgumentUse& use = uses_[a];
      for (const ByteBox& b : access::touched_boxes(use.map, use.shape, plan_.cut->describe(threads))) {
        if (use.reads || use.may) step.reads.push_back({argument, place, b});
        if (use.writes) step.writes.push_back({argument, place, b});
      }
    }
    return step;
  }

  static void append_touched(int argument, PlaceId place, int part, const std::vector<plan::Touch>& touches,
                             absl::InlinedVector<PlacedBox, 4>& out) {
    for (const plan::Touch& touch : touches) {
      if (touch.part != part) continue;
      for (const ByteBox& b : touch.boxes) out.push_back({argument, place, b});
    }
  }

  // What anybody wrote is stale wherever this rank held it.
  void invalidate(int argument) {
    const auto& effect = plan_.effects[static_cast<std::size_t>(argument)];
    ResidencyState& state = state_of(argument);
    for (const ByteBox& box : effect.overwritten) {
      if (config_.poison) poison_stale(argument, box);
      state.drop(box);
    }
  }

  void poison_stale(int argument, const ByteBox& box) {
    const auto& writes = plan_.effects[static_cast<std::size_t>(argument)].writes;
    for (const Holding& h : state_of(argument).within(box)) {
      for (PlaceSet left = h.places; !left.empty(); left = left.without(left.first())) {
        const PlaceId place = left.first();
        BoxList stale{h.box};
        for (const plan::Touch& touch : writes) {
          if (place_of(argument, touch.part) != place) continue;
          for (const ByteBox& b : touch.boxes) base::subtract(stale, b);
        }
        for (const ByteBox& b : stale) {
          Instruction step;
          step.kind = Kind::fill;
          step.writes.push_back({argument, place, b});
          steps_.instructions.push_back(std::move(step));
        }
      }
    }
  }

  void hold_written(int argument) {
    for (const plan::Touch& touch : plan_.effects[static_cast<std::size_t>(argument)].writes) {
      for (const ByteBox& b : touch.boxes)
        state_of(argument).set(b, PlaceSet::only(place_of(argument, touch.part)));
    }
  }

  const plan::RankPlan& plan_;
  const plan::Uses& uses_;
  const Lowering::Config& config_;
  Manner manner_;
  std::vector<ResidencyState> states_;
  std::vector<Group> sends_;
  std::vector<Group> receives_;
  plan::PlacePlan steps_;
};

}  // namespace

const Lowered* Lowering::find(const plan::Planned& planned, StateKeys states, Manner manner) {
  scratch_.clear();
  scratch_.push_back((static_cast<std::uint64_t>(planned.id) << 2) | (manner.on_host ? 1U : 0U) |
                     (manner.whole_parts ? 2U : 0U));
  for (const ResidencyState* s : states) scratch_.push_back(reinterpret_cast<std::uint64_t>(s));
  const auto found = cache_.find(scratch_);
  return found == cache_.end() ? nullptr : &found->second->lowered;
}

const Lowered& Lowering::lower(const plan::Planned& planned, const plan::Uses& uses, const States& states,
                               Manner manner) {
  absl::InlinedVector<const ResidencyState*, 6> pointers;
  for (const auto& s : states) pointers.push_back(s.get());
  if (const Lowered* known = find(planned, pointers, manner)) return *known;
  auto entry = std::make_unique<Entry>(compute(*planned.plan, uses, states, manner));
  entry->plan = planned.plan;
  std::size_t weight = 16 + 4 * entry->lowered.plan->instructions.size();
  for (const auto& s : entry->lowered.next) weight += s->holdings().weight();
  if (cached_boxes_ + weight > config_.cache_boxes) {
    cache_.clear();
    cached_boxes_ = 0;
  }
  cached_boxes_ += weight;
  return cache_.emplace(scratch_, std::move(entry)).first->second->lowered;
}

Lowering::Entry Lowering::compute(const plan::RankPlan& plan, const plan::Uses& uses, const States& states,
                                  Manner manner) {
  Work work(plan, uses, states, config_, manner);
  work.run();
  Entry entry;
  entry.before = states;
  entry.lowered.plan = std::make_shared<const plan::PlacePlan>(work.take_steps());
  for (ResidencyState& s : work.take_states()) entry.lowered.next.push_back(intern(std::move(s)));
  return entry;
}

}  // namespace nuna::residency
