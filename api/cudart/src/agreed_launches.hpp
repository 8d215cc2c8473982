#pragma once
// The arguments of kernels on several ranks, which are rank 0's (agreement.hpp): a number that was drawn by the time of day must be the same
// for all parts of a launch.
//
// Ranks tell each other the arguments of all launches that wait in the lane, not of one: a program that launches faster than messages
// travel pays for few of them. What was alike once is not told again, but for structures: their padding may change while nothing else does.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "lane.hpp"
#include "nuna/context.hpp"

namespace nuna::cudart {

struct Function;

/// Used by the lane's leader only.
class AgreedLaunches {
 public:
  explicit AgreedLaunches(Context& context) : context_(context) {}

  /// As Ahead's, for all operations, in order. Throws Error (diverged) when ranks do not launch the same.
  void approach(const Action& next, bool runs, const std::function<std::vector<ActionRef>()>& following);
  /// A kernel of the operation that was approached last, in their order: with rank 0's arguments, but this rank's pointers.
  std::shared_ptr<const KernelAction> agreed(const KernelAction& kernel);

 private:
  struct Entry {
    std::uint64_t number = 0;
    const KernelAction* kernel = nullptr;
    std::vector<std::byte> arguments;
  };

  void add(const Action& action, std::uint64_t& number, std::vector<Entry>& entries) const;
  bool is_known(const KernelAction& kernel, const std::vector<std::byte>& arguments) const;
  void agree_on(const std::vector<Entry>& entries);

  Context& context_;
  std::uint64_t next_ =
      0;  ///< number of the first kernel that was not approached yet, of all that the program launches
  std::uint64_t cursor_ = 0;                                 ///< of the next that is asked for
  std::map<std::uint64_t, std::vector<std::byte>> settled_;  ///< by number; empty: alike
  std::unordered_set<std::uint64_t> alike_;                  ///< hashes of functions with arguments
  std::unordered_set<const Function*> unlike_;
};

}  // namespace nuna::cudart
