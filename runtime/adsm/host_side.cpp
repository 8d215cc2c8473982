#include "adsm/host_side.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <utility>

#include "adsm/fault_service.hpp"
#include "adsm/futex.hpp"
#include "base/check.hpp"
#include "base/worker_thread.hpp"

namespace nuna::adsm {
namespace {

using namespace word;  // NOLINT(google-build-using-namespace)

constexpr Index kPageBytes = 4096;
constexpr std::chrono::microseconds kMoment(50);

Index whole_pages(Index bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

// Of all buffers of the process: at most a quarter of the mappings that the kernel allows.
std::atomic<Index> all_pieces{0};
Index most_pieces() {
  static const Index most = [] {
    Index limit = 65'530;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    return std::max<Index>(limit / 4, 64);
  }();
  return most;
}

// A buffer keeps these, however many others have: what one instruction touches is open at once.
constexpr Index kFewPieces = 32;

Index most_guessed(Index block_bytes) { return std::max<Index>(1, kMostPrefetchBytes / block_bytes); }

// The kernel maps the pages around one that is read, up to 64 KiB, which costs a seventh of a fault for each; and pages of
// shared memory that were mapped by a read may be written (decision 0023).
constexpr Index kAroundBytes = Index{64} << 10;
void map_pages(const std::byte* first, Index bytes) {
  for (Index at = 0; at < bytes; at += kAroundBytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(first + at));
  }
}

// A state of very many pieces makes every call slow: where the host has written here and there, it takes what lies between, too.
constexpr std::size_t kMostRanges = 1024;

// The gaps of an ascending list that are to be closed so that at most `most` ranges are left: the smallest ones.
std::vector<bool> small_gaps(const std::vector<Interval>& ranges, std::size_t most) {
  std::vector<bool> small(ranges.size(), false);  // [i]: the gap before range i
  if (ranges.size() <= most) return small;
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < ranges.size(); ++i) order.push_back(i);
  const auto gap = [&](std::size_t i) { return ranges[i].begin - ranges[i - 1].end; };
  const auto closed = static_cast<std::ptrdiff_t>(ranges.size() - most);
  std::nth_element(order.begin(), order.begin() + (closed - 1), order.end(),
                   [&](std::size_t a, std::size_t b) { return gap(a) < gap(b); });
  for (auto i = order.begin(); i != order.begin() + closed; ++i) small[*i] = true;
  return small;
}

// Of one buffer at a time: each is a mapping of its own.
constexpr int kMostTwins = 256;

bool map_block(std::byte* first, std::size_t size, int protection, int file, Index offset) {
  if (mmap(first, size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, offset) == MAP_FAILED)
    return false;
  madvise(first, size, MADV_DONTDUMP);
  madvise(first, size, MADV_DONTFORK);
  return true;
}

int protection_of(std::uint32_t access) {
  if (access == kClosed) return PROT_NONE;
  return access == kRead ? PROT_READ : PROT_READ | PROT_WRITE;
}

Sources sources_of(const execute::Buffer& buffer, const execute::Places& places) {
  const execute::Instances& instances = *buffer.instances;
  std::vector<Sources::Source> sources;
  for (const residency::Holding& h : buffer.residency->holdings()) {
    Sources::Source source{h.box, Sources::Source::Kind::distant, nullptr, {}};
    base::PlaceId from = h.places.first();
    for (auto left = h.places; !left.empty(); left = left.without(left.first())) {
      if (!places.at(left.first()).properties().host_accessible) continue;
      from = left.first();  // the host place, if it is one of them: it comes first
      source.kind = from == base::kHostPlace ? Sources::Source::Kind::host : Sources::Source::Kind::near;
      break;
    }
    source.first = reinterpret_cast<const std::byte*>(instances.view(from).origin);
    execute::Tickets writers;
    instances.before_read(from, h.box, writers);
    source.written_by.assign(writers.begin(), writers.end());
    sources.push_back(std::move(source));
  }
  std::vector<Sources::Use> uses;
  instances.for_each_user(base::kHostPlace, [&](const base::ByteBox& box, base::Ticket ticket, bool writes) {
    uses.push_back({box, ticket, writes});
  });
  return {instances.shape(), std::move(sources), uses};
}

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

HostSide::HostSide(execute::Buffer& buffer, const execute::Places& places, const Mappings& mappings,
                   Index block_bytes, FaultService& service, trace::Stats& stats)
    : buffer_(buffer),
      places_(places),
      service_(service),
      stats_(stats),
      shape_(buffer.shape()),
      mappings_(mappings),
      offset_(buffer.instances->offset()),
      view_(mappings.view + offset_),
      shadow_(reinterpret_cast<std::byte*>(buffer.instances->view(base::kHostPlace).origin)),
      block_bytes_(block_bytes),
      words_((shape_.bytes() + block_bytes - 1) / block_bytes),
      reads_(most_guessed(block_bytes)),
      writes_(most_guessed(block_bytes)),
      name_("the buffer created at " + buffer.site) {
  most_pieces();  // read here, not in a handler
  sources_ = std::make_unique<const Sources>(sources_of(buffer_, places_));
  FaultHandler::add(view_, whole_pages(shape_.bytes()), *this);
}

HostSide::~HostSide() {
  FaultHandler::remove(view_);
  close_all();
  if (!any_twins_.load()) return;
  fallocate(mappings_.twin_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_,
            whole_pages(shape_.bytes()));
}

Interval HostSide::blocks_of(Interval bytes) const {
  if (bytes.empty()) return {0, 0};
  return {bytes.begin / block_bytes_, (bytes.end + block_bytes_ - 1) / block_bytes_};
}

// Without what the last block lacks.
Interval HostSide::bytes_of(Interval blocks) const {
  return {blocks.begin * block_bytes_, std::min(blocks.end * block_bytes_, shape_.bytes())};
}

void HostSide::tell(const char* what) const noexcept {
  if (told_.exchange(true)) return;
  const auto part = [](const char* text, std::size_t size) { return iovec{const_cast<char*>(text), size}; };
  constexpr char kPrefix[] = "nuna error [adsm]: ";
  const std::array parts = {part(kPrefix, sizeof kPrefix - 1), part(what, std::strlen(what)),
                            part(name_.data(), name_.size()), part("\n", 1)};
  [[maybe_unused]] const ssize_t written =
      writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
}

// ---- in the faulting thread ----

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

// The host place takes its place again, closed.
void HostSide::end_twin(Index block) {
  const Index first = block * block_bytes_;
  const auto size =
      static_cast<std::size_t>(std::min(first + block_bytes_, whole_pages(shape_.bytes())) - first);
  base::check(map_block(view_ + first, size, PROT_NONE, mappings_.host_file, offset_ + first),
              "what was mapped can be mapped again");
  twins_.fetch_sub(1, std::memory_order_relaxed);
  words_.clear(block);
}

// Whether the host place has no memory for these bytes yet (decided by the first page), and the file may be written to.
bool HostSide::lacks_pages(Interval bytes) const noexcept {
  unsigned char present = 1;
  std::byte* const page = shadow_ + bytes.begin / kPageBytes * kPageBytes;
  if (mincore(page, kPageBytes, &present) != 0 || (present & 1) != 0) return false;
  rlimit limit{};  // past it the kernel would send a signal
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && static_cast<rlim_t>(offset_ + bytes.end) <= limit.rlim_cur;
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

// ---- by the thread that is inside the Program ----

void HostSide::shut_blocks(Interval blocks) {
  if (words_.untouched()) return;
  words_.for_each(blocks, [&](Index block) {
    Word& w = words_[block];
    const std::uint32_t now = w.load(std::memory_order_relaxed);
    w.store(now & ~kAccess, std::memory_order_relaxed);
  });
  narrow(blocks, kClosed);
}

void HostSide::shut(Interval bytes) { shut_blocks(blocks_of(bytes)); }

// Allows less than before: if the kernel has no mapping pieces left for that, then nothing at all, which takes one.
void HostSide::narrow(Interval blocks, std::uint32_t access) {
  if (protect(blocks, access)) return;
  words_.for_each({0, words_.blocks()},
                  [&](Index block) { words_[block].fetch_and(~kAccess, std::memory_order_relaxed); });
  base::check(protect({0, words_.blocks()}, kClosed),
              "closing all of a buffer's view takes no new mapping piece");
}

void HostSide::close_all() {
  shut_blocks({0, words_.blocks()});
  all_pieces.fetch_sub(pieces_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
}

void HostSide::renew() { sources_ = std::make_unique<const Sources>(sources_of(buffer_, places_)); }

void HostSide::go_on() {
  renew();
  stands_still_.store(false, std::memory_order_release);
}

void HostSide::resume() {
  renew();
  gate_.resume();
}

execute::HostAccess::News HostSide::take_news() {
  News news;
  if (mappings_.twin != nullptr) news.twin = mappings_.twin + offset_;
  if (!news_.exchange(false, std::memory_order_acquire)) return news;
  const auto add = [&](std::vector<Interval>& list, Index block) {
    const Interval bytes = bytes_of({block, block + 1});
    if (!list.empty() && list.back().end == bytes.begin) {
      list.back().end = bytes.end;
    } else {
      list.push_back(bytes);
    }
  };
  words_.for_each({0, words_.blocks()}, [&](Index block) {
    Word& w = words_[block];
    const std::uint32_t now = w.load(std::memory_order_relaxed);
    if ((now & kTwin) != 0) {
      add(news.twins, block);
      add(news.used, block);
      return end_twin(block);
    }
    if ((now & kDirty) != 0) add(news.written, block);
    if ((now & (kDirty | kNews)) != 0) add(news.used, block);
    w.store(now & ~(kDirty | kNews), std::memory_order_relaxed);
  });
  unite(news.written, true);
  unite(news.used, false);
  return news;
}

// Across small gaps. With `fetched`, only where the host place has what lies between, or can be given it.
void HostSide::unite(std::vector<Interval>& ranges, bool fetched) {
  const std::vector<bool> small = small_gaps(ranges, kMostRanges);
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (small[i] && (!fetched || fetch_now({ranges[last].end, ranges[i].begin}))) {
      ranges[last].end = ranges[i].end;
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

// Whole blocks, which stay closed. False where a device would have to bring them.
bool HostSide::fetch_now(Interval bytes) {
  const Interval blocks = blocks_of(bytes);
  for (Index block = blocks.begin; block < blocks.end; ++block) {
    if ((words_[block].load(std::memory_order_relaxed) & kCurrent) != 0) continue;
    const Interval own = bytes_of({block, block + 1});
    while (sources_->state(own, false, true) == Sources::State::pending) sleep_for(kMoment, nullptr);
    if (sources_->state(own, false, true) == Sources::State::distant) return false;
    sources_->fetch(own, shadow_);
    words_.touch(block);
    words_[block].fetch_or(kCurrent, std::memory_order_relaxed);
  }
  return true;
}

void HostSide::close(const base::BoxList& reads, const base::BoxList& writes) {
  if (words_.untouched()) return;
  for (const base::ByteBox& b : writes) close_blocks(blocks_of(base::hull_range(shape_, b)));
  for (const base::ByteBox& b : reads) open_for_reading_only(blocks_of(base::hull_range(shape_, b)));
}

// One call for all: those between that are closed already cost next to nothing.
void HostSide::close_blocks(Interval blocks) {
  Interval open{blocks.end, blocks.end};
  words_.for_each(blocks, [&](Index block) {
    const std::uint32_t now = words_[block].load(std::memory_order_relaxed);
    base::check((now & kDirty) == 0, "what the host has written is known before it is overwritten");
    if ((now & kAccess) != kClosed) {
      open.begin = std::min(open.begin, block);
      open.end = block + 1;
    }
    words_.clear(block);
  });
  if (open.begin < blocks.end) narrow(open, kClosed);
}

void HostSide::open_for_reading_only(Interval blocks) {
  Interval run{0, 0};
  const auto flush = [&] {
    if (!run.empty()) narrow(run, kRead);
  };
  words_.for_each(blocks, [&](Index block) {
    Word& w = words_[block];
    const std::uint32_t now = w.load(std::memory_order_relaxed);
    if ((now & kAccess) != kWrite) return;
    w.store((now & ~kAccess) | kRead, std::memory_order_relaxed);
    if (run.end != block) {
      flush();
      run.begin = block;
    }
    run.end = block + 1;
  });
  flush();
}

bool HostSide::ready(Interval bytes, bool write) const {
  return sources_->state(bytes, false, write) <= Sources::State::doubtful;
}

std::vector<Interval> HostSide::lacking(Interval bytes) const {
  std::vector<Interval> runs;
  const Interval blocks = blocks_of(bytes);
  for (Index block = blocks.begin; block < blocks.end; ++block) {
    if ((words_[block].load(std::memory_order_relaxed) & kCurrent) != 0) continue;
    const Interval own = bytes_of({block, block + 1});
    if (!runs.empty() && runs.back().end == own.begin) {
      runs.back().end = own.end;
    } else {
      runs.push_back(own);
    }
  }
  return runs;
}

Interval HostSide::whole_blocks(Interval bytes) const { return bytes_of(blocks_of(bytes)); }

bool HostSide::is_open(Interval bytes, bool write) const {
  const Interval blocks = blocks_of(bytes);
  for (Index block = blocks.begin; block < blocks.end; ++block) {
    const std::uint32_t access = words_[block].load(std::memory_order_relaxed) & kAccess;
    if (access != kWrite && (write || access != kRead)) return false;
  }
  return true;
}

void HostSide::open(Interval bytes, bool write, bool parts_too) {
  Interval blocks = blocks_of(bytes);
  if (!parts_too) {
    if (bytes.begin % block_bytes_ != 0) ++blocks.begin;
    if (bytes.end % block_bytes_ != 0 && bytes.end != shape_.bytes()) --blocks.end;
  }
  // Blocks that are open for more stay so.
  Interval run{0, 0};
  const std::uint32_t access = write ? kWrite : kRead;
  const auto flush = [&] {
    if (!run.empty() && !protect(run, access)) {
      for (Index b = run.begin; b < run.end; ++b) finish(b, kClosed, false);
    }
  };
  for (Index block = blocks.begin; block < blocks.end; ++block) {
    words_.touch(block);
    const std::uint32_t now = words_[block].load(std::memory_order_relaxed);
    if ((now & kAccess) >= access) continue;
    finish(block, access, true);
    if (run.end != block) {
      flush();
      run.begin = block;
    }
    run.end = block + 1;
  }
  flush();
  if (!blocks.empty()) news_.store(true, std::memory_order_release);
}

void HostSide::add_view(bool writes) {
  FaultHandler::ours();
  views_.fetch_add(1);
  if (writes) writers_.fetch_add(1);
}

void HostSide::end_view(bool writes) {
  views_.fetch_sub(1);
  if (writes) writers_.fetch_sub(1);
}

}  // namespace nuna::adsm
