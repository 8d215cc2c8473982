#pragma once
// Launches that are shared out by recorded sets (recorded_sets.hpp), checked while they run, and undone where they deviate.
//
// The code has the program's addresses; a PartGuard looks each access up before it happens, and leads it to the bytes that the part works
// on. When a block touches anything else its part stops; no part has by then written a byte that another has a copy of, and no other launch has
// begun: the launch has not been.
//
// Where parts write few rows, Nuna is told that each part may write what it wrote (D8: a byte that is not written this time comes back as it was),
// and the bytes stay on their devices. What a part may write is copied aside before it begins, and put back by a launch of the same parts if
// it deviates.
// Where they write many rows that lie apart, whose account would cost Nuna more than the kernel, they work on copies of their own, and what is
// written goes to the host's views, with several ranks the first one's, if the launch does not deviate.
//
// Ranks run the parts of their devices, and tell each other of deviations before anybody uses what was written.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory.hpp"
#include "recorded_sets.hpp"
#include "spread.hpp"

namespace nuna::cudart {

class KernelAction;

/// Of one signature. Used by the lane's leader only.
class CheckedLaunch {
 public:
  /// Rows that parts write, of all parts, of which Nuna keeps account.
  static constexpr std::size_t kFewRows = 512;

  explicit CheckedLaunch(std::shared_ptr<const RecordedSets> sets);
  CheckedLaunch(const CheckedLaunch&) = delete;
  CheckedLaunch& operator=(const CheckedLaunch&) = delete;

  /// Returns when the launch is over, nothing; or what it touched, if it was something else: then memory is as before. The kernel's own
  /// errors are noted as Spread notes them. Throws Error where Nuna refuses it, before anything has run.
  std::optional<std::string> run(const KernelAction& action, Spread& spread, Memory& memory) const;

 private:
  struct Argument {
    std::size_t chunk = 0;
    bool writes = false;
    AccessMap map;
  };

  std::shared_ptr<const struct CheckedRows> rows_;
  std::vector<Argument> arguments_;
};

}  // namespace nuna::cudart
