#include "execute/program.hpp"

#include <absl/types/span.h>

#include <algorithm>

#include "access/declared.hpp"
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

detail::BlockGrid blocks_of(const plan::LaunchShape& shape) {
  detail::BlockGrid grid;
  for (int a = 0; a < kMaxDims; ++a) {
    grid.origin[static_cast<std::size_t>(a)] = shape.domain.frame()[a].begin;
    grid.size[static_cast<std::size_t>(a)] = std::max<Index>(1, shape.block.size[a]);
  }
  return grid;
}

std::string described(std::string_view verb, std::string_view name, std::string_view site) {
  std::string text(verb);
  if (!name.empty()) text += " '" + std::string(name) + "'";
  return text + " at " + std::string(site);
}

constexpr int kMostRounds = 4;  // of planning, while access functions write

// The name for messages: what Nuna does for a view has none.
std::string_view told(const Call& call) { return call.is_launch() ? call.name : std::string_view(); }

}  // namespace

// Of a call: keeps threads that touch the buffers' bytes without a call from getting at more, until it ends. What they
// have written so far comes before the call. Where no buffer has such threads it costs a test for each: the rest is out of line.
class Program::Pausing {
 public:
  Pausing(Program& program, absl::Span<Buffer* const> buffers) : program_(program) {
    const auto used = [](const Buffer* b) { return b->host != nullptr; };
    if (std::any_of(buffers.begin(), buffers.end(), used)) [[unlikely]]
      pause(buffers);
  }
  ~Pausing() {
    if (!paused_.empty()) [[unlikely]]
      resume();
  }
  Pausing(const Pausing&) = delete;
  Pausing& operator=(const Pausing&) = delete;

  /// Whether the calling thread itself has written more since: a user's access function may.
  bool settled_more() { return !paused_.empty() && settle(); }
  /// Before the instructions of a plan start.
  void close(const plan::RankPlan& plan, const Arguments& arguments) {
    if (!paused_.empty()) [[unlikely]]
      close_touched(plan, arguments);
  }

 private:
  struct Paused {
    Buffer* buffer;
    coherence::DirectoryRef directory;  // that a plan is made for
  };

  [[gnu::noinline]] void pause(absl::Span<Buffer* const> buffers) try {
    for (Buffer* b : buffers) {
      if (b->host == nullptr) continue;
      b->host->pause();
      paused_.push_back({b, nullptr});
      program_.settle(*b);
      paused_.back().directory = b->directory;
    }
  } catch (...) {
    resume();
    throw;
  }
  [[gnu::noinline]] void resume() {
    for (const Paused& p : paused_) p.buffer->host->resume();
  }
  // What it has written is settled already if a device brought it other bytes afterwards.
  [[gnu::noinline]] bool settle() {
    bool more = false;
    for (Paused& p : paused_) {
      if (p.buffer->host->has_news()) {
        program_.settle(*p.buffer);
        more = true;
      }
      more = more || p.directory != p.buffer->directory;
      p.directory = p.buffer->directory;
    }
    return more;
  }
  [[gnu::noinline]] void close_touched(const plan::RankPlan& plan, const Arguments& arguments) {
    for (std::size_t a = 0; a < plan.effects.size(); ++a) {
      Buffer& buffer = *arguments.buffers[static_cast<std::size_t>(arguments.shape.uses[a].buffer)];
      if (buffer.host == nullptr) continue;
      for (const plan::Touch& t : plan.effects[a].reads) buffer.host->close(t.boxes, {});
      for (const plan::Touch& t : plan.effects[a].writes) buffer.host->close({}, t.boxes);
    }
  }

  Program& program_;
  absl::InlinedVector<Paused, 6> paused_;
};

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
      lowering_({.place_of_slot = places.place_of_slot,
                 .fewest_ahead = config.fewest_ahead,
                 .poison = config.poison,
                 .rank = config.rank,
                 .reached_by_slot = places.reached_by_slot}) {
  if (recorder_ != nullptr) track_ = recorder_->track(config.rank, trace::TrackKind::planner, "planner");
}

Program::~Program() {
  executor_.drain();
  buffers_.clear();
}

Buffer& Program::create(const base::Shape& shape, std::string_view site) {
  return add(shape, std::nullopt, "create a buffer", site);
}

Buffer& Program::adopt(const base::Shape& shape, const Adopted& memory, std::string_view site) {
  Buffer& buffer = add(shape, memory, "adopt memory", site);
  residency::ResidencyState state;
  state.set(shape.whole(), residency::PlaceSet::only(memory.place));
  buffer.residency = lowering_.intern(std::move(state));
  buffer.directory =
      planner_.intern(buffer.directory->after_host_write(shape.whole(), all_ranks(), planner_.flattened()));
  return buffer;
}

Buffer* Program::find_adopted(const void* address) {
  const auto at = static_cast<const std::byte*>(address);
  for (Buffer& b : buffers_) {
    const auto& memory = b.instances->adopted();
    if (memory && memory->first <= at && at < memory->first + b.shape().bytes()) return &b;
  }
  return nullptr;
}

Buffer& Program::add(const base::Shape& shape, std::optional<Adopted> memory, std::string_view verb,
                     std::string_view site) {
  Buffer buffer;
  buffer.instances = std::make_unique<Instances>(shape, arena_, places_, config_.dense_limit, memory);
  buffer.directory = planner_.fresh(shape);
  buffer.residency = lowering_.intern({});
  buffer.number = next_buffer_++;
  buffer.site = site;
  std::uint64_t asked = mixed(buffer.number, static_cast<std::uint64_t>(shape.element_bytes));
  for (const Index size : shape.extents.size) asked = mixed(asked, static_cast<std::uint64_t>(size));
  count_call(verb, site, asked);
  buffers_.push_back(std::move(buffer));
  return buffers_.back();
}

void Program::destroy(Buffer& buffer, std::string_view site) {
  count_call("release a buffer", site, buffer.number);
  std::list<Buffer> leaving;  // where other threads, which have their turn during the wait, do not find it
  leaving.splice(
      leaving.end(), buffers_,
      std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& b) { return &b == &buffer; }));
  executor_.quiesce(*buffer.instances);
}

Buffer* Program::find(Index offset) {
  for (Buffer& b : buffers_) {
    if (!b.instances->dense()) continue;
    const Index begin = b.instances->offset();
    if (begin <= offset && offset < begin + b.shape().bytes()) return &b;
  }
  return nullptr;
}

void Arguments::add(Buffer& buffer, const AccessMap& map, bool reads, bool writes, bool may,
                    std::optional<int> device) {
  const auto known = std::find(buffers.begin(), buffers.end(), &buffer);
  const auto number = static_cast<int>(known - buffers.begin());
  if (known == buffers.end()) buffers.push_back(&buffer);
  instances.push_back(buffer.instances.get());
  shape.uses.emplace_back(number, buffer.shape(), map, reads, writes, may, device);
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

void Program::check_written(const plan::RankPlan& plan, const Arguments& arguments, const std::string& what) {
  for (std::size_t a = 0; a < plan.effects.size(); ++a) {
    const plan::ArgumentEffect& effect = plan.effects[a];
    if (!effect.undefined_read) continue;
    refuse_unwritten(what,
                     "buffer argument " + std::to_string(a) + " (" +
                         to_string(arguments.shape.uses[a].shape.extents) + ")",
                     effect.undefined);
  }
}

void Program::check_written(const Buffer& buffer, const ByteBox& box, std::string_view site) {
  const base::BoxList unwritten = buffer.directory->never_written(box);
  if (unwritten.empty()) return;
  refuse_unwritten(described("host view", {}, site), "a buffer of " + to_string(buffer.shape().extents),
                   unwritten.front());
}

void Program::refuse_unwritten(const std::string& what, const std::string& where, const ByteBox& example) {
  const std::string text = what + " reads bytes of " + where + " that nobody wrote, for example " +
                           base::to_string(example) + ": write or fill the buffer first";
  if (config_.check) throw Error(ErrorCode::never_written, text);
  base::warn_once("never written: " + what, text);
}

std::string_view Program::name_of(std::string_view launch) {
  const auto known = names_.find(absl::string_view(launch.data(), launch.size()));
  return known != names_.end() ? *known : *names_.emplace(launch).first;
}

Completion Program::launch(const Launch& launch) {
  Call call;
  call.name = name_of(launch.name);
  call.code = launch.code;
  call.blocks = blocks_of(launch.arguments.shape);
  call.closure = launch.closure;
  call.brief = launch.brief;
  stats_.launched();
  return perform(launch.arguments, call, "launch", launch.site);
}

const plan::Planned& Program::plan(const Arguments& arguments, const Call& call, std::string_view verb,
                                   std::string_view site) {
  absl::InlinedVector<const coherence::DirectoryState*, 6> states;
  for (const Buffer* b : arguments.buffers) states.push_back(b->directory.get());
  if (const plan::Planned* known = planner_.find(arguments.shape, states)) {
    stats_.plan_cache_hit();
    return *known;
  }
  plan::States held;
  for (const Buffer* b : arguments.buffers) held.push_back(b->directory);
  const plan::Planned& planned = planner_.plan(arguments.shape, held, described(verb, told(call), site));
  stats_.plan_cache_miss();
  count_fallbacks();
  return planned;
}

void Program::count_fallbacks() {
  const plan::PlannerCounts& counts = planner_.counts();
  for (; counted_flattened_ < static_cast<std::uint64_t>(counts.flattened); ++counted_flattened_) {
    stats_.fell_back("flattened layers");
  }
  for (; counted_fallbacks_ < static_cast<std::uint64_t>(counts.enumerated); ++counted_fallbacks_) {
    stats_.fell_back("enumerated maps");
  }
}

const residency::Lowered& Program::lower(const Arguments& arguments, const Call& call,
                                         const plan::Planned& planned) {
  const residency::Manner manner{.on_host = !arguments.shape.on_devices(),
                                 .whole_parts = call.code.form == detail::Form::parts};
  absl::InlinedVector<const residency::ResidencyState*, 6> states;
  for (const Buffer* b : arguments.buffers) states.push_back(b->residency.get());
  if (const residency::Lowered* known = lowering_.find(planned, states, manner)) return *known;
  residency::States held;
  for (const Buffer* b : arguments.buffers) held.push_back(b->residency);
  return lowering_.lower(planned, arguments.shape.uses, held, manner);
}

// Plan, lower, prepare: pure or repeatable. Then states change and the instructions start.
Completion Program::perform(const Arguments& arguments, Call& call, std::string_view verb,
                            std::string_view site) {
  if (const std::exception_ptr lost = executor_.lost()) std::rethrow_exception(lost);
  const auto begin = std::chrono::steady_clock::now();
  Pausing pausing(*this, arguments.buffers);
  const plan::Planned* plan_found = nullptr;
  const residency::Lowered* lowered_found = nullptr;
  int rounds = 0;
  do {
    if (++rounds > kMostRounds) {
      throw Error(
          ErrorCode::invalid_argument,
          described(verb, told(call), site) +
              ": an access function writes to a buffer of the launch whenever it is asked: let it only read");
    }
    plan_found = &plan(arguments, call, verb, site);
    lowered_found = &lower(arguments, call, *plan_found);
  } while (pausing.settled_more());
  const plan::Planned& planned = *plan_found;
  const residency::Lowered& lowered = *lowered_found;
  const auto planned_at = std::chrono::steady_clock::now();
  stats_.spent(trace::Phase::planner, planned_at - begin);
  if (recorder_ != nullptr) {
    recorder_->span(track_, call.name, trace::Category::plan, recorder_->since_start_ns(begin),
                    recorder_->since_start_ns(planned_at), {.sequence = sequence_ + 1});
  }
  for (const plan::ArgumentEffect& e : planned.plan->effects) {
    if (e.undefined_read) {
      check_written(*planned.plan, arguments, described(verb, told(call), site));
      break;
    }
  }
  call.buffers = arguments.instances;
  call.rank_plan = planned.plan;
  prepare(*lowered.plan, call, arguments, verb, site);
  pausing.close(*planned.plan, arguments);
  std::uint64_t asked = planned.signature;  // of which buffers: ranks that swap two are found
  for (const Buffer* b : arguments.buffers) asked = mixed(asked, b->number);
  number_call(verb, told(call), site, asked, call.envelope);
  const auto* directory = planned.next.data();
  const auto* residency = lowered.next.data();
  for (Buffer* const b : arguments.buffers) {
    b->directory = *directory++;
    b->residency = *residency++;
    b->last_use = sequence_;
  }
  return executor_.submit(*lowered.plan, call);
}

void Program::prepare(const plan::PlacePlan& plan, const Call& call, const Arguments& arguments,
                      std::string_view verb, std::string_view site) {
  for (;;) {
    try {
      executor_.prepare(plan, call);
      return;
    } catch (const Error& e) {
      if (e.code() == ErrorCode::out_of_memory && evict_one(arguments)) continue;
      throw Error(e.code(), described(verb, told(call), site) + ": " + e.what());
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  described(verb, told(call), site) + ": the system has no memory for its messages");
    }
  }
}

// Makes room by moving the least recently used buffer that the launch does not touch out of a device's memory.
bool Program::evict_one(const Arguments& keep) {
  Buffer* oldest = nullptr;
  PlaceId place;
  for (Buffer& b : buffers_) {
    if (std::find(keep.buffers.begin(), keep.buffers.end(), &b) != keep.buffers.end()) continue;
    if (oldest != nullptr && oldest->last_use <= b.last_use) continue;
    // A call is about to use it, which the service of its faults must not wait for.
    if (b.host != nullptr && b.host->is_paused()) continue;
    for (int p = 1; p < places_.count(); ++p) {
      if (!b.instances->holds_memory({p})) continue;
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
  Buffer* const only = &buffer;
  const Pausing pausing(*this, absl::MakeConstSpan(&only, 1));
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
  call.name = name_of("evict");
  call.buffers.push_back(buffer.instances.get());
  executor_.prepare(plan, call);
  executor_.submit(plan, call).wait();
  stats_.evicted(buffer.instances->committed_bytes(place));
  buffer.instances->release(place);
  buffer.residency = lowering_.intern(std::move(state));
}

void Program::fetch(Buffer& buffer, const Box& box, std::optional<base::RankId> only, bool may,
                    std::string_view site) {
  Arguments arguments;
  arguments.shape.team = only ? plan::LaunchShape::Team::one_host : plan::LaunchShape::Team::every_host;
  if (only) arguments.shape.root = *only;
  arguments.add(buffer, fixed(box), !may, false, may);
  Call call;
  call.name = name_of("fetch");
  // A rank that only sends would run ahead of the others. One rank waits for all that it starts here.
  if (communicator_.size() > 1) executor_.make_room();
  perform(arguments, call, "host view", site);
  if (!only || *only == config_.rank)
    executor_.wait_for_host(*buffer.instances, buffer.shape().of(box), false);
}

void Program::wait() {
  const trace::PhaseTimer timer(stats_, trace::Phase::wait);
  const auto failures = executor_.drain();
  if (!failures.empty()) std::rethrow_exception(failures.front());
}

}  // namespace nuna::execute
