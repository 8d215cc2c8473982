#include "trace/recorder.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <new>
#include <string>
#include <unordered_map>

#include "base/check.hpp"

namespace nuna::trace {
namespace {

constexpr std::size_t kChunkEvents = 512;
using Chunk = std::array<Event, kChunkEvents>;

// A text is held once, with a view of it in the index and a node of each container: about this much besides.
constexpr std::int64_t kTextOverheadBytes = 128;
constexpr std::uint32_t kNoRoom = std::numeric_limits<std::uint32_t>::max();

}  // namespace

namespace detail {

// The writer alone appends. It publishes an event by raising `published_`; texts and chunks grow under the
// mutex, before the event that needs them is published. So a collector that reads `published_` first and
// takes the mutex then sees all that these events refer to, and an ordinary event costs the writer no lock.
class Track {
 public:
  Track(Recorder& recorder, base::RankId rank, TrackKind kind, std::string_view name)
      : recorder_(recorder), rank_(rank), kind_(kind), name_(name) {}

  /// Number of a text, or kNoRoom. By the writer.
  std::uint32_t intern(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const auto known = numbers_.find(text);
    return known != numbers_.end() ? known->second : learn(text);
  }

  /// By the writer.
  void add(const Event& event) noexcept {
    const std::uint64_t count = published_.load(std::memory_order_relaxed);
    if (event.name == kNoRoom || (count % kChunkEvents == 0 && !grow())) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    (*tail_)[count % kChunkEvents] = event;
    published_.store(count + 1, std::memory_order_release);
  }

  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  /// By any thread.
  TrackEvents collect() const NUNA_EXCLUDES(mutex_) {
    TrackEvents out{.rank = rank_, .kind = kind_, .name = name_, .dropped = dropped()};
    std::uint64_t left = published_.load(std::memory_order_acquire);
    std::vector<const Chunk*> chunks;
    {
      const base::MutexLock lock(mutex_);
      out.texts.insert(out.texts.end(), texts_.begin(), texts_.end());
      for (const auto& chunk : chunks_) chunks.push_back(chunk.get());
    }
    out.events.reserve(left);
    for (const Chunk* chunk : chunks) {  // outside the lock: chunks stay until the recorder goes
      const std::uint64_t here = std::min<std::uint64_t>(left, kChunkEvents);
      out.events.insert(out.events.end(), chunk->begin(), chunk->begin() + static_cast<std::ptrdiff_t>(here));
      left -= here;
    }
    return out;
  }

 private:
  std::uint32_t learn(std::string_view text) noexcept NUNA_EXCLUDES(mutex_) {
    if (!recorder_.take(static_cast<std::int64_t>(text.size()) + kTextOverheadBytes)) return kNoRoom;
    try {
      const base::MutexLock lock(mutex_);
      const std::string& kept = texts_.emplace_back(text);
      const auto number = static_cast<std::uint32_t>(texts_.size());  // from 1: the empty text is 0
      numbers_.emplace(kept, number);
      return number;
    } catch (const std::bad_alloc&) {
      return kNoRoom;
    }
  }

  bool grow() noexcept NUNA_EXCLUDES(mutex_) {
    if (!recorder_.take(sizeof(Chunk))) return false;
    try {
      auto chunk = std::make_unique<Chunk>();
      const base::MutexLock lock(mutex_);
      chunks_.push_back(std::move(chunk));
      tail_ = chunks_.back().get();
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  Recorder& recorder_;
  const base::RankId rank_;
  const TrackKind kind_;
  const std::string name_;

  // The writer's own. The keys are views of texts_, whose elements stay where they are.
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  Chunk* tail_ = nullptr;

  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> dropped_{0};
  mutable base::Mutex mutex_;
  std::deque<std::string> texts_ NUNA_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Chunk>> chunks_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace detail

Recorder::Recorder(std::int64_t limit_bytes)
    : start_(std::chrono::steady_clock::now()),
      start_unix_ns_(std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count()),
      left_bytes_(limit_bytes) {}

Recorder::~Recorder() = default;

TrackId Recorder::track(base::RankId rank, TrackKind kind, std::string_view name) {
  auto track = std::make_unique<detail::Track>(*this, rank, kind, name);
  const base::MutexLock lock(mutex_);
  tracks_.push_back(std::move(track));
  return TrackId(tracks_.back().get());
}

void Recorder::span(TrackId track, std::string_view name, Category category, std::int64_t begin_ns,
                    std::int64_t end_ns, const Arguments& arguments) {
  Event event = started(track, name, category, arguments);
  event.begin_ns = begin_ns;
  event.end_ns = std::max(begin_ns, end_ns);
  add(track, event);
}

void Recorder::instant(TrackId track, std::string_view name, std::int64_t at_ns, const Arguments& arguments) {
  Event event = started(track, name, Category::launch, arguments);
  event.kind = EventKind::instant;
  event.begin_ns = event.end_ns = at_ns;
  add(track, event);
}

void Recorder::counter(TrackId track, std::string_view name, std::int64_t at_ns, std::int64_t value) {
  Event event = started(track, name, Category::launch, {.bytes = value});
  event.kind = EventKind::counter;
  event.begin_ns = event.end_ns = at_ns;
  add(track, event);
}

EventSet Recorder::collect() const {
  std::vector<const detail::Track*> tracks;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& track : tracks_) tracks.push_back(track.get());
  }
  EventSet set{.start_unix_ns = start_unix_ns_,
               .start_steady_ns =
                   std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count()};
  for (const detail::Track* track : tracks) {
    TrackEvents events = track->collect();
    if (!events.events.empty() || events.dropped > 0) set.tracks.push_back(std::move(events));
  }
  return set;
}

std::uint64_t Recorder::dropped() const {
  const base::MutexLock lock(mutex_);
  std::uint64_t count = 0;
  for (const auto& track : tracks_) count += track->dropped();
  return count;
}

Event Recorder::started(TrackId track, std::string_view name, Category category, const Arguments& arguments) {
  base::check(track.track_ != nullptr, "recorded to a track that no recorder made");
  Event event;
  event.amount = arguments.bytes;
  event.sequence = arguments.sequence;
  event.flow = arguments.flow;
  event.name = track.track_->intern(name);
  const std::uint32_t box = track.track_->intern(arguments.box);
  event.box = box == kNoRoom ? 0 : box;
  event.category = category;
  return event;
}

void Recorder::add(TrackId track, const Event& event) noexcept { track.track_->add(event); }

bool Recorder::take(std::int64_t bytes) noexcept {
  if (left_bytes_.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) return true;
  left_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return false;
}

void Span::begin(std::string_view name, Category category, const Arguments& arguments) {
  event_ = recorder_->started(track_, name, category, arguments);
  event_.begin_ns = recorder_->now_ns();
}

void Span::finish() noexcept {
  event_.end_ns = recorder_->now_ns();
  recorder_->add(track_, event_);
  recorder_ = nullptr;
}

}  // namespace nuna::trace
