#include "trace/events.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "nuna/error.hpp"

namespace nuna::trace {
namespace {

constexpr std::uint64_t kMagic = 0x4e554e4154524332;  // "NUNATRC2"; read backwards by another byte order
constexpr std::int64_t kMaxTime = std::int64_t{1}
                                  << 61;  // 73 years: sums of three such times do not overflow
constexpr std::size_t kEventBytes = 5 * 8 + 2 * 4 + 2;

template <class T>
void put(std::vector<std::byte>& out, T value) {
  static_assert(std::is_integral_v<T>);
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof(T));
}

void put(std::vector<std::byte>& out, const std::string& text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), first, first + text.size());
}

void put(std::vector<std::byte>& out, const Event& event) {
  put(out, event.begin_ns);
  put(out, event.end_ns);
  put(out, event.amount);
  put(out, event.sequence);
  put(out, event.flow);
  put(out, event.name);
  put(out, event.box);
  put(out, static_cast<std::uint8_t>(event.kind));
  put(out, static_cast<std::uint8_t>(event.category));
}

std::size_t size_of(const EventSet& set) {
  std::size_t bytes = 4 * 8;
  for (const TrackEvents& track : set.tracks) {
    bytes += 64 + track.name.size() + track.events.size() * kEventBytes;
    for (const std::string& text : track.texts) bytes += 8 + text.size();
  }
  return bytes;
}

[[noreturn]] void damaged(const char* what) {
  throw Error(ErrorCode::input_output,
              std::string("the trace events of a rank are damaged (") + what +
                  "): run the same build of Nuna on every rank, or unset NUNA_TRACE");
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_integral_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /// The number of items to come, of at least `bytes_each` bytes each.
  std::size_t count(std::size_t bytes_each) {
    const auto value = get<std::uint64_t>();
    if (value > bytes_.size() / bytes_each) damaged("it ends too early");
    return value;
  }
  std::string text() {
    const std::span<const std::byte> bytes = take(count(1));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  template <class E>
  E enumerator(int values) {
    const auto value = get<std::uint8_t>();
    if (value >= values) damaged("unknown kind");
    return static_cast<E>(value);
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (size > bytes_.size()) damaged("it ends too early");
    const std::span<const std::byte> taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  std::span<const std::byte> bytes_;
};

Event read_event(Reader& in, std::size_t texts) {
  Event event;
  event.begin_ns = in.get<std::int64_t>();
  event.end_ns = in.get<std::int64_t>();
  event.amount = in.get<std::int64_t>();
  event.sequence = in.get<std::uint64_t>();
  event.flow = in.get<std::uint64_t>();
  event.name = in.get<std::uint32_t>();
  event.box = in.get<std::uint32_t>();
  event.kind = in.enumerator<EventKind>(kEventKinds);
  event.category = in.enumerator<Category>(kCategories);
  if (event.end_ns < event.begin_ns || event.begin_ns < -kMaxTime || event.end_ns > kMaxTime)
    damaged("a time");
  if (event.name >= texts || event.box >= texts) damaged("unknown name");
  return event;
}

TrackEvents read_track(Reader& in) {
  TrackEvents track;
  track.rank.value = in.get<std::int32_t>();
  track.kind = in.enumerator<TrackKind>(kTrackKinds);
  track.name = in.text();
  track.dropped = in.get<std::uint64_t>();
  track.texts.clear();
  for (std::size_t left = in.count(8); left > 0; --left) track.texts.push_back(in.text());
  const std::size_t events = in.count(kEventBytes);
  track.events.reserve(events);
  for (std::size_t i = 0; i < events; ++i) track.events.push_back(read_event(in, track.texts.size()));
  return track;
}

std::uint64_t mixed(std::uint64_t x) {  // the finaliser of SplitMix64 (Steele, Lea, Flood 2014)
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

const char* to_string(TrackKind kind) {
  switch (kind) {
    case TrackKind::program:
      return "program";
    case TrackKind::planner:
      return "planner";
    case TrackKind::device:
      return "device";
    case TrackKind::wire:
      return "wire";
  }
  return "unknown";
}

const char* to_string(Category category) {
  switch (category) {
    case Category::launch:
      return "launch";
    case Category::copy:
      return "copy";
    case Category::send:
      return "send";
    case Category::receive:
      return "receive";
    case Category::plan:
      return "plan";
    case Category::wait:
      return "wait";
    case Category::fill:
      return "fill";
  }
  return "unknown";
}

std::uint64_t flow_id(std::uint64_t context, base::RankId from, base::RankId to, std::uint64_t sequence,
                      std::uint32_t message) {
  const std::uint64_t ends = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from.value)) << 32) |
                             static_cast<std::uint32_t>(to.value);
  const std::uint64_t id = mixed(mixed(mixed(mixed(context) ^ ends) ^ sequence) ^ message);
  return id == kNoFlow ? 1 : id;
}

void align(EventSet& set, const EventSet& reference, std::int64_t ahead_ns) {
  set.start_unix_ns = reference.start_unix_ns + (set.start_steady_ns - ahead_ns - reference.start_steady_ns);
}

EventSet merge(std::vector<EventSet> sets) {
  EventSet all;
  if (sets.empty()) return all;
  all.start_unix_ns = sets.front().start_unix_ns;
  for (const EventSet& set : sets) all.start_unix_ns = std::min(all.start_unix_ns, set.start_unix_ns);
  for (EventSet& set : sets) {
    const std::int64_t shift_ns = set.start_unix_ns - all.start_unix_ns;
    for (TrackEvents& track : set.tracks) {
      for (Event& event : track.events) {
        event.begin_ns += shift_ns;
        event.end_ns += shift_ns;
      }
    }
    std::move(set.tracks.begin(), set.tracks.end(), std::back_inserter(all.tracks));
  }
  return all;
}

std::vector<std::byte> serialise(const EventSet& set) {
  std::vector<std::byte> out;
  out.reserve(size_of(set));
  put(out, kMagic);
  put(out, set.start_unix_ns);
  put(out, set.start_steady_ns);
  put(out, static_cast<std::uint64_t>(set.tracks.size()));
  for (const TrackEvents& track : set.tracks) {
    put(out, track.rank.value);
    put(out, static_cast<std::uint8_t>(track.kind));
    put(out, track.name);
    put(out, track.dropped);
    put(out, static_cast<std::uint64_t>(track.texts.size()));
    for (const std::string& text : track.texts) put(out, text);
    put(out, static_cast<std::uint64_t>(track.events.size()));
    for (const Event& event : track.events) put(out, event);
  }
  return out;
}

EventSet deserialise(std::span<const std::byte> bytes) {
  Reader in(bytes);
  if (in.get<std::uint64_t>() != kMagic) damaged("it does not start as one");
  EventSet set;
  set.start_unix_ns = in.get<std::int64_t>();
  set.start_steady_ns = in.get<std::int64_t>();
  for (const std::int64_t start : {set.start_unix_ns, set.start_steady_ns}) {
    if (start < 0 || start > 2 * kMaxTime) damaged("its start");
  }
  for (std::size_t left = in.count(1); left > 0; --left) set.tracks.push_back(read_track(in));
  if (!in.empty()) damaged("more follows its end");
  return set;
}

}  // namespace nuna::trace
