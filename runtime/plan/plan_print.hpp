#pragma once
// Plans as text for people: what a dry run prints.

#include <string>
#include <string_view>

#include "plan/instruction.hpp"

namespace nuna::plan {

/// Between ranks, one line a message and part:
///   rank 1: receive 3.1 MiB of argument 0 from rank 0: [156, 160) x [0, 320) ...
///   rank 1: run part 1 on device 0: threads [160, 320) x [0, 320) ...
std::string to_text(const RankPlan& plan, base::RankId rank);
/// Between the places of one rank, one line an instruction.
std::string to_text(const PlacePlan& plan, base::RankId rank);

}  // namespace nuna::plan
