// The planner's own time: one launch planned for one rank, from the buffers' states to the rank's runs, sends, receives
// and the states after. Every plan that is timed is a miss of the plan cache; the ranks are inner ones, with all their
// neighbours.
//
// "first": the planner has not seen this launch. It cuts the domain, tabulates the access maps (O(sum of parts per axis)),
// makes sure that no two parts write the same bytes, and plans.
// "again": the launch is known, but not from these states. What was tabulated serves again; the rest is the neighbours'.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "perf/measure.hpp"
#include "plan/planner.hpp"
#include "schedule/partition.hpp"

namespace {

using nuna::Domain;
using nuna::Extents;
using nuna::Index;
using nuna::base::Shape;
using nuna::plan::LaunchShape;
using nuna::plan::Planner;
using nuna::plan::States;

// A launch that reads one of two buffers with a halo and writes the other.
struct Stencil {
  nuna::access::Team team;
  nuna::base::RankId rank;
  Shape shape;
  Domain domain = {1};
  Extents block;
  Index radius = 1;

  LaunchShape step(int from) const {
    return {domain,
            block,
            LaunchShape::Team::devices,
            {},
            0,
            {{from, shape, nuna::halo(radius), true, false, false},
             {1 - from, shape, nuna::one_to_one(), false, true, false}}};
  }
  LaunchShape fill() const {
    return {domain, block, LaunchShape::Team::devices,
            {},     0,     {{0, shape, nuna::one_to_one(), false, true, false}}};
  }
};

// A 5-point stencil, one rank per part.
Stencil five_points(int parts0, int parts1) {
  const Extents extents{16384, 16384};
  return {{parts0 * parts1, 1},
          {parts0 / 2 * parts1 + parts1 / 2},
          {extents, 4},
          Domain(extents).parts(parts0, parts1),
          {1, 16},
          1};
}

Stencil wave_320() {
  const Extents extents{320, 320, 320};
  return {{4, 1}, {0}, {extents, 4}, Domain(extents).parts(2, 2), {1, 16, 320}, 4};
}

// A planner whose cache holds one plan, and the buffers' states after both were filled. Steps go back and forth, so that
// no plan is left in the cache when it is due again.
class Planning {
 public:
  explicit Planning(const Stencil& stencil)
      : launches_{stencil.step(0), stencil.step(1)},
        planner_({stencil.team, nuna::schedule::cut, stencil.rank, true, 1}) {
    const States filled =
        planner_.plan(stencil.fill(), {planner_.fresh(stencil.shape)}, "launch 'fill'").next;
    states_ = {filled[0], filled[0]};
  }
  void step() {
    const nuna::plan::Planned& planned = planner_.plan(launches_[from_], states_, "launch 'step'");
    nuna::perf::keep(planned.plan.get());
    states_ = planned.next;
    from_ = 1 - from_;
  }
  bool never_hit() const { return planner_.counts().hits == 0; }

 private:
  LaunchShape launches_[2];
  std::size_t from_ = 0;
  Planner planner_;
  States states_;
};

// Microseconds of a plan.
class First {
 public:
  explicit First(const Stencil& stencil) : stencil_(stencil) {}
  double operator()() const {
    constexpr int kPlanners = 200;
    std::vector<std::unique_ptr<Planning>> planners;
    for (int i = 0; i < kPlanners; ++i) planners.push_back(std::make_unique<Planning>(stencil_));
    return 1e6 / kPlanners * nuna::perf::seconds_of([&] {
             for (const auto& p : planners) p->step();
           });
  }

 private:
  Stencil stencil_;
};

class Again {
 public:
  explicit Again(const Stencil& stencil) : planning_(std::make_shared<Planning>(stencil)) {
    for (int i = 0; i < 4; ++i) planning_->step();
  }
  double operator()() const {
    constexpr int kPlans = 1000;
    const double us = 1e6 / kPlans * nuna::perf::seconds_of([&] {
                        for (int i = 0; i < kPlans; ++i) planning_->step();
                      });
    if (planning_->never_hit()) return us;
    std::fprintf(stderr, "perf_planning: a plan came from the cache\n");
    std::exit(EXIT_FAILURE);
  }

 private:
  std::shared_ptr<Planning> planning_;
};

template <class Sample>
void compare_parts(const nuna::perf::Report& report, const char* name, const Stencil& many,
                   const Stencil& few) {
  const Sample ours(many);
  const Sample twice(few);
  report.row({name, "us", nuna::perf::Better::less, 1.0}, ours, [&] { return 2 * twice(); });
}

}  // namespace

int main(int argc, char** argv) {
  const nuna::perf::Report report(argc, argv);
  const Stencil few = five_points(8, 8);
  const Stencil many = five_points(128, 64);
  compare_parts<First>(report, "plan 5 points, first, 8,192 parts / 2 x 64", many, few);
  compare_parts<Again>(report, "plan 5 points, again, 8,192 parts / 2 x 64", many, few);
  compare_parts<Again>(report, "plan 5 points, again, 8,192 rows / 2 x 64", five_points(8192, 1),
                       five_points(64, 1));
  constexpr double kMostUs = 100;
  report.row({"plan 320^3, halo 4, 2 x 2, first / 100 us", "us", nuna::perf::Better::less, 1.0},
             First(wave_320()), [] { return kMostUs; });
  return 0;
}
