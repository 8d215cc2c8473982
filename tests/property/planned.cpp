#include "property/planned.hpp"

#include <algorithm>

#include "schedule/partition.hpp"

namespace nuna::property {
namespace {

PlannedCall of_launch(const LaunchSpec& spec, const std::vector<base::Shape>& buffers) {
  PlannedCall call;
  call.shape.domain = spec.domain;
  call.shape.block = spec.block;
  if (spec.device) call.shape.run_on(*spec.device);
  call.text = spec.text;
  for (const UseSpec& use : spec.uses) {
    auto known = std::find(call.distinct.begin(), call.distinct.end(), use.buffer);
    const auto number = static_cast<int>(known - call.distinct.begin());
    if (known == call.distinct.end()) call.distinct.push_back(use.buffer);
    call.shape.uses.push_back({number, buffers[static_cast<std::size_t>(use.buffer)], use.map.map, use.reads,
                               use.writes, use.may, use.device});
  }
  return call;
}

PlannedCall of_fetch(Random& random, const std::vector<base::Shape>& buffers, access::Team team) {
  using Team = plan::LaunchShape::Team;
  PlannedCall call;
  call.kind = PlannedCall::Kind::fetch;
  call.on_host = true;
  call.buffer = random.number(0, static_cast<int>(buffers.size()) - 1);
  const base::Shape& shape = buffers[static_cast<std::size_t>(call.buffer)];
  const Box box = random_box(random, shape.extents);
  call.distinct.push_back(call.buffer);
  call.shape.team = random.one_in(2) ? Team::every_host : Team::one_host;
  if (call.shape.team == Team::one_host) call.shape.root = {random.number(0, team.ranks - 1)};
  call.shape.uses.push_back({0, shape, fixed(box), true, false, false});
  call.text = "fetch " + to_string(box) + " of #" + std::to_string(call.buffer) +
              (call.shape.team == Team::one_host ? " to rank " + std::to_string(call.shape.root.value) : "");
  return call;
}

PlannedCall of_write(Random& random, const std::vector<base::Shape>& buffers, access::Team team) {
  PlannedCall call;
  call.buffer = random.number(0, static_cast<int>(buffers.size()) - 1);
  const base::Shape& shape = buffers[static_cast<std::size_t>(call.buffer)];
  call.ranks = {0, team.ranks};
  if (random.one_in(2)) {
    const Interval some = random.within(team.ranks);
    call.ranks = {static_cast<std::int32_t>(some.begin), static_cast<std::int32_t>(some.end)};
  }
  call.text = "host write of #" + std::to_string(call.buffer) + " by ranks " +
              std::to_string(call.ranks.begin) + " to " + std::to_string(call.ranks.end - 1);
  if (random.one_in(2)) {
    call.kind = PlannedCall::Kind::write_box;
    call.box = shape.of(random_box(random, shape.extents));
    call.text += ": " + base::to_string(call.box);
  } else {
    call.kind = PlannedCall::Kind::write_range;
    call.range = random.within(shape.bytes());
    call.text += ": bytes [" + std::to_string(call.range.begin) + ", " + std::to_string(call.range.end) + ")";
  }
  return call;
}

bool same_touches(const std::vector<plan::Touch>& a, const std::vector<plan::Touch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const plan::Touch& x, const plan::Touch& y) {
    return x.part == y.part && x.boxes == y.boxes;
  });
}

}  // namespace

PlannedCall random_call(Random& random, const std::vector<base::Shape>& buffers, access::Team team,
                        const Taste& taste) {
  const int kind = random.number(0, 9);
  if (kind == 0) return of_fetch(random, buffers, team);
  if (kind <= 2) return of_write(random, buffers, team);
  for (;;) {
    const LaunchSpec spec = random_launch(random, buffers, team, taste);
    if (!refusal(spec, buffers, team)) return of_launch(spec, buffers);
  }
}

PlanningRank::PlanningRank(access::Team team, int rank, const std::vector<base::Shape>& buffers, bool fast,
                           Index in_place_bytes)
    : planner_({team, schedule::cut, {rank}, fast, plan::Planner::kCacheBoxes, in_place_bytes}) {
  for (const base::Shape& shape : buffers) states_.push_back(planner_.fresh(shape));
}

const plan::Planned* PlanningRank::perform(const PlannedCall& call) {
  coherence::DirectoryRef& written = states_[static_cast<std::size_t>(call.buffer)];
  if (call.kind == PlannedCall::Kind::write_box) {
    written = planner_.intern(written->after_host_write(call.box, call.ranks, planner_.flattened()));
    return nullptr;
  }
  if (call.kind == PlannedCall::Kind::write_range) {
    written = planner_.intern(written->after_host_write(call.range, call.ranks));
    return nullptr;
  }
  plan::States before;
  for (const int b : call.distinct) before.push_back(states_[static_cast<std::size_t>(b)]);
  const plan::Planned& planned = planner_.plan(call.shape, before, "launch 'random'");
  for (std::size_t n = 0; n < call.distinct.size(); ++n) {
    states_[static_cast<std::size_t>(call.distinct[n])] = planned.next[n];
  }
  return &planned;
}

bool same_plan(const plan::RankPlan& a, const plan::RankPlan& b) {
  return a.receives == b.receives && a.sends == b.sends &&
         std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(),
                    [](const plan::PartRun& x, const plan::PartRun& y) {
                      return x.part == y.part && x.slot == y.slot && x.threads == y.threads;
                    }) &&
         std::equal(a.effects.begin(), a.effects.end(), b.effects.begin(), b.effects.end(),
                    [](const plan::ArgumentEffect& x, const plan::ArgumentEffect& y) {
                      return same_touches(x.reads, y.reads) && same_touches(x.writes, y.writes) &&
                             x.overwritten == y.overwritten && x.undefined_read == y.undefined_read;
                    });
}

}  // namespace nuna::property
