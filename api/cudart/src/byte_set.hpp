#pragma once
// A set of bytes of a buffer, as bits: quick to add to and to ask while kernels run, whatever the order of their accesses.
//
// Pages of 4 KiB of which something is have 512 bytes of bits, others none. Values that move; asked by any number of threads while
// nobody adds.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::cudart {

class ByteSet {
 public:
  /// Bytes are counted from 0; ranges are not empty.
  void add(Interval bytes);
  bool holds(Interval bytes) const {
    const auto begin = static_cast<std::size_t>(bytes.begin);
    const auto size = static_cast<std::size_t>(bytes.size());
    const std::size_t bit = begin % kWordBits;
    if (bit + size > kWordBits) return holds_all(bytes);
    const std::size_t number = begin / kPageBytes;
    const Page* const page = number < pages_.size() ? pages_[number].get() : nullptr;
    if (page == nullptr) return false;
    const std::uint64_t mask = mask_of(bit, size);
    return ((*page)[begin % kPageBytes / kWordBits] & mask) == mask;
  }

  bool empty() const { return pages_.empty(); }
  /// Its first byte that is also in `other`.
  std::optional<Index> first_common(const ByteSet& other) const;
  /// Disjoint, in order, none touching the next.
  std::vector<Interval> ranges() const;
  /// The set as words, for messages: an eighth of the bytes of its pages. And back; what is no such list is cut short.
  std::vector<std::uint64_t> words() const;
  static ByteSet of_words(const std::vector<std::uint64_t>& words);
  friend bool operator==(const ByteSet& a, const ByteSet& b);

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kWordBits = 64;
  using Page = std::array<std::uint64_t, kPageBytes / kWordBits>;

  /// `size` bits from `bit` on: 1 to 64 - bit.
  static constexpr std::uint64_t mask_of(std::size_t bit, std::size_t size) {
    return (~std::uint64_t{0} >> (kWordBits - size)) << bit;
  }
  bool holds_all(Interval bytes) const;

  std::vector<std::unique_ptr<Page>> pages_;  // the last one is there
};

}  // namespace nuna::cudart
