#include "adsm/host_side.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "adsm/fault_service.hpp"
#include "adsm/futex.hpp"
#include "adsm/pages.hpp"
#include "base/check.hpp"

namespace nuna::adsm {
namespace {

using namespace word;  // NOLINT(google-build-using-namespace)

constexpr std::chrono::microseconds kMoment(50);
constexpr std::size_t kManyHoldings = 64;

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

Sources sources_of(const execute::Buffer& buffer, const execute::Places& places, Interval known) {
  const execute::Instances& instances = *buffer.instances;
  std::vector<Sources::Source> sources;
  std::vector<Sources::Use> uses;
  const auto add = [&](const residency::Holding& h) {
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
  };
  const auto add_use = [&](const base::ByteBox& box, base::Ticket ticket, bool writes) {
    uses.push_back({box, ticket, writes});
  };
  if (known == Sources::kAll) {
    for (const residency::Holding& h : buffer.residency->holdings()) add(h);
    instances.for_each_user(base::kHostPlace, add_use);
    return {instances.shape(), std::move(sources), uses};
  }
  for (const base::ByteBox& region : base::boxes_of_range(instances.shape(), known)) {
    for (const residency::Holding& h : buffer.residency->within(region)) add(h);
    instances.for_each_user(base::kHostPlace, region, add_use);
  }
  return {instances.shape(), std::move(sources), uses, known};
}

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
  make_sources({0, 0});
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

void HostSide::shut_blocks(Interval blocks) {
  if (words_.untouched()) return;
  uncount(blocks);
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

// Of very many pieces those near by are enough for launches that the host touches little between; who looks elsewhere
// soon looks everywhere.
void HostSide::make_sources(Interval around) {
  Interval known = Sources::kAll;
  if (buffer_.residency->holdings().size() > kManyHoldings) {
    const Interval asked = bytes_of(blocks_of(around));
    known = Interval{asked.begin - reach_, asked.end + reach_}.intersect({0, shape_.bytes()});
    reach_ = std::min(4 * reach_, shape_.bytes());
  }
  sources_ = std::make_unique<const Sources>(sources_of(buffer_, places_, known));
  sources_of_ = buffer_.instances->idle() ? buffer_.residency : nullptr;
  renewing_.store(false, std::memory_order_relaxed);
}

// Whether they say what those would that are made now.
bool HostSide::sources_stand() const {
  return sources_ != nullptr && sources_of_ != nullptr && sources_of_ == buffer_.residency &&
         buffer_.instances->idle();
}

bool HostSide::knows(Index block) const noexcept {
  if (sources_ == nullptr) return false;
  const Interval bytes = bytes_of({block, block + 1});
  return sources_->known().intersect(bytes) == bytes;
}

void HostSide::renew(Interval around) {
  make_sources(around);
  renewed_ = true;
}

void HostSide::go_on(Interval around) {
  make_sources(around);
  stands_still_.store(false, std::memory_order_release);
}

void HostSide::pause() {
  gate_.pause();
  renewed_ = false;
}

void HostSide::resume() {
  // Of very many pieces they are made when somebody looks: launches that touch one each would pay for all.
  if (renewed_ || sources_stand()) return gate_.resume();
  if (buffer_.residency->holdings().size() > kManyHoldings) {
    sources_.reset();
    reach_ = kMostPrefetchBytes;
  } else {
    make_sources({0, 0});
  }
  gate_.resume();
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
    if (!knows(block)) make_sources(own);
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
  uncount(blocks);
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

// What protect() has counted for the runs of open blocks in a range that is about to change. A run that reaches out of it stays
// a piece there; one that reaches out on both sides becomes two.
void HostSide::uncount(Interval blocks) {
  const auto access = [&](Index block) {
    if (block < 0 || block >= words_.blocks()) return kClosed;
    return words_[block].load(std::memory_order_relaxed) & kAccess;
  };
  Index less = 0;
  Interval run{0, 0};
  std::uint32_t of = kClosed;
  const auto end_run = [&] {
    if (run.empty()) return;
    less += 2;
    if (run.begin == blocks.begin && access(run.begin - 1) == of) less -= 2;
    if (run.end == blocks.end && access(run.end) == of) less -= 2;
  };
  words_.for_each(blocks, [&](Index block) {
    const std::uint32_t now = access(block);
    if (now == kClosed) return;
    if (run.end != block || now != of) {
      end_run();
      run.begin = block;
      of = now;
    }
    run.end = block + 1;
  });
  end_run();
  less = std::min(less, pieces_.load(std::memory_order_relaxed));
  pieces_.fetch_sub(less, std::memory_order_relaxed);
  all_pieces.fetch_sub(less, std::memory_order_relaxed);
}

void HostSide::open_for_reading_only(Interval blocks) {
  Interval run{0, 0};
  const auto flush = [&] {
    if (run.empty()) return;
    uncount(run);
    for (Index block = run.begin; block < run.end; ++block) {
      Word& w = words_[block];
      w.store((w.load(std::memory_order_relaxed) & ~kAccess) | kRead, std::memory_order_relaxed);
    }
    narrow(run, kRead);
  };
  words_.for_each(blocks, [&](Index block) {
    const std::uint32_t now = words_[block].load(std::memory_order_relaxed);
    if ((now & kAccess) != kWrite) return;
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
