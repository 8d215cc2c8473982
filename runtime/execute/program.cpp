#include "execute/program.hpp"

#include <algorithm>

#include "access/declared.hpp"
#include "base/check.hpp"
#include "base/log.hpp"
#include "nuna/error.hpp"
#include "schedule/partition.hpp"

namespace nuna::execute {

using base::ByteBox;
using base::PlaceId;

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdU;
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::string described(std::string_view verb, std::string_view name, std::string_view site) {
  std::string text(verb);
  if (!name.empty()) text += " '" + std::string(name) + "'";
  return text + " at " + std::string(site);
}

}  // namespace

Program::Program(const ProgramConfig& config, const Places& places, address::Arena& arena,
                 cluster::Communicator& communicator, Executor& executor, trace::Stats& stats,
                 trace::Recorder* recorder)
    : config_(config),
      places_(places),
      arena_(arena),
      communicator_(communicator),
      executor_(executor),
      stats_(stats),
      recorder_(recorder),
      planner_({config.team, schedule::cut, config.rank, config.fast_path}),
      lowering_({places.place_of_slot, config.poison}) {
  if (recorder_ != nullptr) track_ = recorder_->track(config.rank, trace::TrackKind::planner, "planner");
}

Program::~Program() {
  executor_.drain();
  buffers_.clear();
}

Buffer& Program::create(const base::Shape& shape, std::string_view site) {
  Buffer buffer;
  buffer.instances = std::make_unique<Instances>(shape, arena_, places_, config_.dense_limit);
  buffer.directory = planner_.fresh(shape);
  buffer.residency = lowering_.intern({});
  buffer.number = next_buffer_++;
  count_call("create a buffer", site, static_cast<std::uint64_t>(shape.bytes()));
  buffers_.push_back(std::move(buffer));
  return buffers_.back();
}

void Program::destroy(Buffer& buffer, std::string_view site) {
  count_call("release a buffer", site, buffer.number);
  buffers_.remove_if([&](const Buffer& b) { return &b == &buffer; });
}

Buffer* Program::find(Index offset) {
  for (Buffer& b : buffers_) {
    if (!b.instances->dense()) continue;
    const Index begin = b.instances->offset();
    if (begin <= offset && offset < begin + b.shape().bytes()) return &b;
  }
  return nullptr;
}

void Program::add_use(Use& use, const BufferUse& argument) const {
  const auto known = std::find(use.distinct.begin(), use.distinct.end(), argument.buffer);
  const auto number = static_cast<int>(known - use.distinct.begin());
  if (known == use.distinct.end()) use.distinct.push_back(argument.buffer);
  use.arguments.push_back(argument.buffer->instances.get());
  use.shape.uses.push_back(
      {number, argument.buffer->shape(), argument.map, argument.reads, argument.writes, argument.may});
}

void Program::number_call(std::string_view verb, std::string_view name, std::string_view site,
                          std::uint64_t signature, cluster::Envelope& envelope) {
  ++sequence_;
  if (communicator_.size() == 1) return;
  hash_ = mixed(mixed(mixed(hash_, verb), name), signature);
  envelope.sequence = sequence_;
  envelope.hash = hash_;
  envelope.call = described(verb, name, site);
  communicator_.publish({sequence_, hash_, envelope.call, false});
}

cluster::Envelope Program::count_call(std::string_view call, std::string_view site, std::uint64_t arguments) {
  cluster::Envelope envelope;
  number_call(call, {}, site, arguments, envelope);
  return envelope;
}

void Program::check_written(const plan::RankPlan& plan, const Use& use, const std::string& what) {
  for (std::size_t a = 0; a < plan.effects.size(); ++a) {
    const plan::ArgumentEffect& effect = plan.effects[a];
    if (!effect.undefined_read) continue;
    const std::string text = what + " reads bytes of buffer argument " + std::to_string(a) + " (" +
                             to_string(use.shape.uses[a].shape.extents) +
                             ") that nobody wrote, for example " + base::to_string(effect.undefined) +
                             ": write or fill the buffer first";
    if (config_.check) throw Error(ErrorCode::never_written, text);
    base::warn_once("never written: " + what, text);
  }
}

Completion Program::launch(const Launch& launch) {
  Use use;
  use.shape.domain = launch.domain;
  use.shape.block = launch.block;
  for (const BufferUse& argument : launch.uses) add_use(use, argument);
  Call call;
  call.name = *names_.emplace(launch.name).first;
  call.run = launch.run;
  call.closure = launch.closure;
  stats_.launched();
  return perform(use, call, "launch", launch.site);
}

// Plan, lower, prepare: pure or repeatable. Then states change and the instructions start.
Completion Program::perform(Use& use, Call& call, std::string_view verb, std::string_view site) {
  const auto begin = std::chrono::steady_clock::now();
  plan::States directories;
  residency::States residencies;
  for (const Buffer* b : use.distinct) {
    directories.push_back(b->directory);
    residencies.push_back(b->residency);
  }
  const auto hits = planner_.counts().hits;
  std::string what;
  const auto name_it = [&]() -> std::string_view {
    what = described(verb, call.name, site);
    return what;
  };
  const plan::Planned* planned = planner_.find(use.shape, directories);
  if (planned == nullptr) planned = &planner_.plan(use.shape, directories, name_it());
  const residency::Lowered& lowered = lowering_.lower(*planned, use.shape.uses, residencies,
                                                      use.shape.team != plan::LaunchShape::Team::devices);
  const auto planned_at = std::chrono::steady_clock::now();
  stats_.spent(trace::Phase::planner, planned_at - begin);
  if (planner_.counts().hits > hits) {
    stats_.plan_cache_hit();
  } else {
    stats_.plan_cache_miss();
    for (; counted_flattened_ < static_cast<std::uint64_t>(planner_.counts().flattened);
         ++counted_flattened_) {
      stats_.fell_back("flattened layers");
    }
    for (; counted_fallbacks_ < static_cast<std::uint64_t>(planner_.counts().enumerated);
         ++counted_fallbacks_) {
      stats_.fell_back("enumerated maps");
    }
  }
  if (recorder_ != nullptr) {
    recorder_->span(track_, call.name, trace::Category::plan, recorder_->since_start_ns(begin),
                    recorder_->since_start_ns(planned_at), {.sequence = sequence_ + 1});
  }
  for (const plan::ArgumentEffect& e : planned->plan->effects) {
    if (e.undefined_read) {
      check_written(*planned->plan, use, described(verb, call.name, site));
      break;
    }
  }
  call.buffers = use.arguments;
  call.rank_plan = planned->plan;
  prepare(*lowered.plan, call, use);
  number_call(verb, call.name, site, planned->signature, call.envelope);
  for (std::size_t b = 0; b < use.distinct.size(); ++b) {
    use.distinct[b]->directory = planned->next[b];
    use.distinct[b]->residency = lowered.next[b];
    use.distinct[b]->last_use = sequence_;
  }
  const auto start = std::chrono::steady_clock::now();
  Completion completion = executor_.submit(*lowered.plan, call);
  stats_.spent(trace::Phase::tracker, std::chrono::steady_clock::now() - start);
  return completion;
}

void Program::prepare(const plan::PlacePlan& plan, const Call& call, const Use& use) {
  for (;;) {
    try {
      executor_.prepare(plan, call);
      return;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::out_of_memory || !evict_one(use)) throw;
    }
  }
}

// Makes room by moving the least recently used buffer that the launch does not touch out of a device's memory.
bool Program::evict_one(const Use& keep) {
  Buffer* oldest = nullptr;
  PlaceId place;
  for (Buffer& b : buffers_) {
    if (std::find(keep.distinct.begin(), keep.distinct.end(), &b) != keep.distinct.end()) continue;
    if (oldest != nullptr && oldest->last_use <= b.last_use) continue;
    for (int p = 1; p < places_.count(); ++p) {
      if (b.instances->committed_bytes({p}) == 0) continue;
      oldest = &b;
      place = {p};
      break;
    }
  }
  if (oldest == nullptr) return false;
  evict(*oldest, place);
  return true;
}

void Program::evict(Buffer& buffer, PlaceId place) {
  residency::ResidencyState state = *buffer.residency;
  plan::PlacePlan plan;
  plan.arguments = 1;
  for (const residency::Holding& h : buffer.residency->holdings()) {
    if (!h.places.contains(place)) continue;
    if (h.places == residency::PlaceSet::only(place)) {
      plan::Instruction step;
      step.kind = plan::Kind::copy;
      step.reads.push_back({0, place, h.box});
      step.writes.push_back({0, base::kHostPlace, h.box});
      plan.instructions.push_back(std::move(step));
      state.add(h.box, base::kHostPlace);
    }
    state.remove(h.box, place);
  }
  Call call;
  call.name = *names_.emplace("evict").first;
  call.buffers.push_back(buffer.instances.get());
  executor_.prepare(plan, call);
  executor_.submit(plan, call).wait();
  stats_.evicted(buffer.instances->committed_bytes(place));
  buffer.instances->release(place);
  buffer.residency = lowering_.intern(std::move(state));
}

void Program::fetch(Buffer& buffer, const Box& box, std::optional<base::RankId> only, bool may,
                    std::string_view site) {
  Use use;
  use.shape.team = only ? plan::LaunchShape::Team::one_host : plan::LaunchShape::Team::every_host;
  if (only) use.shape.root = *only;
  add_use(use, {&buffer, fixed(box), !may, false, may});
  Call call;
  call.name = *names_.emplace("fetch").first;
  perform(use, call, "host view", site);
  if (!only || *only == config_.rank)
    executor_.wait_for_host(*buffer.instances, buffer.shape().of(box), false);
}

void Program::fetch_local(Buffer& buffer, const Box& box) {
  const ByteBox wanted = buffer.shape().of(box);
  base::BoxList lacking{wanted};
  for (const ByteBox& b : buffer.directory->held_by(config_.rank, wanted)) base::subtract(lacking, b);
  if (!lacking.empty()) {
    throw Error(ErrorCode::invalid_argument, "host_local: rank " + std::to_string(config_.rank.value) +
                                                 " does not hold " + base::to_string(lacking.front()) +
                                                 ": ask for one of local_boxes()");
  }
  residency::ResidencyState state = *buffer.residency;
  plan::PlacePlan plan;
  plan.arguments = 1;
  for (const residency::Holding& h : buffer.residency->within(wanted)) {
    if (h.places.contains(base::kHostPlace)) continue;
    plan::Instruction step;
    step.kind = plan::Kind::copy;
    step.reads.push_back({0, h.places.first(), h.box});
    step.writes.push_back({0, base::kHostPlace, h.box});
    plan.instructions.push_back(std::move(step));
  }
  state.add(wanted, base::kHostPlace);
  Call call;
  call.name = *names_.emplace("fetch").first;
  call.buffers.push_back(buffer.instances.get());
  executor_.prepare(plan, call);
  executor_.submit(plan, call);
  buffer.residency = lowering_.intern(std::move(state));
  executor_.wait_for_host(*buffer.instances, wanted, false);
}

void Program::open_for_writing(Buffer& buffer, const ByteBox& box) {
  plan::PlacePlan plan;  // only to make the memory usable
  plan::Instruction step;
  step.kind = plan::Kind::poison;
  step.writes.push_back({0, base::kHostPlace, box});
  plan.instructions.push_back(std::move(step));
  Call call;
  call.buffers.push_back(buffer.instances.get());
  executor_.prepare(plan, call);
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
        step.kind = plan::Kind::poison;
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
    call.name = *names_.emplace("poison").first;
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

void Program::wait() {
  const trace::PhaseTimer timer(stats_, trace::Phase::wait);
  const auto failures = executor_.drain();
  if (!failures.empty()) std::rethrow_exception(failures.front());
}

}  // namespace nuna::execute
