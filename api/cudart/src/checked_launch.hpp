#pragma once
// Launches that are shared out by recorded sets (recorded_sets.hpp), checked while they run, and undone where they deviate.
//
// Nuna is told that each part reads what it read, and may write what it wrote (D8: a byte that is not written this time comes back as it
// was). The code has the program's addresses; a PartGuard looks each access up before it happens and leads it to the device's copy. Before a
// part begins, what it may write is copied aside. When a block touches anything else its part stops; no part has by then written a byte that
// was not copied, and no other launch has begun. So the copies are put back, and the launch has not been.

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

  std::shared_ptr<const RecordedSets> sets_;
  std::vector<Argument> arguments_;
};

}  // namespace nuna::cudart
