#include "adsm/sources.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace nuna::adsm {

using base::ByteBox;

Sources::Sources(const base::Shape& shape, std::vector<Source> sources, const std::vector<Use>& uses,
                 Interval known)
    : shape_(shape), known_(known) {
  for (Source& s : sources) {
    const auto over = [](const base::Ticket& t) { return t.done() && !t.failure(); };
    s.written_by.erase(std::remove_if(s.written_by.begin(), s.written_by.end(), over), s.written_by.end());
    sources_.push_back({base::hull_range(shape, s.box), std::move(s)});
  }
  for (const Use& u : uses) {
    if (!u.ticket.done()) uses_.push_back({base::hull_range(shape, u.box), u});
  }
  sort(sources_);
  sort(uses_);
}

template <class S>
void Sources::sort(std::vector<S>& spanned) {
  std::sort(spanned.begin(), spanned.end(),
            [](const S& a, const S& b) { return a.hull.begin < b.hull.begin; });
  Index reach = 0;
  for (S& s : spanned) s.reach = reach = std::max(reach, s.hull.end);
}

template <class S>
std::pair<const S*, const S*> Sources::around(const std::vector<S>& spanned, Interval range) noexcept {
  const S* const begin = spanned.data();
  const S* const end = begin + spanned.size();
  return {std::partition_point(begin, end, [&](const S& s) { return s.reach <= range.begin; }),
          std::partition_point(begin, end, [&](const S& s) { return s.hull.begin < range.end; })};
}

bool Sources::meets(Interval hull, const ByteBox& box, Interval range) const noexcept {
  if (hull.intersect(range).empty()) return false;
  bool met = false;
  for_each_run(shape_, box, range, [&](Index, Index) { return !(met = true); });
  return met;
}

Sources::State Sources::state(Interval range, bool current, bool write) const noexcept {
  if (range.begin < known_.begin || range.end > known_.end) return State::unknown;
  bool fetches = false;
  State state = State::ready;
  const auto [first, last] = around(sources_, range);
  for (const Spanned* at = first; at < last; ++at) {
    const Spanned& s = *at;
    if (!meets(s.hull, s.source.box, range)) continue;
    for (const base::Ticket& t : s.source.written_by) {
      if (!t.done()) return State::pending;
      // Which one failed takes a lock to find out.
      if (t.line != nullptr && t.line->any_failed()) state = State::doubtful;
    }
    if (current || s.source.kind == Source::Kind::host) continue;
    if (s.source.kind == Source::Kind::distant) return State::distant;
    fetches = true;
  }
  bool read = false;
  const auto [first_use, last_use] = around(uses_, range);
  for (const SpannedUse* at = first_use; at < last_use; ++at) {
    const SpannedUse& u = *at;
    if (u.use.ticket.done() || !(write || fetches || u.use.writes) || !meets(u.hull, u.use.box, range))
      continue;
    if (u.use.writes || fetches || state != State::ready) return State::pending;
    read = true;
  }
  return read ? State::in_use : state;
}

std::exception_ptr Sources::failure(Interval range) const {
  const auto [first, last] = around(sources_, range);
  for (const Spanned* at = first; at < last; ++at) {
    const Spanned& s = *at;
    if (!meets(s.hull, s.source.box, range)) continue;
    for (const base::Ticket& t : s.source.written_by) {
      if (std::exception_ptr failure = t.done() ? t.failure() : nullptr) return failure;
    }
  }
  return nullptr;
}

bool Sources::brings(Interval range) const noexcept {
  const auto [first, last] = around(sources_, range);
  for (const Spanned* at = first; at < last; ++at) {
    if (at->source.kind == Source::Kind::near && meets(at->hull, at->source.box, range)) return true;
  }
  return false;
}

template <class Copy>
Index Sources::fetch_by(Interval range, Copy copy) const noexcept {
  Index fetched = 0;
  const auto [first, last] = around(sources_, range);
  for (const Spanned* at = first; at < last; ++at) {
    const Spanned& s = *at;
    if (s.source.kind != Source::Kind::near || s.hull.intersect(range).empty()) continue;
    for_each_run(shape_, s.source.box, range, [&](Index begin, Index end) {
      copy(begin, s.source.first + begin, end - begin);
      fetched += end - begin;
      return true;
    });
  }
  return fetched;
}

Index Sources::fetch(Interval range, std::byte* host) const noexcept {
  return fetch_by(range, [&](Index to, const std::byte* from, Index bytes) {
    std::memcpy(host + to, from, static_cast<std::size_t>(bytes));
  });
}

Index Sources::fetch(Interval range, std::byte* host, int file, Index offset) const noexcept {
  return fetch_by(range, [&](Index to, const std::byte* from, Index bytes) {
    // A system call pays from some pages on. Not by the C library, where a thread may be cancelled.
    constexpr Index kFew = Index{16} << 10;
    const long written =
        bytes < kFew ? 0 : syscall(SYS_pwrite64, file, from, static_cast<std::size_t>(bytes), offset + to);
    const Index done = std::max<Index>(0, written);
    std::memcpy(host + to + done, from + done, static_cast<std::size_t>(bytes - done));
  });
}

}  // namespace nuna::adsm
