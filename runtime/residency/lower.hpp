#pragma once
// Lower: from what a rank does (RankPlan) to steps on its places. Pure; private to the rank.
//
// An argument's instance is that of the device that runs the part, or of the device that the argument names, where
// the former reaches the latter's memory. Receives land in the place of a part that reads them; what a part's place lacks is copied from a place that has it;
// sends are taken from any place that holds the bytes. Sends that wait for nothing come first, then the threads that need
// nothing of what arrives (residency/overlap.hpp), then what arrives, then the other threads; so a rank computes
// while its halos travel; the two are cut between blocks. In the end the other copies of what was written are stale. Cached by plan and residency states.

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include <memory>
#include <vector>

#include "base/intern.hpp"
#include "plan/instruction.hpp"
#include "plan/planner.hpp"
#include "residency/residency.hpp"

namespace nuna::residency {

using States = absl::InlinedVector<ResidencyRef, 6>;        ///< one per distinct buffer number
using StateKeys = absl::Span<const ResidencyState* const>;  ///< the same, for looking up

struct Lowered {
  plan::PlacePlanRef plan;
  States next;
};

/// What lowering must know of a call beside its plan.
struct Manner {
  bool on_host = false;      ///< its parts live at the host place (host views), not on devices
  bool whole_parts = false;  ///< its kernel takes a part as a whole: nothing of it runs ahead
};

class Lowering {
 public:
  static constexpr std::size_t kCacheBoxes = std::size_t{1} << 18;
  /// So many threads cost more than starting a second kernel does.
  static constexpr Index kFewestAhead = Index{1} << 14;
  struct Config {
    std::vector<base::PlaceId> place_of_slot;  ///< of each device of the rank
    Index fewest_ahead = kFewestAhead;  ///< least threads of a part that run ahead of what arrives; 0: never
    bool poison = false;                ///< fill copies that became stale, so that reading them is seen
    std::size_t cache_boxes = kCacheBoxes;       ///< the caches hold about this many boxes, of 100 bytes
    base::RankId rank = {};                      ///< devices that arguments name are numbered rank by rank
    std::vector<PlaceSet> reached_by_slot = {};  ///< places whose memory kernels use; empty: each its own
  };
  explicit Lowering(Config config) : config_(std::move(config)) {}

  /// Steps of `planned` on this rank's places.
  const Lowered& lower(const plan::Planned& planned, const plan::Uses& uses, const States& states,
                       Manner manner);
  /// The same from the cache, or null.
  const Lowered* find(const plan::Planned& planned, StateKeys states, Manner manner);

  ResidencyRef intern(ResidencyState state) {
    const std::size_t weight = 1 + state.holdings().weight();
    return states_.intern(std::move(state), weight);
  }

 private:
  using Key = absl::InlinedVector<std::uint64_t, 12>;
  struct Entry {
    Lowered lowered;
    States before;
    plan::RankPlanRef plan;
  };
  Entry compute(const plan::RankPlan& plan, const plan::Uses& uses, const States& states, Manner manner);

  Config config_;
  base::Interner<ResidencyState> states_{kCacheBoxes};
  absl::flat_hash_map<Key, std::unique_ptr<Entry>> cache_;
  std::size_t cached_boxes_ = 0;
  Key scratch_;
};

}  // namespace nuna::residency
