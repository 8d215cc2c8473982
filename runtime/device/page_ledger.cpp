#include "device/page_ledger.hpp"

#include <algorithm>
#include <iterator>

namespace nuna::device {

Index total(const PageLedger::Ranges& ranges) {
  Index sum = 0;
  for (const Interval& r : ranges) sum += r.size();
  return sum;
}

Interval PageLedger::pages_around(Interval bytes) const {
  return {bytes.begin / page_bytes_ * page_bytes_, (bytes.end + page_bytes_ - 1) / page_bytes_ * page_bytes_};
}

PageLedger::Map::const_iterator PageLedger::first_ending_after(Index position) const {
  auto next = committed_.upper_bound(position);
  if (next != committed_.begin() && std::prev(next)->second > position) --next;
  return next;
}

PageLedger::Ranges PageLedger::missing(Interval bytes) const {
  Ranges ranges;
  if (bytes.empty()) return ranges;
  const Interval pages = pages_around(bytes);
  Index at = pages.begin;  // pages below are held or in `ranges`
  for (auto it = first_ending_after(at); it != committed_.end() && it->first < pages.end; ++it) {
    const Interval held = pages_around({it->first, it->second});
    if (at < held.begin) ranges.push_back({at, held.begin});
    at = std::max(at, held.end);
  }
  if (at < pages.end) ranges.push_back({at, pages.end});
  return ranges;
}

PageLedger::Ranges PageLedger::freed(Interval bytes) const {
  Ranges ranges;
  if (bytes.empty()) return ranges;
  Interval pages = pages_around(bytes);
  // Only bytes outside `bytes` on the two outermost pages can keep a page.
  const auto keeps = [&](Interval part) {
    if (part.empty()) return false;
    const auto it = first_ending_after(part.begin);
    return it != committed_.end() && it->first < part.end;
  };
  const bool keeps_first = keeps({pages.begin, bytes.begin});
  const bool keeps_last = keeps({bytes.end, pages.end});
  if (keeps_first) pages.begin += page_bytes_;
  if (keeps_last) pages.end -= page_bytes_;
  Index at = pages.begin;
  for (auto it = first_ending_after(at); it != committed_.end() && it->first < pages.end; ++it) {
    const Interval held = pages_around({it->first, it->second}).intersect({at, pages.end});
    if (held.empty()) continue;
    if (!ranges.empty() && ranges.back().end == held.begin) {
      ranges.back().end = held.end;
    } else {
      ranges.push_back(held);
    }
    at = held.end;
  }
  return ranges;
}

void PageLedger::commit(Interval bytes) {
  if (bytes.empty()) return;
  held_bytes_ += total(missing(bytes));
  auto it = first_ending_after(bytes.begin - 1);  // one that only touches is joined too
  while (it != committed_.end() && it->first <= bytes.end) {
    bytes = {std::min(bytes.begin, it->first), std::max(bytes.end, it->second)};
    it = committed_.erase(it);
  }
  committed_[bytes.begin] = bytes.end;
}

void PageLedger::release(Interval bytes) {
  if (bytes.empty()) return;
  held_bytes_ -= total(freed(bytes));
  Interval before;
  Interval after;
  for (auto it = first_ending_after(bytes.begin); it != committed_.end() && it->first < bytes.end;) {
    if (it->first < bytes.begin) before = {it->first, bytes.begin};
    if (bytes.end < it->second) after = {bytes.end, it->second};
    it = committed_.erase(it);
  }
  if (!before.empty()) committed_[before.begin] = before.end;
  if (!after.empty()) committed_[after.begin] = after.end;
}

}  // namespace nuna::device
