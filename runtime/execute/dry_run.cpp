#include "execute/dry_run.hpp"

#include "plan/plan_print.hpp"

namespace nuna::execute {

void DryRun::prepare(const plan::PlacePlan& plan, const Call& call) {
  const auto make_usable = [&](const plan::PlacedBox& placed) {
    if (placed.place == base::kHostPlace) {
      call.buffers[static_cast<std::size_t>(placed.argument)]->ensure(placed.place, placed.box);
    }
  };
  for (const plan::Instruction& step : plan.instructions) {
    for (const plan::PlacedBox& placed : step.reads) make_usable(placed);
    for (const plan::PlacedBox& placed : step.writes) make_usable(placed);
  }
}

Completion DryRun::submit(const plan::PlacePlan& plan, const Call& call) {
  if (plan.instructions.empty()) return {};
  std::string lines = "rank " + std::to_string(rank_.value) + ": " + std::string(call.name) + "\n";
  if (call.rank_plan != nullptr) lines += plan::to_text(*call.rank_plan, rank_);
  print_(lines + plan::to_text(plan, rank_));
  return {};
}

}  // namespace nuna::execute
