#pragma once
// Random sequences of launches, host fetches and host writes for planners without devices: each rank has a planner of its
// own, and all of them are asked for the same.

#include <memory>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "property/generate.hpp"

namespace nuna::property {

/// One call, as values.
struct PlannedCall {
  enum class Kind { launch, fetch, write_box, write_range } kind = Kind::launch;
  plan::LaunchShape shape;    ///< launch, fetch; with buffer numbers of its own
  std::vector<int> distinct;  ///< launch, fetch: buffer of each number
  bool on_host = false;
  int buffer = 0;  ///< writes
  base::ByteBox box;
  Interval range;
  coherence::RankRange ranks;
  std::string text;
};

/// A legal call.
PlannedCall random_call(Random& random, const std::vector<base::Shape>& buffers, access::Team team,
                        const Taste& taste = {});

/// One rank's planner and its directories.
class PlanningRank {
 public:
  PlanningRank(access::Team team, int rank, const std::vector<base::Shape>& buffers, bool fast,
               Index in_place_bytes = plan::kInPlaceBytes);

  /// Plans and moves on to the successors. For host writes the plan is null.
  const plan::Planned* perform(const PlannedCall& call);
  const coherence::DirectoryState& directory(int buffer) const {
    return *states_[static_cast<std::size_t>(buffer)];
  }
  std::int64_t flattened() { return planner_.flattened(); }

 private:
  plan::Planner planner_;
  std::vector<coherence::DirectoryRef> states_;
};

/// Everything that is compared of a plan.
bool same_plan(const plan::RankPlan& a, const plan::RankPlan& b);

}  // namespace nuna::property
