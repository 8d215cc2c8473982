// What HostSide does in the thread that faulted, in a signal handler: no lock, no allocation, raw system calls.

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "adsm/fault_service.hpp"
#include "adsm/host_side.hpp"
#include "adsm/pages.hpp"
#include "base/worker_thread.hpp"

namespace nuna::adsm {
namespace {

using namespace word;  // NOLINT(google-build-using-namespace)

// Of one buffer at a time: each is a mapping of its own.
constexpr int kMostTwins = 256;

// A buffer keeps these, however many others have: what one instruction touches is open at once.
constexpr Index kFewPieces = 32;

class InGate {
 public:
  explicit InGate(Gate& gate) : gate_(gate), entry_(gate.enter()) {}
  ~InGate() { leave(); }
  InGate(const InGate&) = delete;
  InGate& operator=(const InGate&) = delete;
  bool refused() const { return entry_ == Gate::Entry::paused; }
  void leave() {
    if (std::exchange(entry_, Gate::Entry::paused) == Gate::Entry::inside) gate_.leave();
  }

 private:
  Gate& gate_;
  Gate::Entry entry_;
};

}  // namespace

// The block is this thread's to open, until finish(). `before` is its word so far.
bool HostSide::claim(Index block, bool write, std::uint32_t& before) noexcept {
  Word& w = words_[block];
  before = w.load(std::memory_order_acquire);
  const std::uint32_t access = before & kAccess;
  if (access == kServing || access == kWrite || (access == kRead && !write)) return false;
  words_.touch(block);
  return w.compare_exchange_strong(before, (before & ~kAccess) | kServing, std::memory_order_acquire);
}

void HostSide::finish(Index block, std::uint32_t access, bool fetched) noexcept {
  Word& w = words_[block];
  std::uint32_t now = (w.load(std::memory_order_relaxed) & ~(kAccess | kAsked)) | access;
  if (fetched) now |= kCurrent | kNews;
  if (access == kWrite) now |= kDirty;
  w.store(now, std::memory_order_release);
}

FaultServer::Verdict HostSide::serve(const Fault& fault) noexcept {
  if (base::on_worker_thread()) {  // who has paused the gate may wait for the kernel
    tell(
        "a kernel touched a pointer of a host view: give the buffer to the launch as an argument. It points "
        "into ");
    return Verdict::refused;
  }
  InGate gate(gate_);
  if (gate.refused() || stands_still_.load(std::memory_order_acquire)) return Verdict::again;
  const Index block = (fault.address - view_) / block_bytes_;
  if (views_.load(std::memory_order_relaxed) == 0) {
    tell(
        "a pointer was used that no host view is open for: open one (host, data), and keep it open as long "
        "as its "
        "pointers are used. It points into ");
    return Verdict::refused;
  }
  if (fault.write && writers_.load(std::memory_order_relaxed) == 0) {
    tell(
        "a pointer of a host view that was opened for reading was written through: open it with "
        "Access::read_write "
        "or Access::write. It points into ");
    return Verdict::refused;
  }
  if (!knows(block)) {
    ask_for_sources(block);
    return Verdict::again;
  }
  std::uint32_t before = 0;
  if (!claim(block, fault.write, before)) {
    // Another thread was faster, or is at it. That its word says so does not mean that the page is open yet.
    const std::uint32_t access = before & kAccess;
    if (access == kServing || access == kClosed) return Verdict::again;
    return protect({block, block + 1}, access) ? Verdict::served : Verdict::again;
  }
  if (given_up_.load(std::memory_order_relaxed)) {
    words_[block].store(before, std::memory_order_release);
    return Verdict::refused;
  }
  if ((before & kTwin) != 0) {  // swept: all of its bytes are there
    const std::uint32_t access = fault.write ? kWrite : kRead;
    const bool opened = protect({block, block + 1}, access);
    finish(block, opened ? access : kClosed, false);
    return opened ? Verdict::served : Verdict::again;
  }
  Sources::State state = sources_->state(bytes_of({block, block + 1}), (before & kCurrent) != 0, fault.write);
  if (state == Sources::State::in_use) {
    if (open_twin(block)) return Verdict::served;
    state = Sources::State::pending;
  }
  if (state == Sources::State::pending || state == Sources::State::distant) {
    if (state == Sources::State::pending || (before & kAsked) != 0) {
      words_[block].store(before, std::memory_order_release);
    } else {
      ask(block, before, fault.write);
    }
    return Verdict::again;
  }
  // What the service brought was guessed when it was asked.
  const Guess guess = (before & kAsked) != 0 ? Guess{block, most_guessed(block_bytes_), 1}
                                             : (fault.write ? writes_ : reads_).at(block);
  Index opened = 0;
  if (guess.stride == 1) {
    opened = serve_run(block, guess.count, fault.write, before);
  } else {
    opened = serve_run(block, 1, fault.write, before);
    for (Index i = 1; i < guess.count && opened > 0; ++i) {
      const Index other = block + i * guess.stride;
      if (other < 0 || other >= words_.blocks() || !claim(other, fault.write, before)) break;
      if (sources_->state(bytes_of({other, other + 1}), (before & kCurrent) != 0, fault.write) !=
          Sources::State::ready) {
        words_[other].store(before, std::memory_order_release);
        break;
      }
      if (serve_run(other, 1, fault.write, before) == 0) break;
    }
  }
  if (state == Sources::State::doubtful) service_.doubt(*this, block);
  gate.leave();
  const Index pieces = pieces_.load(std::memory_order_relaxed);
  if (opened == 0 || pieces > most_pieces() / 2 ||
      (pieces > kFewPieces && all_pieces.load(std::memory_order_relaxed) > most_pieces())) {
    sweep();
  }
  return opened > 0 ? Verdict::served : Verdict::again;
}

// The program goes on with a copy of the block, which is claimed, in the block's place. False if there can be none.
bool HostSide::open_twin(Index block) noexcept {
  if (mappings_.twin == nullptr || twins_.load(std::memory_order_relaxed) >= kMostTwins) return false;
  const Index first = block * block_bytes_;
  const auto size =
      static_cast<std::size_t>(std::min(first + block_bytes_, whole_pages(shape_.bytes())) - first);
  std::memcpy(mappings_.twin + offset_ + first, shadow_ + first, size);
  if (!map_block(view_ + first, size, PROT_READ | PROT_WRITE, mappings_.twin_file, offset_ + first))
    return false;
  twins_.fetch_add(1, std::memory_order_relaxed);
  any_twins_.store(true, std::memory_order_relaxed);
  words_[block].fetch_or(kTwin, std::memory_order_relaxed);
  finish(block, kWrite, true);
  news_.store(true, std::memory_order_release);
  stats_.faulted(0);
  return true;
}

// Whether the host place has no memory for these bytes yet (decided by the first page), and the file may be written to.
bool HostSide::lacks_pages(Interval bytes) const noexcept {
  unsigned char present = 1;
  std::byte* const page = shadow_ + bytes.begin / kPageBytes * kPageBytes;
  if (mincore(page, kPageBytes, &present) != 0 || (present & 1) != 0) return false;
  rlimit limit{};  // past it the kernel would send a signal
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && static_cast<rlim_t>(offset_ + bytes.end) <= limit.rlim_cur;
}

void HostSide::ask_for_sources(Index block) noexcept {
  if (renewing_.exchange(true, std::memory_order_relaxed)) return;
  const bool paused = gate_.paused_here();
  if (paused) stands_still_.store(true, std::memory_order_release);
  if (service_.ask(*this, block, 0, paused)) return;
  if (paused) stands_still_.store(false, std::memory_order_release);
  renewing_.store(false, std::memory_order_relaxed);
}

// Asks the service for a block that is claimed, and gives the claim up. The service begins when this thread has left the gate;
// or at once if this thread has paused it: then all is done before, and nobody else is at the block.
void HostSide::ask(Index block, std::uint32_t before, bool write) noexcept {
  const Guess guess = (write ? writes_ : reads_).at(block);
  const Index count = guess.stride == 1 ? guess.count : 1;
  if (!gate_.paused_here()) {
    const bool asked = service_.ask(*this, block, count, false);
    words_[block].store(before | (asked ? kAsked : 0), std::memory_order_release);
    return;
  }
  words_[block].store(before | kAsked, std::memory_order_release);
  stands_still_.store(true, std::memory_order_release);
  if (service_.ask(*this, block, count, true)) return;
  stands_still_.store(false, std::memory_order_release);
  words_[block].store(before, std::memory_order_release);
}

// Opens `first`, which is claimed and ready, and up to `count` - 1 blocks behind it that are so, too. Returns how many; none
// if the kernel refuses.
Index HostSide::serve_run(Index first, Index count, bool write, std::uint32_t before) noexcept {
  const std::uint32_t access = write ? kWrite : kRead;
  const Index end = std::min(first + count, words_.blocks());
  std::array<bool, kMostPrefetchBytes / kLeastBlockBytes> fetched{};
  Index brought = 0;
  Index n = 0;
  bool absent = true;
  for (Index block = first; block < end; ++block) {
    if (block > first) {
      if (!claim(block, write, before)) break;
      const auto state = sources_->state(bytes_of({block, block + 1}), (before & kCurrent) != 0, write);
      if (state != Sources::State::ready) {
        words_[block].store(before, std::memory_order_release);
        break;
      }
    }
    const bool current = (before & kCurrent) != 0;
    fetched[static_cast<std::size_t>(n++)] = !current;
    if (current) continue;
    const Interval bytes = bytes_of({block, block + 1});
    if (!sources_->brings(bytes)) continue;
    absent = absent && lacks_pages(bytes);
    if (absent) {
      brought += sources_->fetch(bytes, shadow_, mappings_.host_file, offset_);
    } else {
      map_pages(shadow_ + bytes.begin, bytes.size());
      brought += sources_->fetch(bytes, shadow_);
    }
  }
  const bool opened = protect({first, first + n}, access);
  if (opened && write) map_pages(view_ + first * block_bytes_, bytes_of({first, first + n}).size());
  for (Index i = 0; i < n; ++i)
    finish(first + i, opened ? access : kClosed, fetched[static_cast<std::size_t>(i)]);
  news_.store(true, std::memory_order_release);
  stats_.faulted(brought);
  return opened ? n : 0;
}

bool HostSide::protect(Interval blocks, std::uint32_t access) noexcept {
  const Interval bytes{blocks.begin * block_bytes_,
                       std::min(blocks.end * block_bytes_, whole_pages(shape_.bytes()))};
  if (mprotect(view_ + bytes.begin, static_cast<std::size_t>(bytes.size()), protection_of(access)) != 0)
    return false;
  if (access == kClosed) return true;
  const auto like = [&](Index block) {
    if (block < 0 || block >= words_.blocks()) return 0;
    return (words_[block].load(std::memory_order_relaxed) & kAccess) == access ? 1 : 0;
  };
  const Index more = 2 * (1 - like(blocks.begin - 1) - like(blocks.end));
  pieces_.fetch_add(more, std::memory_order_relaxed);
  all_pieces.fetch_add(more, std::memory_order_relaxed);
  return true;
}

// All blocks closed are one piece of mapping. What they hold stays known.
void HostSide::sweep() noexcept {
  if (!gate_.try_pause()) return;
  close_all();
  gate_.resume();
}

}  // namespace nuna::adsm
