#include "call_order.hpp"

#include <algorithm>
#include <cstring>

namespace nuna::cudart {
namespace {

const WaitingCall* find(const RoundList& list, std::uint64_t place) {
  const auto found = std::find_if(list.calls.begin(), list.calls.end(),
                                  [place](const WaitingCall& call) { return call.place == place; });
  return found == list.calls.end() ? nullptr : &*found;
}

bool waits_everywhere(const std::vector<RoundList>& lists, std::uint64_t place) {
  return std::all_of(lists.begin(), lists.end(),
                     [place](const RoundList& list) { return find(list, place) != nullptr; });
}

/// A thread that calls something else than on the first rank.
std::optional<Parting> other_call(const std::vector<RoundList>& lists) {
  for (const WaitingCall& call : lists.front().calls) {
    for (std::size_t r = 1; r < lists.size(); ++r) {
      const WaitingCall* const theirs = find(lists[r], call.place);
      if (theirs != nullptr && theirs->what != call.what) return Parting{0, call.place, r, call.place};
    }
  }
  return std::nullopt;
}

/// A call of `rank` that does not wait on another one, of those that `in_vain` picks.
template <class InVain>
std::optional<Parting> missing_call(const std::vector<RoundList>& lists, std::size_t rank, InVain in_vain) {
  for (std::size_t r = 0; r < lists.size(); ++r) {
    if (r == rank || lists[r].calls.empty() || !in_vain(lists[r])) continue;
    for (const WaitingCall& call : lists[rank].calls) {
      if (call.place == kEndPlace || find(lists[r], call.place) != nullptr) continue;
      const bool ends = find(lists[r], kEndPlace) != nullptr;
      return Parting{rank, call.place, r, ends ? kEndPlace : lists[r].calls.front().place};
    }
  }
  return std::nullopt;
}

std::optional<Parting> parting_of(const std::vector<RoundList>& lists) {
  if (auto parting = other_call(lists)) return parting;
  const auto has_ended = [](const RoundList& list) { return find(list, kEndPlace) != nullptr; };
  const auto any = [](const RoundList&) { return true; };
  for (std::size_t r = 0; r < lists.size(); ++r) {
    if (auto parting = missing_call(lists, r, has_ended)) return parting;
    if (!lists.front().impatient) continue;
    if (auto parting = missing_call(lists, r, any)) return parting;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::byte> packed(const RoundList& list) {
  std::vector<std::uint64_t> words{list.impatient ? 1U : 0U};
  for (const WaitingCall& call : list.calls) words.insert(words.end(), {call.place, call.what});
  std::vector<std::byte> bytes(words.size() * sizeof words[0]);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::optional<RoundList> unpacked(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  if (bytes.size() % sizeof(std::uint64_t) != 0 || words.size() % 2 != 1) return std::nullopt;
  std::memcpy(words.data(), bytes.data(), bytes.size());
  RoundList list;
  list.impatient = words[0] != 0;
  for (std::size_t w = 1; w < words.size(); w += 2) list.calls.push_back({words[w], words[w + 1]});
  return list;
}

Round round_of(const std::vector<RoundList>& lists) {
  Round round;
  const bool ends = waits_everywhere(lists, kEndPlace);
  // A call that comes together with the end of the program on some ranks only is made by a thread that nobody waits for.
  if (!ends) round.parting = parting_of(lists);
  for (const WaitingCall& call : lists.front().calls) {
    const bool alike = std::all_of(lists.begin(), lists.end(), [&](const RoundList& list) {
      const WaitingCall* const theirs = find(list, call.place);
      return theirs != nullptr && theirs->what == call.what;
    });
    if (alike && call.place != kEndPlace) round.admitted.push_back(call.place);
  }
  if (ends) round.admitted.push_back(kEndPlace);
  return round;
}

}  // namespace nuna::cudart
