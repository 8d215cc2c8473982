#include "adsm/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "nuna/error.hpp"

namespace nuna::adsm {
namespace {

struct Run {
  Interval bytes;
  const std::byte* values = nullptr;
};

template <class T>
void append(std::vector<std::byte>& out, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof(T));
}

std::vector<Run> parse(const std::vector<std::byte>& message, Index size) {
  std::vector<Run> runs;
  std::size_t at = 0;
  while (at < message.size()) {
    Interval bytes;
    const std::size_t left = message.size() - at;
    if (left >= sizeof bytes) std::memcpy(&bytes, message.data() + at, sizeof bytes);
    at += sizeof bytes;
    if (left < sizeof bytes || bytes.begin < 0 || bytes.empty() || bytes.end > size ||
        left - sizeof bytes < static_cast<std::size_t>(bytes.size())) {
      throw Error(ErrorCode::diverged,
                  "ranks closed different host views: make the same calls in the same order");
    }
    runs.push_back({bytes, message.data() + at});
    at += static_cast<std::size_t>(bytes.size());
  }
  return runs;
}

std::optional<Interval> differing(const Run& a, const Run& b) {
  const Interval common = a.bytes.intersect(b.bytes);
  std::optional<Interval> found;
  for (Index i = common.begin; i < common.end; ++i) {
    if (a.values[i - a.bytes.begin] == b.values[i - b.bytes.begin]) {
      if (found) break;
      continue;
    }
    if (!found) found = Interval{i, i};
    found->end = i + 1;
  }
  return found;
}

std::optional<Interval> first_conflict(const std::vector<Run>& a, const std::vector<Run>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (auto conflict = differing(a[i], b[j])) return conflict;
    if (a[i].bytes.end < b[j].bytes.end) {
      ++i;
    } else {
      ++j;
    }
  }
  return std::nullopt;
}

void mix(std::uint64_t& hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9fb21c651e98df25U;
  hash ^= hash >> 29;
}

// In four lanes: one multiplication after the other would be slower than memory.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kLanes = 4;
  std::array<std::uint64_t, kLanes> lanes{0x9ae16a3b2f90404fU ^ bytes.size(), 1, 2, 3};
  std::size_t at = 0;
  for (; at + sizeof lanes <= bytes.size(); at += sizeof lanes) {
    std::array<std::uint64_t, kLanes> words;
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t lane = 0; lane < kLanes; ++lane) mix(lanes[lane], words[lane]);
  }
  std::uint64_t hash = lanes[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane) mix(hash, lanes[lane]);
  for (; at < bytes.size(); ++at) mix(hash, static_cast<std::uint64_t>(bytes[at]));
  return hash ^ (hash >> 32);
}

}  // namespace

std::vector<std::byte> changes(std::span<const std::byte> now, std::span<const std::byte> twin) {
  constexpr std::size_t kBlock = 4096;
  std::vector<std::byte> message;
  std::size_t i = 0;
  while (i < now.size()) {
    const std::size_t block = std::min(kBlock, now.size() - i);
    if (std::memcmp(now.data() + i, twin.data() + i, block) == 0) {
      i += block;
      continue;
    }
    while (now[i] == twin[i]) ++i;
    std::size_t end = i + 1;
    while (end < now.size() && now[end] != twin[end]) ++end;
    append(message, Interval{static_cast<Index>(i), static_cast<Index>(end)});
    message.insert(message.end(), now.begin() + static_cast<std::ptrdiff_t>(i),
                   now.begin() + static_cast<std::ptrdiff_t>(end));
    i = end;
  }
  return message;
}

std::optional<Conflict> merge(std::span<const std::vector<std::byte>> changes_by_rank,
                              std::span<std::byte> twin) {
  std::vector<std::vector<Run>> runs;
  for (const auto& message : changes_by_rank) runs.push_back(parse(message, static_cast<Index>(twin.size())));
  std::optional<Conflict> conflict;
  for (std::size_t a = 0; a < runs.size() && !conflict; ++a) {
    for (std::size_t b = a + 1; b < runs.size() && !conflict; ++b) {
      if (const auto bytes = first_conflict(runs[a], runs[b])) {
        conflict = Conflict{static_cast<int>(a), static_cast<int>(b), *bytes};
      }
    }
  }
  for (auto rank = runs.rbegin(); rank != runs.rend(); ++rank) {
    for (const Run& r : *rank) {
      std::memcpy(twin.data() + r.bytes.begin, r.values, static_cast<std::size_t>(r.bytes.size()));
    }
  }
  return conflict;
}

std::vector<std::byte> chunk_hashes(std::span<const std::byte> bytes) {
  std::vector<std::byte> message;
  for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(kChunkBytes)) {
    append(message, hash_of(bytes.subspan(at, std::min<std::size_t>(kChunkBytes, bytes.size() - at))));
  }
  return message;
}

std::vector<Conflict> differences(std::span<const std::vector<std::byte>> hashes_by_rank, Index bytes) {
  constexpr std::size_t kHash = sizeof(std::uint64_t);
  const auto& first = hashes_by_rank.front();
  const auto differs = [&](const std::vector<std::byte>& other, std::size_t at) {
    return at + kHash > other.size() || std::memcmp(first.data() + at, other.data() + at, kHash) != 0;
  };
  std::vector<Conflict> found;
  for (std::size_t at = 0; at + kHash <= first.size(); at += kHash) {
    const auto other = std::find_if(hashes_by_rank.begin() + 1, hashes_by_rank.end(),
                                    [&](const auto& hashes) { return differs(hashes, at); });
    if (other == hashes_by_rank.end()) continue;
    const Index chunk = static_cast<Index>(at / kHash) * kChunkBytes;
    found.push_back(
        {0, static_cast<int>(other - hashes_by_rank.begin()), {chunk, std::min(chunk + kChunkBytes, bytes)}});
  }
  return found;
}

namespace {

struct Page {
  std::uint64_t number = 0;
  std::uint64_t hash = 0;
};

std::vector<Page> parse_pages(const std::vector<std::byte>& message, Index bytes) {
  std::vector<Page> pages(message.size() / sizeof(Page));
  if (!pages.empty()) std::memcpy(pages.data(), message.data(), pages.size() * sizeof(Page));
  const auto is_none = [&](const Page& p) {
    return static_cast<Index>(p.number) >= (bytes + kPageBytes - 1) / kPageBytes;
  };
  if (message.size() % sizeof(Page) != 0 || std::any_of(pages.begin(), pages.end(), is_none))
    throw Error(ErrorCode::diverged,
                "ranks closed different host views: make the same calls in the same order");
  return pages;
}

void append_page(std::vector<Interval>& runs, std::uint64_t page, Index bytes) {
  const Index begin = static_cast<Index>(page) * kPageBytes;
  const Index end = std::min(begin + kPageBytes, bytes);
  if (!runs.empty() && runs.back().end == begin) {
    runs.back().end = end;
  } else {
    runs.push_back({begin, end});
  }
}

}  // namespace

std::vector<std::byte> changed_pages(std::span<const std::byte> now, std::span<const std::byte> twin) {
  std::vector<std::byte> message;
  for (std::size_t at = 0; at < now.size(); at += kPageBytes) {
    const std::size_t size = std::min<std::size_t>(kPageBytes, now.size() - at);
    if (std::memcmp(now.data() + at, twin.data() + at, size) == 0) continue;
    append(message, Page{at / kPageBytes, hash_of(now.subspan(at, size))});
  }
  return message;
}

LedChanges led_changes(std::span<const std::vector<std::byte>> pages_by_rank, bool everywhere, Index bytes) {
  LedChanges changes;
  std::map<std::uint64_t, std::vector<std::pair<int, std::uint64_t>>> by_page;
  for (std::size_t rank = 0; rank < pages_by_rank.size(); ++rank) {
    for (const Page& page : parse_pages(pages_by_rank[rank], bytes))
      by_page[page.number].emplace_back(static_cast<int>(rank), page.hash);
  }
  for (const auto& [page, hashes] : by_page) {
    int next = 0;  // the first rank that has not left what rank 0 has
    while (static_cast<std::size_t>(next) < hashes.size() &&
           hashes[static_cast<std::size_t>(next)] == std::pair(next, hashes.front().second))
      ++next;
    const bool alike = static_cast<std::size_t>(next) == pages_by_rank.size();
    append_page(alike ? changes.alike : changes.of_first, page, bytes);
    if (everywhere && !alike && !changes.unequal)
      changes.unequal = Conflict{0, std::max(1, next), changes.of_first.back()};
  }
  return changes;
}

}  // namespace nuna::adsm
