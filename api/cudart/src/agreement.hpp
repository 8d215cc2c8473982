#pragma once
// What several ranks give their one device, as rank 0 has it: it is the program, and the others follow. They run the same code, but what
// depends on time, on addresses, or on bytes that nobody wrote (padding) may differ.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>

#include "nuna/context.hpp"

namespace nuna::cudart {

/// Calls of all ranks, by the lane's leader.
class Agreement {
 public:
  explicit Agreement(Context& context) : context_(context) {}

  /// `bytes` are rank 0's from now on. Whether all had the same.
  bool settle(std::span<std::byte> bytes);
  /// The same, but without a message where the same bytes were settled for `subject` before and all had them: for what comes again and
  /// again. Ranks that part then, because one alone repeats itself, differ in their calls and are told so.
  bool settle_once(std::uint64_t subject, std::span<std::byte> bytes);
  /// Says, once, that host memory differs. Of rank 0 that is heard.
  void tell();

 private:
  Context& context_;
  std::unordered_set<std::uint64_t> equal_;    ///< hashes of subjects with bytes
  std::unordered_set<std::uint64_t> unequal_;  ///< subjects
  bool told_ = false;
};

}  // namespace nuna::cudart
