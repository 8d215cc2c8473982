#pragma once
// Interner: equal values become one shared object, so that comparing them later is comparing pointers.
//
// Not thread-safe. T needs == and AbslHashValue. Values live as long as somebody holds them or the interner does; it
// forgets all of them when their weights add up to more than `capacity`, which only costs misses: whoever compares
// interned values must fall back to == when pointers differ and equality matters.

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace nuna::base {

template <class T>
class Interner {
 public:
  explicit Interner(std::size_t capacity = 8192) : capacity_(capacity) {}

  std::shared_ptr<const T> intern(T value, std::size_t weight = 1) {
    if (const auto found = known_.find(value); found != known_.end()) return *found;
    if (weight_ + weight > capacity_) {
      known_.clear();
      weight_ = 0;
    }
    weight_ += weight;
    auto fresh = std::make_shared<const T>(std::move(value));
    known_.insert(fresh);
    return fresh;
  }
  std::size_t size() const { return known_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const std::shared_ptr<const T>& p) const { return absl::HashOf(*p); }
    std::size_t operator()(const T& v) const { return absl::HashOf(v); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) const {
      return *a == *b;
    }
    bool operator()(const std::shared_ptr<const T>& a, const T& b) const { return *a == b; }
    bool operator()(const T& a, const std::shared_ptr<const T>& b) const { return a == *b; }
  };
  std::size_t capacity_;
  std::size_t weight_ = 0;
  absl::flat_hash_set<std::shared_ptr<const T>, Hash, Equal> known_;
};

}  // namespace nuna::base
