#include "plan/planner.hpp"

#include <algorithm>
#include <memory>

#include "access/declared.hpp"
#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::plan {

using base::BoxList;
using base::ByteBox;
using base::RankId;
using coherence::DirectoryState;
using coherence::Distribution;
using coherence::DistributionRef;

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::receive:
      return "receive";
    case Kind::send:
      return "send";
    case Kind::copy:
      return "copy";
    case Kind::run:
      return "run";
    case Kind::fill:
      return "fill";
  }
  return "?";
}

namespace {

std::string argument_name(const LaunchShape& launch, std::size_t argument) {
  const ArgumentUse& use = launch.uses[argument];
  const char* mode = use.may ? "may_write" : use.writes ? (use.reads ? "read_write" : "write") : "read";
  return "buffer argument " + std::to_string(argument) + " (" + mode + ")";
}

std::string part_name(const access::Cut& cut, int part) {
  return "part " + std::to_string(part) + " (rank " + std::to_string(cut.rank_of(part).value) + ", threads " +
         to_string(cut.threads(part)) + ")";
}

std::string element_text(const base::Shape& shape, const ByteBox& box) {
  Box elements{box[0], box[1], box[2]};
  elements.dims = shape.extents.dims;
  return to_string(elements);
}

[[noreturn]] void refuse_overlap(const LaunchShape& launch, std::size_t a, std::size_t b,
                                 const Distribution& d, const coherence::Overlap& overlap,
                                 std::string_view what) {
  const std::string who =
      a == b ? argument_name(launch, a)
             : argument_name(launch, a) + " and " + argument_name(launch, b) + ", the same buffer,";
  throw Error(ErrorCode::overlapping_writes,
              std::string(what) + ": " + who + " of " + to_string(d.shape().extents) + ": elements " +
                  element_text(d.shape(), overlap.bytes) + " would be written by " +
                  part_name(d.cut(), overlap.part_a) + " and by " + part_name(d.cut(), overlap.part_b) +
                  ": cut along another axis, or mend the access map");
}

}  // namespace

Planner::Planner(Config config) : config_(std::move(config)) {}

// A state's pointer stands for its shape and its contents.
void Planner::put_key(const LaunchShape& launch, StateKeys states) {
  key_.assign(launch, states.size());
  for (const DirectoryState* state : states) key_.append(state);
}

// Addresses differ between processes: functions count by their presence only.
std::uint64_t Planner::hash_of(const LaunchShape& launch) {
  LaunchShape portable = launch;
  for (ArgumentUse& use : portable.uses) {
    if (!use.map.is_monotone()) use.map = whole();
  }
  LaunchKey key;
  key.assign(portable, (kMaxDims + 1) * launch.uses.size());
  for (const ArgumentUse& use : launch.uses) {
    for (const Index size : use.shape.extents.size) key.append(size);
    key.append(use.shape.element_bytes);
  }
  std::uint64_t hash = 0xcbf29ce484222325U;  // not absl's hash, which is seeded per process
  for (const std::uint64_t word : key.words()) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash;
}

const Planned* Planner::find(const LaunchShape& launch, StateKeys states) {
  put_key(launch, states);
  const auto found = cache_.find(key_.words());
  if (found == cache_.end()) return nullptr;
  ++counts_.hits;
  return &found->second->planned;
}

const Planned& Planner::plan(const LaunchShape& launch, const States& states, std::string_view what) {
  absl::InlinedVector<const DirectoryState*, 6> pointers;
  for (const auto& s : states) pointers.push_back(s.get());
  if (const Planned* cached = find(launch, pointers)) return *cached;
  ++counts_.misses;
  auto entry = std::make_unique<Entry>(compute(launch, states, what));
  put_key(launch, pointers);
  const std::size_t weight = weight_of(*entry);
  if (cached_boxes_ + weight > config_.cache_boxes) {
    cache_.clear();
    cached_boxes_ = 0;
  }
  cached_boxes_ += weight;
  const LaunchKey::Words key = key_.words();
  return cache_.emplace(KeptKey(key.begin(), key.end()), std::move(entry)).first->second->planned;
}

const Planner::Signature& Planner::signature(const LaunchShape& launch, std::string_view what) {
  key_.assign(launch, (1 + kMaxDims) * launch.uses.size());
  for (const ArgumentUse& use : launch.uses) {
    key_.append(use.shape.element_bytes);
    for (const Index size : use.shape.extents.size) key_.append(size);
  }
  if (const auto found = signatures_.find(key_.words()); found != signatures_.end()) return *found->second;
  auto fresh = std::make_unique<Signature>(check(launch, what));
  if (signatures_.size() >= kMostSignatures) signatures_.clear();
  const LaunchKey::Words key = key_.words();
  return *signatures_.emplace(KeptKey(key.begin(), key.end()), std::move(fresh)).first->second;
}

std::size_t Planner::weight_of(const Entry& entry) {
  const RankPlan& plan = *entry.planned.plan;
  std::size_t boxes = 16 + plan.runs.size();
  for (const auto& s : entry.planned.next) boxes += s->weight();
  for (const Message& m : plan.receives) boxes += m.items.size();
  for (const Message& m : plan.sends) boxes += m.items.size();
  for (const ArgumentEffect& e : plan.effects)
    boxes += e.reads.size() + e.writes.size() + e.overwritten.size();
  return boxes;
}

coherence::DirectoryRef Planner::intern(DirectoryState state) {
  const std::size_t weight = state.weight();
  return states_.intern(std::move(state), weight);
}

coherence::DirectoryRef Planner::fresh(const base::Shape& shape) {
  return states_.intern(DirectoryState(shape, config_.team.ranks));
}

access::CutRef Planner::cut_for(const LaunchShape& launch, std::string_view what) {
  switch (launch.team) {
    case LaunchShape::Team::devices:
      return cuts_.intern(config_.cut(launch.domain, launch.block, config_.team, what));
    case LaunchShape::Team::one_device: {
      const int devices = config_.team.devices;
      const access::Cut whole = config_.cut(launch.domain, launch.block, {1, 1}, what);
      return cuts_.intern(whole.on({launch.device / devices}, launch.device % devices));
    }
    case LaunchShape::Team::every_host:
      return cuts_.intern(access::one_part_per_rank(config_.team.ranks));
    case LaunchShape::Team::one_host:
      return cuts_.intern(access::one_part_on(launch.root));
  }
  base::panic("a launch has a team");
}

// A user's function is the user's code: what it throws is told with the argument that it stands for.
DistributionRef Planner::distribution(const access::CutRef& cut, const LaunchShape& launch,
                                      std::size_t argument, std::string_view what) {
  const ArgumentUse& use = launch.uses[argument];
  const auto make = [&] {
    return std::make_shared<const Distribution>(cut, use.map, use.shape, config_.fast_path);
  };
  if (use.map.is_monotone()) return make();
  ++counts_.enumerated;
  const std::string where = std::string(what) + ": " + argument_name(launch, argument) + ": ";
  try {
    return make();
  } catch (const Error& e) {
    throw Error(e.code(), where + e.what());
  } catch (const std::exception& e) {
    throw Error(ErrorCode::invalid_argument, where + "its access function threw: " + e.what());
  }
}

void Planner::check_devices(const LaunchShape& launch, std::string_view what) const {
  const int devices = config_.team.parts();
  const auto check = [&](int device, const std::string& who) {
    if (device >= 0 && device < devices) return;
    const std::string all = devices == 1
                                ? "one device, 0"
                                : std::to_string(devices) + " devices, 0 to " + std::to_string(devices - 1);
    throw Error(ErrorCode::invalid_argument, std::string(what) + who + " is on device " +
                                                 std::to_string(device) + ", but the Context has " + all);
  };
  if (launch.team == LaunchShape::Team::one_device) {
    check(launch.device, "");
    const auto& parts = launch.domain.parts_per_axis();
    if (parts[0] > 1 || parts[1] > 1 || parts[2] > 1) {
      throw Error(ErrorCode::invalid_argument,
                  std::string(what) + " is on one device, but its domain asks for several parts");
    }
  }
  for (std::size_t a = 0; a < launch.uses.size(); ++a) {
    if (const auto device = launch.uses[a].device) check(*device, ": " + argument_name(launch, a));
  }
}

void Planner::refuse_overlaps(const LaunchShape& launch, const std::vector<Argument>& arguments,
                              std::string_view what) const {
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (!launch.uses[a].writes) continue;
    if (const auto overlap = arguments[a].touched->find_overlap()) {
      refuse_overlap(launch, a, a, *arguments[a].touched, *overlap, what);
    }
    for (std::size_t b = 0; b < a; ++b) {
      if (!launch.uses[b].writes || arguments[a].buffer != arguments[b].buffer) continue;
      if (const auto overlap = arguments[b].touched->find_overlap(*arguments[a].touched)) {
        refuse_overlap(launch, b, a, *arguments[a].touched, *overlap, what);
      }
    }
  }
}

namespace {

// Where arguments of one buffer lie in one place, what one writes can be seen through the other; where they do not, it cannot.
// Results must not depend on which devices reach each other.
void refuse_aliases(const LaunchShape& launch, std::string_view what) {
  for (std::size_t a = 0; a < launch.uses.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const ArgumentUse& one = launch.uses[b];
      const ArgumentUse& other = launch.uses[a];
      if (one.buffer != other.buffer || !(one.writes || other.writes) || !(one.device || other.device))
        continue;
      throw Error(ErrorCode::invalid_argument,
                  std::string(what) + ": " + argument_name(launch, b) + " and " + argument_name(launch, a) +
                      " are the same buffer, which the launch writes: neither of them can be on a device");
    }
  }
}

// Pieces of one part that form a box together become one. Both sides have the same list, so they get the same result.
void unite(Message& message) {
  std::vector<Message::Item> united;
  for (std::size_t i = 0; i < message.items.size();) {
    const int part = message.items[i].reader_part;
    BoxList boxes;
    for (; i < message.items.size() && message.items[i].reader_part == part; ++i)
      boxes.push_back(message.items[i].box);
    base::coalesce(boxes);
    for (const ByteBox& b : boxes) united.push_back({part, b});
  }
  message.items = std::move(united);
}

}  // namespace

// Rows with gaps between them are one run of memory together with the gaps, whose bytes may travel as well if the sender
// holds them: whatever the receiver has of them is as new, or stale.
void Planner::fill_gaps(Message& message, RankId sender, const DirectoryState& state) const {
  constexpr Index kMostShare = 8;  // one byte of a gap for so many others
  if (message.items.size() != 1) return;
  ByteBox& box = message.items.front().box;
  int outermost = 0;
  while (outermost < kMaxDims && box[outermost].size() == 1) ++outermost;
  ByteBox run = box;
  for (int a = outermost + 1; a <= base::kByteAxis; ++a) run[a] = state.shape().whole()[a];
  const Index more = run.bytes() - box.bytes();
  if (more == 0 || run.bytes() < config_.in_place_bytes || more > box.bytes() / kMostShare) return;
  BoxList gaps{run};
  base::subtract(gaps, box);
  for (const ByteBox& gap : gaps) {
    BoxList lacking{gap};
    for (const ByteBox& held : state.held_by(sender, gap)) base::subtract(lacking, held);
    if (!lacking.empty()) return;
  }
  box = run;
}

void Planner::plan_messages(int argument, const DirectoryState& state, const Distribution& reading,
                            RankPlan& plan) const {
  if (config_.team.ranks == 1) return;
  std::vector<coherence::Piece> pieces;
  state.pieces_into(reading, config_.rank, std::nullopt, pieces);
  const std::size_t first = plan.receives.size();
  for (const coherence::Piece& piece : pieces) {
    const auto begin = plan.receives.begin() + static_cast<std::ptrdiff_t>(first);
    auto message =
        std::find_if(begin, plan.receives.end(), [&](const Message& m) { return m.peer == piece.from; });
    if (message == plan.receives.end()) {
      plan.receives.push_back({piece.from, argument, {}});
      message = plan.receives.end() - 1;
    }
    message->items.push_back({piece.reader_part, piece.box});
  }
  for (std::size_t m = first; m < plan.receives.size(); ++m) {
    unite(plan.receives[m]);
    fill_gaps(plan.receives[m], plan.receives[m].peer, state);
  }
  for (const RankId to : state.receivers_from(reading, config_.rank)) {
    pieces.clear();
    state.pieces_into(reading, to, config_.rank, pieces);
    if (pieces.empty()) continue;
    Message message{to, argument, {}};
    for (const coherence::Piece& piece : pieces) message.items.push_back({piece.reader_part, piece.box});
    unite(message);
    fill_gaps(message, config_.rank, state);
    plan.sends.push_back(std::move(message));
  }
}

ArgumentEffect Planner::effect_of(const ArgumentUse& use, const DirectoryState& state,
                                  const Distribution& touched) const {
  ArgumentEffect effect;
  if (touched.hull().empty()) return effect;
  // Of many rows in a buffer that is written all over, one look is enough.
  const bool may_be_undefined = use.reads && !state.never_written(touched.hull()).empty();
  const access::Range mine = touched.parts_of(config_.rank);
  for (int p = mine.begin; p < mine.end; ++p) {
    const BoxList boxes = touched.boxes(p);
    if (boxes.empty()) continue;
    if (use.reads || use.may) effect.reads.push_back({p, boxes});
    if (use.writes) effect.writes.push_back({p, boxes});
    if (!may_be_undefined || effect.undefined_read) continue;
    for (const ByteBox& b : boxes) {
      if (const BoxList undefined = state.never_written(b); !undefined.empty()) {
        effect.undefined_read = true;
        effect.undefined = undefined.front();
        break;
      }
    }
  }
  if (!use.writes) return effect;
  if (touched.fills_hull()) {
    effect.overwritten.push_back(touched.hull());
  } else {
    for (int p = 0; p < touched.cut().parts(); ++p) {
      for (const ByteBox& b : touched.boxes(p)) effect.overwritten.push_back(b);
    }
  }
  return effect;
}

Planner::Signature Planner::check(const LaunchShape& launch, std::string_view what) {
  Signature checked;
  check_devices(launch, what);
  checked.cut = cut_for(launch, what);
  for (std::size_t a = 0; a < launch.uses.size(); ++a) {
    const ArgumentUse& use = launch.uses[a];
    if (launch.on_devices()) {
      access::check_inside(use.map, use.shape, launch.domain.box(),
                           std::string(what) + ": " + argument_name(launch, a));
    }
    checked.arguments.push_back({distribution(checked.cut, launch, a, what), use.buffer});
    checked.maps.push_back(use.map);
  }
  refuse_aliases(launch, what);
  refuse_overlaps(launch, checked.arguments, what);
  checked.hash = hash_of(launch);
  return checked;
}

Planner::Entry Planner::compute(const LaunchShape& launch, const States& states, std::string_view what) {
  const Signature& known = signature(launch, what);
  const access::CutRef& cut = known.cut;
  const std::vector<Argument>& arguments = known.arguments;
  auto plan = std::make_shared<RankPlan>();
  plan->cut = cut;
  std::vector<DirectoryState> next;
  for (const auto& s : states) next.push_back(*s);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const ArgumentUse& use = launch.uses[a];
    DirectoryState& state = next[static_cast<std::size_t>(use.buffer)];
    const Distribution& touched = *arguments[a].touched;
    plan->effects.push_back(effect_of(use, state, touched));
    if (!use.reads && !use.may) continue;
    plan_messages(static_cast<int>(a), state, touched, *plan);
    state = state.after_read(arguments[a].touched);
  }
  for (std::size_t a = 0; a < arguments.size(); ++a) {  // all reads see what was before the launch
    if (!launch.uses[a].writes) continue;
    DirectoryState& state = next[static_cast<std::size_t>(launch.uses[a].buffer)];
    state = state.after_write(arguments[a].touched, counts_.flattened);
  }
  if (launch.on_devices()) {
    const access::Range mine = cut->parts_of(config_.rank);
    for (int p = mine.begin; p < mine.end; ++p) {
      const Box threads = cut->threads(p);
      if (!threads.empty()) plan->runs.push_back({p, cut->slot_of(p), threads});
    }
  }
  Entry entry;
  entry.planned.plan = std::move(plan);
  for (DirectoryState& s : next) entry.planned.next.push_back(intern(std::move(s)));
  entry.planned.id = next_id_++;
  entry.planned.signature = known.hash;
  entry.before = states;
  entry.maps = known.maps;
  return entry;
}

}  // namespace nuna::plan
