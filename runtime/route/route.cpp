#include "route/route.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "base/units.hpp"
#include "route/course.hpp"

namespace nuna::route {
namespace {

Way way_of(const Course& course, const Load& load, const Limits& limits) {
  Way way;
  way.kind = course.kind;
  way.reason = course.obstacle;
  if (!course.obstacle.empty()) return way;
  if (course.needs_one_run && !(load.from_contiguous && load.to_contiguous)) {
    way.reason = "needs the whole message to be one run of bytes";
    return way;
  }
  const Estimate cost = estimate(course, load.bytes, limits);
  way.possible = true;
  way.chunk_bytes = cost.chunk_bytes;
  way.blocks = cost.blocks;
  way.predicted_ps = cost.time_ps;
  way.reason = course.reason;
  if (cost.blocks > 1)
    way.reason += ", " + std::to_string(cost.blocks) + " blocks of " + base::rounded_bytes(cost.chunk_bytes);
  return way;
}

/// What is a way, but not for so few bytes if there is another.
bool is_last_resort(Kind kind, Index bytes, const Limits& limits) {
  return kind == Kind::mapped && bytes < limits.least_mapped_bytes;
}

/// The choices for one pair of memories, looked up once.
class Chooser {
 public:
  Chooser(std::vector<Course> courses, bool contiguous, const Limits& limits)
      : courses_(std::move(courses)), limits_(limits) {
    std::erase_if(courses_, [&](const Course& course) {
      return !course.obstacle.empty() || (course.needs_one_run && !contiguous);
    });
  }

  bool any() const { return !courses_.empty(); }

  Step best(Index bytes) const {
    std::optional<Estimate> least;
    Step step;
    const bool any_other = courses_.size() > 1;
    for (const Course& course : courses_) {
      if (any_other && is_last_resort(course.kind, bytes, limits_)) continue;
      const Estimate cost = estimate(course, bytes, limits_);
      if (least && least->time_ps <= cost.time_ps) continue;
      least = cost;
      step = {bytes, course.kind, cost.chunk_bytes, cost.blocks};
    }
    return step;
  }

 private:
  std::vector<Course> courses_;
  Limits limits_;
};

bool same_choice(const Step& a, const Step& b) {
  return a.kind == b.kind && a.chunk_bytes == b.chunk_bytes && a.blocks == b.blocks;
}

/// Appends the steps in (low, high], where `low` is the one that holds now.
void refine(const Chooser& chooser, const Step& low, const Step& high, std::vector<Step>& steps) {
  if (same_choice(low, high)) return;
  if (high.from_bytes - low.from_bytes <= 1) {
    steps.push_back(high);
    return;
  }
  const Step middle = chooser.best(low.from_bytes + (high.from_bytes - low.from_bytes) / 2);
  refine(chooser, low, middle, steps);
  refine(chooser, middle, high, steps);
}

}  // namespace

void Findings::refuse(const Ends& ends, Kind kind, const std::string& why) {
  base::check(!why.empty(), "a refusal has a reason");
  refused_.try_emplace({ends, kind}, why);
}

void Findings::refuse_all(Kind kind, const std::string& why) {
  base::check(!why.empty(), "a refusal has a reason");
  refused_everywhere_.try_emplace(kind, why);
}

void Findings::measured(const Ends& ends, Kind kind, std::int64_t bytes_per_second) {
  base::check(bytes_per_second > 0, "a measured rate is above 0");
  measured_.insert_or_assign({ends, kind}, bytes_per_second);
}

const std::string* Findings::refused(const Ends& ends, Kind kind) const {
  if (const auto found = refused_.find({ends, kind}); found != refused_.end()) return &found->second;
  const auto found = refused_everywhere_.find(kind);
  return found == refused_everywhere_.end() ? nullptr : &found->second;
}

const std::int64_t* Findings::measured(const Ends& ends, Kind kind) const {
  const auto found = measured_.find({ends, kind});
  return found == measured_.end() ? nullptr : &found->second;
}

std::vector<Way> ways(const topology::Machine& machine, const Findings& findings, const Ends& ends,
                      const Load& load, const Limits& limits) {
  std::vector<Way> all;
  for (const Course& course : courses(machine, findings, ends, limits))
    all.push_back(way_of(course, load, limits));
  const auto order = [&](const Way& way) {
    return std::tuple(!way.possible, way.possible && is_last_resort(way.kind, load.bytes, limits),
                      way.predicted_ps, way.kind);
  };
  std::sort(all.begin(), all.end(), [&](const Way& a, const Way& b) { return order(a) < order(b); });
  return all;
}

Table table_of(const topology::Machine& machine, const Findings& findings, const Ends& ends, bool contiguous,
               const Limits& limits) {
  const Chooser chooser(courses(machine, findings, ends, limits), contiguous, limits);
  if (!chooser.any()) return {};
  constexpr int kMostExponent = 40;
  Step low = chooser.best(0);
  std::vector<Step> steps{low};
  for (int exponent = 0; exponent <= kMostExponent; ++exponent) {
    const Step high = chooser.best(Index{1} << exponent);
    refine(chooser, low, high, steps);
    low = high;
  }
  return Table(std::move(steps));
}

}  // namespace nuna::route
