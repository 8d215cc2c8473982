#pragma once
// What a rank called lately, and where two ranks' calls part (D2). Pure.
//
// Every call has a number and a running hash of all calls up to it, so the first difference of two ranks is the first
// number at which both remember a call and the hashes differ.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace nuna::cluster {

struct Called {
  std::uint64_t sequence = 0;
  std::uint64_t hash = 0;
  std::string call;  ///< "launch 'heat' at heat.cpp:31"
};

class History {
 public:
  static constexpr std::size_t kMost = 256;  ///< calls that are remembered

  /// Calls come with growing numbers; an unchanged one is none.
  void note(Called call);
  /// The call of that number, or null.
  const Called* find(std::uint64_t sequence) const;
  const Called* last() const { return calls_.empty() ? nullptr : &calls_.back(); }
  const std::deque<Called>& calls() const { return calls_; }

 private:
  std::deque<Called> calls_;
};

struct Difference {
  Called mine;
  Called theirs;
};

/// The first remembered call at which the two differ; nothing while they agree as far as both have come.
std::optional<Difference> first_difference(const History& mine, const History& theirs);

/// "rank 0 made launch 'a' at x.cpp:1 (call 7) where rank 1 made launch 'b' at x.cpp:2: let every rank make the same calls in
/// the same order".
std::string to_string(const Difference& difference, int my_rank, int their_rank);

}  // namespace nuna::cluster
