#pragma once
// LaunchKey: what a launch asks for, as a few words, so that planning it again costs one look-up.
//
// Two launches have equal words exactly when they ask for the same: only the values of arguments count, never which
// launch or buffer it is. Buffers count by their number in the launch, user functions by their identity, which means
// something in this process only. The buffers' shapes and states are not included: whoever needs them appends them.
//
// The words live until the next assign(). Reusing one LaunchKey makes no allocation after the first few launches.

#include <absl/types/span.h>

#include <cstdint>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::plan {

struct LaunchShape;

class LaunchKey {
 public:
  using Words = absl::Span<const std::uint64_t>;

  /// The words of `launch`, with room for `more`.
  void assign(const LaunchShape& launch, std::size_t more);
  void append(Index word) { words_[size_++] = static_cast<std::uint64_t>(word); }
  void append(const void* pointer) { words_[size_++] = reinterpret_cast<std::uint64_t>(pointer); }

  Words words() const { return {words_.data(), size_}; }

 private:
  std::vector<std::uint64_t> words_;  // more than are used
  std::size_t size_ = 0;
};

/// A key that is kept, in hash maps that are searched with Words.
using KeptKey = std::vector<std::uint64_t>;
struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(LaunchKey::Words words) const;
};
struct KeyEqual {
  using is_transparent = void;
  bool operator()(LaunchKey::Words a, LaunchKey::Words b) const { return a == b; }
};

}  // namespace nuna::plan
