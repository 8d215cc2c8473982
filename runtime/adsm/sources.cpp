#include "adsm/sources.hpp"

#include <cstring>
#include <utility>

namespace nuna::adsm {

using base::ByteBox;

Sources::Sources(const base::Shape& shape, std::vector<Source> sources, const std::vector<Use>& uses) : shape_(shape) {
  for (Source& s : sources) {
    const auto over = [](const base::Ticket& t) { return t.done() && !t.failure(); };
    s.written_by.erase(std::remove_if(s.written_by.begin(), s.written_by.end(), over), s.written_by.end());
    sources_.push_back({base::hull_range(shape, s.box), std::move(s)});
  }
  for (const Use& u : uses) {
    if (!u.ticket.done()) uses_.push_back({base::hull_range(shape, u.box), u});
  }
}

bool Sources::meets(Interval hull, const ByteBox& box, Interval range) const noexcept {
  if (hull.intersect(range).empty()) return false;
  bool met = false;
  for_each_run(shape_, box, range, [&](Index, Index) { met = true; });
  return met;
}

Sources::State Sources::state(Interval range, bool current, bool write) const noexcept {
  bool fetches = false;
  State state = State::ready;
  for (const Spanned& s : sources_) {
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
  for (const SpannedUse& u : uses_) {
    if (u.use.ticket.done() || !(write || fetches || u.use.writes)) continue;
    if (meets(u.hull, u.use.box, range)) return State::pending;
  }
  return state;
}

std::exception_ptr Sources::failure(Interval range) const {
  for (const Spanned& s : sources_) {
    if (!meets(s.hull, s.source.box, range)) continue;
    for (const base::Ticket& t : s.source.written_by) {
      if (std::exception_ptr failure = t.done() ? t.failure() : nullptr) return failure;
    }
  }
  return nullptr;
}

bool Sources::brings(Interval range) const noexcept {
  for (const Spanned& s : sources_) {
    if (s.source.kind == Source::Kind::near && meets(s.hull, s.source.box, range)) return true;
  }
  return false;
}

Index Sources::fetch(Interval range, std::byte* host) const noexcept {
  Index fetched = 0;
  for (const Spanned& s : sources_) {
    if (s.source.kind != Source::Kind::near || s.hull.intersect(range).empty()) continue;
    for_each_run(shape_, s.source.box, range, [&](Index begin, Index end) {
      std::memcpy(host + begin, s.source.first + begin, static_cast<std::size_t>(end - begin));
      fetched += end - begin;
    });
  }
  return fetched;
}

}  // namespace nuna::adsm
