#pragma once
// What a trace consists of: tracks with their events, as plain values that travel between ranks.
//
// A recorder collects its events into an EventSet; ranks send theirs as bytes; merge() lays them on one
// clock; the result is what write_chrome_trace() writes. All functions here are pure and may be called from
// any thread.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace nuna::trace {

/// What a track shows, in the order in which a rank's tracks are listed.
enum class TrackKind : std::uint8_t { program, planner, device, wire };
inline constexpr int kTrackKinds = 4;

/// What a span did. A receive ends the flow that it names, every other category starts it.
enum class Category : std::uint8_t { launch, copy, send, receive, plan, wait, fill };
inline constexpr int kCategories = 7;

enum class EventKind : std::uint8_t { span, instant, counter };
inline constexpr int kEventKinds = 3;

const char* to_string(TrackKind kind);
const char* to_string(Category category);

inline constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};
inline constexpr std::uint64_t kNoFlow = 0;

/// One event: 56 bytes. Times are nanoseconds since the start of the event's set.
struct Event {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;               ///< begin_ns, unless it is a span
  std::int64_t amount = 0;               ///< bytes of a span (0: not shown), value of a counter
  std::uint64_t sequence = kNoSequence;  ///< number of the launch that caused it
  std::uint64_t flow = kNoFlow;          ///< connects a send with its receive: see flow_id()
  std::uint32_t name = 0;                ///< index into the track's texts
  std::uint32_t box = 0;                 ///< the same; 0 is the empty text
  EventKind kind = EventKind::span;
  Category category = Category::launch;
  friend bool operator==(const Event&, const Event&) = default;
};

struct TrackEvents {
  base::RankId rank;
  TrackKind kind = TrackKind::program;
  std::string name;
  std::vector<std::string> texts{std::string()};  ///< names and boxes of the events; the first is empty
  std::vector<Event> events{};                    ///< in the order in which they were recorded
  std::uint64_t dropped = 0;                      ///< events that the recorder's memory limit left out
  friend bool operator==(const TrackEvents&, const TrackEvents&) = default;
};

struct EventSet {
  std::int64_t start_unix_ns = 0;    ///< time zero, in nanoseconds since the Unix epoch
  std::int64_t start_steady_ns = 0;  ///< the same moment on the steady clock of the node
  std::vector<TrackEvents> tracks{};
  friend bool operator==(const EventSet&, const EventSet&) = default;
};

/// The same non-zero number on both ranks, for the message numbered `message` of call `sequence` of the
/// context numbered `context`, and (but for a chance of 2^-64) for no other message.
std::uint64_t flow_id(std::uint64_t context, base::RankId from, base::RankId to, std::uint64_t sequence,
                      std::uint32_t message);

/// Corrects the start of `set` by what is known of the steady clocks: its node's is `ahead_ns` before that of
/// `reference`. To be merged, then, with `reference`.
void align(EventSet& set, const EventSet& reference, std::int64_t ahead_ns);

/// One set of all tracks, in the order given. Time zero is the earliest start; the others' events move
/// accordingly, so between nodes times are as good as the nodes' clocks, unless they were aligned.
EventSet merge(std::vector<EventSet> sets);

/// A set as bytes, for a rank of the same build (byte order and layout are not converted).
std::vector<std::byte> serialise(const EventSet& set);
/// The set that the bytes hold. Throws nuna::Error (input_output) when they are damaged or of another build;
/// checks every number, so that damaged bytes never harm the writer of the trace.
EventSet deserialise(std::span<const std::byte> bytes);

}  // namespace nuna::trace
