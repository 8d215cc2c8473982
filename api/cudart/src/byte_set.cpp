#include "byte_set.hpp"

#include <algorithm>
#include <bit>

namespace nuna::cudart {

void ByteSet::add(Interval bytes) {
  const auto end = static_cast<std::size_t>(bytes.end);
  pages_.resize(std::max(pages_.size(), (end - 1) / kPageBytes + 1));
  for (auto at = static_cast<std::size_t>(bytes.begin); at < end;) {
    const std::size_t size = std::min(kWordBits - at % kWordBits, end - at);
    std::unique_ptr<Page>& page = pages_[at / kPageBytes];
    if (page == nullptr) page = std::make_unique<Page>();
    (*page)[at % kPageBytes / kWordBits] |= mask_of(at % kWordBits, size);
    at += size;
  }
}

bool ByteSet::holds_all(Interval bytes) const {
  while (!bytes.empty()) {
    const Index word_end = (bytes.begin / Index{kWordBits} + 1) * Index{kWordBits};
    const Interval here = bytes.intersect({bytes.begin, word_end});
    if (!holds(here)) return false;
    bytes.begin = here.end;
  }
  return true;
}

std::optional<Index> ByteSet::first_common(const ByteSet& other) const {
  for (std::size_t p = 0; p < std::min(pages_.size(), other.pages_.size()); ++p) {
    if (pages_[p] == nullptr || other.pages_[p] == nullptr) continue;
    for (std::size_t w = 0; w < pages_[p]->size(); ++w) {
      const std::uint64_t both = (*pages_[p])[w] & (*other.pages_[p])[w];
      if (both != 0)
        return static_cast<Index>(p * kPageBytes + w * kWordBits +
                                  static_cast<std::size_t>(std::countr_zero(both)));
    }
  }
  return std::nullopt;
}

std::vector<Interval> ByteSet::ranges() const {
  std::vector<Interval> found;
  const auto add = [&found](std::size_t begin, std::size_t end) {
    const Interval run{static_cast<Index>(begin), static_cast<Index>(end)};
    if (!found.empty() && found.back().end == run.begin) {
      found.back().end = run.end;
    } else {
      found.push_back(run);
    }
  };
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    if (pages_[p] == nullptr) continue;
    for (std::size_t w = 0; w < pages_[p]->size(); ++w) {
      const std::uint64_t word = (*pages_[p])[w];
      const std::size_t first = p * kPageBytes + w * kWordBits;
      for (std::size_t bit = 0; bit < kWordBits;) {
        bit += static_cast<std::size_t>(std::countr_zero(word >> bit));
        if (bit >= kWordBits) break;
        const auto size = static_cast<std::size_t>(std::countr_one(word >> bit));
        add(first + bit, first + bit + size);
        bit += size;
      }
    }
  }
  return found;
}

/// Page by page: its number, then its bits.
std::vector<std::uint64_t> ByteSet::words() const {
  std::vector<std::uint64_t> words;
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    if (pages_[p] == nullptr) continue;
    words.push_back(p);
    words.insert(words.end(), pages_[p]->begin(), pages_[p]->end());
  }
  return words;
}

ByteSet ByteSet::of_words(const std::vector<std::uint64_t>& words) {
  ByteSet set;
  constexpr std::size_t kEach = 1 + std::tuple_size_v<Page>;
  for (auto at = words.begin(); words.end() - at >= static_cast<std::ptrdiff_t>(kEach); at += kEach) {
    set.pages_.resize(std::max<std::size_t>(set.pages_.size(), *at + 1));
    set.pages_[*at] = std::make_unique<Page>();
    std::copy(at + 1, at + kEach, set.pages_[*at]->begin());
  }
  return set;
}

bool operator==(const ByteSet& a, const ByteSet& b) {
  return std::equal(a.pages_.begin(), a.pages_.end(), b.pages_.begin(), b.pages_.end(),
                    [](const auto& one, const auto& other) {
                      if (one == nullptr || other == nullptr) return one == other;
                      return *one == *other;
                    });
}

}  // namespace nuna::cudart
