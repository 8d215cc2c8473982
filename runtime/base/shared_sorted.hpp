#pragma once
// SharedSorted: values in order, whose copies share what neither has changed.
//
// A state of many pieces of which a call changes a few is copied with each call. The values lie in chunks: a copy is one pointer a
// chunk, and a change copies the chunk that it is in, if others have it, too. A sum of the values' hashes is kept, so that
// hashing costs the same however many they are; values that are equal have equal sums, whatever their chunks.
//
// T needs a copy, == and AbslHashValue; Before a strict order, in which no two values of one container are equal.
//
// Cost, of n values: copies O(n / 64), look-ups O(log n), a change O(64 + n / 64), == O(n) at most, hashes O(1). Iterators live until the
// next change.
//
// Threads: as a standard container; containers that share chunks may be used by different threads.

#include <absl/container/inlined_vector.h>
#include <absl/hash/hash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace nuna::base {

template <class T, class Before>
class SharedSorted {
  using Chunk = std::vector<T>;
  using Chunks = absl::InlinedVector<std::shared_ptr<Chunk>, 2>;

 public:
  static constexpr std::size_t kMostInChunk = 64;

  class const_iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    const_iterator() = default;
    reference operator*() const { return (*(*chunks_)[chunk_])[at_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++at_ == (*chunks_)[chunk_]->size()) ++chunk_, at_ = 0;
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    const_iterator& operator--() {
      if (at_ == 0) at_ = (*chunks_)[--chunk_]->size();
      --at_;
      return *this;
    }
    const_iterator operator--(int) {
      const const_iterator before = *this;
      --*this;
      return before;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.chunk_ == b.chunk_ && a.at_ == b.at_;
    }

   private:
    friend SharedSorted;
    const_iterator(const Chunks* chunks, std::size_t chunk, std::size_t at)
        : chunks_(chunks), chunk_(chunk), at_(at) {}
    const Chunks* chunks_ = nullptr;
    std::size_t chunk_ = 0;
    std::size_t at_ = 0;
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const { return {&chunks_, 0, 0}; }
  const_iterator end() const { return {&chunks_, chunks_.size(), 0}; }

  /// The first value that is not before `value`.
  const_iterator lower_bound(const T& value) const {
    const Before before;
    const auto chunk =
        std::partition_point(chunks_.begin(), chunks_.end(),
                             [&](const std::shared_ptr<Chunk>& c) { return before(c->back(), value); });
    if (chunk == chunks_.end()) return end();
    const auto at = std::lower_bound((*chunk)->begin(), (*chunk)->end(), value, before);
    return {&chunks_, static_cast<std::size_t>(chunk - chunks_.begin()),
            static_cast<std::size_t>(at - (*chunk)->begin())};
  }

  /// A value that is not in it.
  void insert(const T& value) {
    sum_ += absl::HashOf(value);
    ++size_;
    if (chunks_.empty()) {
      chunks_.push_back(std::make_shared<Chunk>(1, value));
      return;
    }
    const_iterator at = lower_bound(value);
    if (at == end()) at = {&chunks_, chunks_.size() - 1, chunks_.back()->size()};
    Chunk& chunk = own(at.chunk_);
    chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(at.at_), value);
    if (chunk.size() > kMostInChunk) halve(at.chunk_);
  }

  void erase(const_iterator at) {
    sum_ -= absl::HashOf(*at);
    --size_;
    Chunk& chunk = own(at.chunk_);
    chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(at.at_));
    if (chunk.empty()) {
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(at.chunk_));
    } else if (chunk.size() < kMostInChunk / 4) {
      join(at.chunk_);
    }
  }

  /// How many values' memory one more container like this takes, if it shares what it can.
  std::size_t weight() const { return std::min(size_, 2 * kMostInChunk + chunks_.size()); }

  friend bool operator==(const SharedSorted& a, const SharedSorted& b) {
    if (a.size_ != b.size_ || a.sum_ != b.sum_) return false;
    return a.chunks_ == b.chunks_ || std::equal(a.begin(), a.end(), b.begin());
  }
  template <class H>
  friend H AbslHashValue(H h, const SharedSorted& s) {
    return H::combine(std::move(h), s.sum_, s.size_);
  }

 private:
  /// The chunk, to be changed.
  Chunk& own(std::size_t chunk) {
    std::shared_ptr<Chunk>& c = chunks_[chunk];
    if (c.use_count() > 1) c = std::make_shared<Chunk>(*c);
    return *c;
  }

  void halve(std::size_t chunk) {
    Chunk& lower = own(chunk);
    const auto middle = lower.begin() + static_cast<std::ptrdiff_t>(lower.size() / 2);
    auto upper = std::make_shared<Chunk>(middle, lower.end());
    lower.erase(middle, lower.end());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(upper));
  }

  /// With the next one, if that is small as well.
  void join(std::size_t chunk) {
    if (chunk + 1 == chunks_.size()) return;
    const Chunk& next = *chunks_[chunk + 1];
    if (chunks_[chunk]->size() + next.size() > kMostInChunk / 2) return;
    Chunk& lower = own(chunk);
    lower.insert(lower.end(), next.begin(), next.end());
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1);
  }

  Chunks chunks_;  // none is empty
  std::size_t size_ = 0;
  std::uint64_t sum_ = 0;  // of the hashes
};

}  // namespace nuna::base
