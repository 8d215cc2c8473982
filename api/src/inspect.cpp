#include "inspect.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "base/units.hpp"
#include "context_state.hpp"
#include "nuna/context.hpp"

namespace nuna {
namespace detail {
namespace {

base::ByteBox box_of(const execute::Buffer& buffer, Index byte) {
  return base::boxes_of_range(buffer.shape(), {byte, byte + 1}).front();
}

Memory memory_of(RankRuntime& runtime, base::PlaceId place) {
  const int rank = runtime.rank().value;
  if (place == base::kHostPlace) return {rank, Memory::kHost};
  const auto& slots = runtime.places().place_of_slot;
  const auto slot = std::find(slots.begin(), slots.end(), place);
  return {rank, slot == slots.end() ? Memory::kUnknown : static_cast<int>(slot - slots.begin())};
}

bool contains(const base::BoxList& boxes, const base::ByteBox& byte) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const base::ByteBox& b) { return b.contains(byte); });
}

// Of this rank. A device before the host, which has often only fetched.
std::vector<Memory> holders_here(RankRuntime& runtime, const execute::Buffer& buffer, Index byte) {
  const adsm::ByteState host = runtime.views().look_at(buffer, byte);
  if (host.dirty) return {memory_of(runtime, base::kHostPlace)};
  std::vector<Memory> holders;
  bool at_host = host.current;
  for (const residency::Holding& h : buffer.residency->within(box_of(buffer, byte))) {
    for (int p = 0; p < runtime.places().count(); ++p) {
      if (!h.places.contains({p})) continue;
      if (p == base::kHostPlace.value) {
        at_host = true;
      } else {
        holders.push_back(memory_of(runtime, {p}));
      }
    }
  }
  if (at_host) holders.push_back(memory_of(runtime, base::kHostPlace));
  return holders;
}

std::string element_text(const base::Shape& shape, const base::ByteBox& byte) {
  std::string text = "element (" + std::to_string(byte[0].begin);
  for (int a = 1; a < shape.extents.dims; ++a) text += ", " + std::to_string(byte[a].begin);
  return text + "), byte " + std::to_string(byte[base::kByteAxis].begin) + " of " +
         std::to_string(shape.element_bytes);
}

// What of Nuna's the pointer goes through.
std::string way_text(RankRuntime& runtime, const void* pointer, const adsm::ByteState& host) {
  if (host.view != nullptr && host.view == pointer) return "a pointer of data() and host views";
  const auto found = address::Window::of_process().find(pointer);
  if (!found) return "in memory that the program gave (adopt)";
  if (found->place != base::kHostPlace)
    return "in the memory of " + to_string(memory_of(runtime, found->place));
  return host.view == nullptr ? "in the host's memory"
                              : "in the host's memory, as Nuna uses it (views have other addresses)";
}

void add_flights(RankRuntime& runtime, const execute::Buffer& buffer, const base::ByteBox& byte,
                 std::string& text) {
  std::string flights;
  for (int p = 0; p < runtime.places().count(); ++p) {
    int reads = 0;
    int writes = 0;
    buffer.instances->for_each_user({p}, [&](const base::ByteBox& box, base::Ticket ticket, bool write) {
      if (!ticket.done() && box.overlaps(byte)) ++(write ? writes : reads);
    });
    if (reads + writes == 0) continue;
    flights += (flights.empty() ? "" : "; ") + to_string(memory_of(runtime, {p})) + ": " +
               std::to_string(writes) + " that write, " + std::to_string(reads) + " that read";
  }
  text += "\n  operations in flight: " + (flights.empty() ? "none" : flights);
}

void add_host(const adsm::ByteState& host, std::string& text) {
  if (host.view != nullptr) {
    text += "\n  host block " + std::to_string(host.block) + " of " + base::rounded_bytes(host.block_bytes) +
            ": " + host.access + (host.dirty ? ", written since the last call" : "") +
            (host.current ? ", its bytes are the newest" : "");
  }
  text += "\n  host views: ";
  if (host.views.empty()) text += "none is open";
  for (std::size_t i = 0; i < host.views.size(); ++i) text += (i == 0 ? "" : "; ") + host.views[i];
}

std::string buffer_text(const Extents& extents, Index element_bytes, const std::string& site) {
  return "buffer created at " + (site.empty() ? "an unknown place" : site) + ": " + to_string(extents) +
         " elements of " + std::to_string(element_bytes) + " bytes";
}

}  // namespace

std::vector<Memory> holders_of(RankRuntime& runtime, const execute::Buffer& buffer, Index byte) {
  const base::ByteBox box = box_of(buffer, byte);
  const int here = runtime.rank().value;
  std::vector<Memory> holders;
  std::optional<int> writer;
  for (int r = 0; r < runtime.ranks(); ++r) {
    const bool held = contains(buffer.directory->held_by({r}, box), box);
    if (r == here) {
      // Before a launch is planned, the directory does not know what the host has written by plain pointers.
      const auto mine = holders_here(runtime, buffer, byte);
      if (held || runtime.ranks() == 1) holders.insert(holders.end(), mine.begin(), mine.end());
    } else if (held) {
      holders.push_back({r, Memory::kUnknown});
    }
    if (!writer && contains(buffer.directory->produced_by({r}), box)) writer = r;
  }
  if (writer && contains(buffer.directory->produced_by({here}), box)) writer = here;
  std::vector<Memory> ordered;  // the writer's first
  for (const bool first : {true, false}) {
    for (const Memory& m : holders) {
      if ((writer && m.rank == *writer) == first) ordered.push_back(m);
    }
  }
  return ordered;
}

std::string text_of(RankRuntime& runtime, const execute::Buffer& buffer, Index byte, const void* pointer) {
  const base::Shape& shape = buffer.shape();
  const base::ByteBox box = box_of(buffer, byte);
  const adsm::ByteState host = runtime.views().look_at(buffer, byte);
  std::string text = buffer_text(shape.extents, shape.element_bytes, buffer.site);
  text += "\n  " + element_text(shape, box) + "; byte " + std::to_string(byte) + " of " +
          std::to_string(shape.bytes()) + "; " + way_text(runtime, pointer, host);
  text += "\n  newest bytes: ";
  const std::vector<Memory> holders = holders_of(runtime, buffer, byte);
  if (holders.empty()) text += "nobody has written them";
  for (std::size_t i = 0; i < holders.size(); ++i) text += (i == 0 ? "" : ", ") + to_string(holders[i]);
  add_flights(runtime, buffer, box, text);
  add_host(host, text);
  return text;
}

namespace {

Resolved spot_of(ContextState& context, const void* pointer, const Inside& inside) {
  const std::string what = inside.where() + ": the pointer";
  const Resolved spot = resolve(context, pointer, 1, what);
  if (spot.buffer == nullptr) {
    throw Error(ErrorCode::not_nuna_pointer,
                what + " is none of Nuna's: give one of a buffer (data, address, a host view)");
  }
  return spot;
}

constexpr std::chrono::milliseconds kMoment(1);
constexpr int kMoments = 100;

// The turn, unless another thread keeps it.
std::unique_lock<base::Turn> turn_of(RankRuntime& runtime) {
  std::unique_lock<base::Turn> turn(runtime.turn(), std::defer_lock);
  for (int i = 0; i < kMoments && !turn.try_lock(); ++i) std::this_thread::sleep_for(kMoment);
  return turn;
}

std::string text_of_any(const void* pointer) {
  if (pointer == nullptr) return "a null pointer";
  std::optional<address::Window::Found> found;
  for (int i = 0; i < kMoments && !address::Window::of_process().try_find(pointer, found); ++i) {
    if (i + 1 == kMoments) return "the table of addresses is in use by another thread: ask again later";
    std::this_thread::sleep_for(kMoment);
  }
  if (!found) return "no address of Nuna's (of adopted memory only Context::describe knows)";
  auto& runtime = *static_cast<RankRuntime*>(const_cast<void*>(found->owner));
  const auto turn = turn_of(runtime);
  if (!turn.owns_lock()) {
    return "an address of Nuna's, byte " + std::to_string(found->offset) + " of " +
           to_string(memory_of(runtime, found->place)) +
           ": another thread is inside a call of its Context, ask again when that is over";
  }
  const execute::Buffer* const buffer = runtime.program().find(found->offset);
  if (buffer == nullptr) {
    return "byte " + std::to_string(found->offset) + " of " + to_string(memory_of(runtime, found->place)) +
           ", in no buffer: was it released?";
  }
  return text_of(runtime, *buffer, found->offset - buffer->instances->offset(), pointer);
}

// Keeps the text for the thread that asked.
template <class F>
const char* kept_text(F text) noexcept {
  try {
    static thread_local std::string kept;
    kept = text();
    return kept.c_str();
  } catch (...) {
    return "no description: an error occurred, memory may be short";
  }
}

std::string text_of_buffer(const void* buffer) {
  if (buffer == nullptr) return "a null pointer";
  const auto& handle = *static_cast<const BufferHandle*>(buffer);
  if (handle.has_state()) {
    const BufferState& state = *handle.state();
    return buffer_text(state.extents, state.element_bytes, state.site) +
           (state.released() ? ", released" : "");
  }
  return "a buffer that was moved from";
}

}  // namespace
}  // namespace detail

inline namespace v0 {

std::string to_string(Memory memory) {
  const std::string rank = "rank " + std::to_string(memory.rank);
  if (memory.device == Memory::kUnknown) return rank;
  return (memory.is_host() ? "the host" : "device " + std::to_string(memory.device)) + " of " + rank;
}

Memory Context::owner(const void* pointer, const char* file, int line) const {
  const detail::Inside inside(state(), "owner", {file, line});
  const detail::Resolved spot = detail::spot_of(state(), pointer, inside);
  const auto holders = detail::holders_of(state().runtime(), *spot.buffer, spot.offset);
  if (holders.empty()) {
    throw Error(
        ErrorCode::never_written,
        inside.where() + ": nobody has written these bytes of the buffer created at " + spot.buffer->site);
  }
  return holders.front();
}

std::vector<Memory> Context::holders(const void* pointer, const char* file, int line) const {
  const detail::Inside inside(state(), "holders", {file, line});
  const detail::Resolved spot = detail::spot_of(state(), pointer, inside);
  return detail::holders_of(state().runtime(), *spot.buffer, spot.offset);
}

std::string Context::describe(const void* pointer, const char* file, int line) const {
  const detail::Inside inside(state(), "describe", {file, line});
  const detail::Resolved spot = detail::spot_of(state(), pointer, inside);
  return detail::text_of(state().runtime(), *spot.buffer, spot.offset, pointer);
}

}  // namespace v0
}  // namespace nuna

extern "C" {

const char* nuna_describe(const void* pointer) {
  return nuna::detail::kept_text([pointer] { return nuna::detail::text_of_any(pointer); });
}

const char* nuna_describe_buffer(const void* buffer) {
  return nuna::detail::kept_text([buffer] { return nuna::detail::text_of_buffer(buffer); });
}

}  // extern "C"
