#pragma once
// Records what happened when: spans, instants and counters on tracks, for the trace that NUNA_TRACE asks for.
//
// A process has at most one Recorder; its contexts and in-process ranks share it. Whoever may record holds a
// `Recorder*` that is null when nobody asked for a trace, so that a disabled trace costs one branch:
//
//   if (recorder) recorder->span(track, "heat", Category::launch, begin_ns, end_ns, {.sequence = 7});
//   const Span span(recorder, track, "fetch", Category::wait);  // or: until the end of the scope
//
// Threads: a track is written by one thread at a time (a hand-over needs the usual happens-before); different
// tracks, track() and collect() may be used at the same time from any thread. Writers share no lock: a span
// costs about 50 ns plus the clock, and every 512 events a lock of its track and an allocation.
//
// Ownership: texts are copied when they are first seen; a TrackId is valid as long as its Recorder lives.
//
// Bounds: an event takes 56 bytes, and all events and texts of a recorder at most `limit_bytes` (the default
// holds 4.7 million events). Beyond it new events are dropped and counted: of a long run a trace shows the
// start. collect() needs as much memory again, write_chrome_trace() 16 bytes an event of the fullest row.
//
// Failures: recording never throws; an event that finds no memory is dropped and counted.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/mutex.hpp"
#include "trace/events.hpp"

namespace nuna::trace {

namespace detail {
class Track;
}

/// Names a track of one Recorder. A default one names none, and must not be recorded to.
class TrackId {
 public:
  TrackId() = default;
  friend bool operator==(TrackId, TrackId) = default;

 private:
  friend class Recorder;
  explicit TrackId(detail::Track* track) : track_(track) {}
  detail::Track* track_ = nullptr;
};

/// What a span tells besides its name and its times.
struct Arguments {
  std::int64_t bytes = 0;                ///< moved or filled; 0: not shown
  std::uint64_t sequence = kNoSequence;  ///< of the launch that caused it
  std::string_view box{};                ///< what was moved or run; empty: not shown
  std::uint64_t flow = kNoFlow;          ///< flow_id() of the message
};

inline constexpr std::int64_t kDefaultLimitBytes = std::int64_t{256} << 20;

class Recorder {
 public:
  explicit Recorder(std::int64_t limit_bytes = kDefaultLimitBytes);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// A new track. Tracks of equal rank, kind and name (of two contexts, or of one after the other) keep to
  /// their own thread rule and share a row of the written trace.
  TrackId track(base::RankId rank, TrackKind kind, std::string_view name) NUNA_EXCLUDES(mutex_);

  /// Nanoseconds of the steady clock since the recorder's start.
  std::int64_t now_ns() const noexcept { return since_start_ns(std::chrono::steady_clock::now()); }
  std::int64_t since_start_ns(std::chrono::steady_clock::time_point time) const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - start_).count();
  }

  /// Records a span. Its times may lie anywhere, in any order of calls; an end before the begin counts as the
  /// begin.
  void span(TrackId track, std::string_view name, Category category, std::int64_t begin_ns,
            std::int64_t end_ns, const Arguments& arguments = {});
  /// Records a moment, for what has no duration: an eviction, a fallback.
  void instant(TrackId track, std::string_view name, std::int64_t at_ns, const Arguments& arguments = {});
  /// Records a value that holds from `at_ns` on.
  void counter(TrackId track, std::string_view name, std::int64_t at_ns, std::int64_t value);

  /// A copy of everything recorded before the call; what other threads record meanwhile may be missing.
  /// Tracks without events are left out. Throws only std::bad_alloc.
  EventSet collect() const NUNA_EXCLUDES(mutex_);
  /// Events that the limit left out so far.
  std::uint64_t dropped() const NUNA_EXCLUDES(mutex_);

 private:
  friend class Span;
  friend class detail::Track;

  Event started(TrackId track, std::string_view name, Category category, const Arguments& arguments);
  void add(TrackId track, const Event& event) noexcept;
  bool take(std::int64_t bytes) noexcept;

  const std::chrono::steady_clock::time_point start_;
  const std::int64_t start_unix_ns_;
  std::atomic<std::int64_t> left_bytes_;
  mutable base::Mutex mutex_;
  std::vector<std::unique_ptr<detail::Track>> tracks_ NUNA_GUARDED_BY(mutex_);
};

/// A span from construction to end() or destruction, on one thread. Does nothing without a recorder.
class Span {
 public:
  Span(Recorder* recorder, TrackId track, std::string_view name, Category category,
       const Arguments& arguments = {})
      : recorder_(recorder), track_(track) {
    if (recorder_ != nullptr) begin(name, category, arguments);
  }
  ~Span() { end(); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// For a size that is known only later.
  void set_bytes(std::int64_t bytes) noexcept { event_.amount = bytes; }
  /// Ends the span now; a second time does nothing.
  void end() noexcept {
    if (recorder_ != nullptr) finish();
  }

 private:
  void begin(std::string_view name, Category category, const Arguments& arguments);
  void finish() noexcept;

  Recorder* recorder_;
  TrackId track_;
  Event event_;
};

}  // namespace nuna::trace
