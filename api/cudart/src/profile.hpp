#pragma once
// Profile mode (NUNA_PROFILE): launches over several devices of kernels whose models do not allow it, by what earlier launches touched.
//
// A launch that the model refuses, for reasons that recorded sets answer (writes through indices from memory, pointers in memory, guards and
// wraps that are not known), runs whole on the host and is recorded, byte by byte and part by part, if nunacc --audit has compiled the
// kernel. Once launches of a signature touch the same, and no part writes a byte that another touches, the following ones are shared out
// (checked_launch.hpp). Each of their accesses is checked before it happens; if one is not in its part's sets the launch is undone, runs
// whole, and is recorded anew (recorded_sets.hpp). Lines on stderr say what becomes of each kernel.
//
// Of several ranks the first one records, and tells the others; so all decide alike. A launch that one rank undoes all undo.
//
// Atomics, output, calls without a body or by pointer, volatile accesses, grids that wait, memory that is not the device's and
// writes of variables stay refused.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "checked_launch.hpp"
#include "crew.hpp"
#include "memory.hpp"
#include "recorded_sets.hpp"
#include "spread.hpp"

namespace nuna::cudart {

class KernelAction;
struct Function;

/// Used by the lane's leader only.
class Profile {
 public:
  /// Null where NUNA_PROFILE is off, or there is nothing that it can do, which is said. `spread`: null with one device.
  static std::unique_ptr<Profile> if_on(Spread* spread, Memory& memory);

  Profile(Spread& spread, Memory& memory) : spread_(spread), memory_(memory) {}

  /// Runs the kernel, to be recorded or shared out, and returns true when that is done; or leaves it to Spread.
  bool launch(const KernelAction& action, Crew& crew);
  /// Says what has become of kernels.
  void report() const;

 private:
  struct Signature {
    const Function* function = nullptr;
    std::array<std::uint64_t, 7> sizes{};  ///< of grid and blocks, dynamic shared bytes
    std::vector<std::int64_t> numbers;     ///< scalars that addresses depend on, and pointers
    friend bool operator<(const Signature& a, const Signature& b) {
      return std::tie(a.function, a.sizes, a.numbers) < std::tie(b.function, b.sizes, b.numbers);
    }
  };
  struct Launches {
    LaunchHistory history;
    std::unique_ptr<CheckedLaunch> shared;
  };

  std::optional<std::string> why_not(const KernelAction& action) const;
  Signature signature_of(const KernelAction& action) const;
  Launches& launches_of(const KernelAction& action);
  bool share(const KernelAction& action, Launches& launches);
  void record(const KernelAction& action, Crew& crew, Launches& launches);
  std::optional<std::string> take_from_first(RecordedSets& sets);
  void tell(const Function& function, const std::string& what);

  Spread& spread_;
  Memory& memory_;
  std::map<Signature, Launches> launches_;
  std::set<std::pair<const Function*, std::string>> told_;
  bool told_how_ = false;
  std::set<const Function*> recorded_;
  std::set<const Function*> shared_;
  std::uint64_t shared_launches_ = 0;
  std::uint64_t deviations_ = 0;
};

}  // namespace nuna::cudart
