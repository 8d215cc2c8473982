#include "access/region.hpp"

#include <algorithm>

#include "access/region_rules.hpp"

namespace nuna::access {
namespace {

constexpr Wide kOneByOne = 4;
constexpr int kMaxDepth = 250;  // each takes a kilobyte or two of the stack

class Enumerator {
 public:
  Enumerator(int* steps, const std::function<void(const Lattice&)>& take) : steps_(*steps), take_(take) {}

  Outcome outcome() const { return outcome_; }

  void visit(Region region) {
    if (outcome_ != Outcome::done) return;
    if (--steps_ < 0 || depth_ == kMaxDepth) return fail(Outcome::too_many);
    if (!simplify(region)) return;
    if (region.conditions.empty()) return hand_over(region);
    ++depth_;
    split(region);
    --depth_;
  }

 private:
  void fail(Outcome outcome) { outcome_ = outcome; }

  void hand_over(const Region& region) {
    Lattice lattice;
    Wide first = region.value.constant;
    for (int v = 0; v < region.variables; ++v) {
      const Index factor = region.value[v];
      if (factor == 0) continue;
      const Bounds& bounds = region.bounds[static_cast<std::size_t>(v)];
      if (!bounds.finite()) return fail(Outcome::unbounded);
      first += factor * (factor > 0 ? bounds.least : bounds.most);
      lattice.steps.push_back({factor > 0 ? factor : -factor, narrow(bounds.size())});
    }
    lattice.first = narrow(first);
    ++found_;
    take_(lattice);
  }

  /// The values of v for which its conditions hold whatever the others are.
  static Bounds sure_values(const Region& region, int v) {
    Bounds sure = region.bounds[static_cast<std::size_t>(v)];
    for (const Condition& condition : region.conditions) {
      const Index factor = condition.left[v];
      if (factor == 0) continue;
      const std::optional<Wide> rest = least(condition.left, region, v);
      if (condition.is_equality || !rest) return {0, -1};
      if (factor > 0) {
        sure.least = std::max(sure.least, ceil_div(-*rest, factor));
      } else {
        sure.most = std::min(sure.most, floor_div(*rest, -Wide{factor}));
      }
    }
    return sure;
  }

  struct Choice {
    int variable = kNoVariable;
    Bounds sure;
    Wide unsure = 0;  ///< how many values are not
  };

  /// The variable with few values that must be looked at one by one; of such, the one that moves the function most.
  static Choice choose(const Region& region) {
    std::vector<Choice> choices;
    for (int v = 0; v < region.variables; ++v) {
      const bool is_free = std::none_of(region.conditions.begin(), region.conditions.end(),
                                        [v](const Condition& condition) { return condition.left[v] != 0; });
      const Bounds& all = region.bounds[static_cast<std::size_t>(v)];
      if (is_free || !all.finite()) continue;
      const Bounds sure = sure_values(region, v);
      choices.push_back({v, sure, all.size() - (sure.empty() ? 0 : sure.size())});
    }
    if (choices.empty()) return {};
    const auto fewer = [](const Choice& a, const Choice& b) { return a.unsure < b.unsure; };
    const Wide enough = std::min_element(choices.begin(), choices.end(), fewer)->unsure * 4 + 8;
    const auto moves_less = [&](const Choice& a, const Choice& b) {
      const auto weight = [&](const Choice& c) {
        const Wide factor = region.value[c.variable];
        return c.unsure > enough ? Wide{-1} : factor < 0 ? -factor : factor;
      };
      return weight(a) < weight(b);
    };
    return *std::max_element(choices.begin(), choices.end(), moves_less);
  }

  static bool decides_value(const Region& region) {
    for (int v = 0; v < region.variables; ++v) {
      if (region.value[v] == 0) continue;
      for (const Condition& condition : region.conditions) {
        if (condition.left[v] != 0) return true;
      }
    }
    return false;
  }

  void split(const Region& region) {
    const Choice choice = choose(region);
    if (choice.variable == kNoVariable) return fail(Outcome::unbounded);
    const Bounds all = region.bounds[static_cast<std::size_t>(choice.variable)];
    std::vector<Bounds> parts;
    if (!choice.sure.empty() && choice.sure.size() * 4 >= all.size()) {
      parts = {choice.sure, {all.least, choice.sure.least - 1}, {choice.sure.most + 1, all.most}};
    } else if (all.size() <= kOneByOne) {
      for (Wide value = all.least; value <= all.most; ++value) parts.push_back({value, value});
    } else {
      const Wide middle = floor_div(all.least + all.most, 2);
      parts = {{all.least, middle}, {middle + 1, all.most}};
    }
    const bool one_is_enough = !decides_value(region);
    const int before = found_;
    for (const Bounds& part : parts) {
      if (part.empty()) continue;
      Region smaller = region;
      smaller.bounds[static_cast<std::size_t>(choice.variable)] = part;
      visit(std::move(smaller));
      if (one_is_enough && found_ > before) return;
    }
  }

  int& steps_;
  int depth_ = 0;
  int found_ = 0;
  Outcome outcome_ = Outcome::done;
  const std::function<void(const Lattice&)>& take_;
};

}  // namespace

Outcome enumerate(const Region& region, int* steps, const std::function<void(const Lattice&)>& take) {
  Enumerator enumerator(steps, take);
  try {
    enumerator.visit(region);
  } catch (const TooLarge&) {
    return Outcome::too_large;
  }
  return enumerator.outcome();
}

std::optional<bool> has_point(Region region, int* steps) {
  region.value = {};
  bool found = false;
  const Outcome outcome = enumerate(region, steps, [&found](const Lattice&) { found = true; });
  if (found) return true;
  return outcome == Outcome::done ? std::optional(false) : std::nullopt;
}

std::optional<Interval> hull(const Region& region) {
  try {
    Region simple = region;
    if (!simplify(simple)) return Interval{};
    const std::optional<Wide> first = least(simple.value, simple);
    const std::optional<Wide> last = most(simple.value, simple);
    if (!first || !last) return std::nullopt;
    return Interval{narrow(*first), narrow(*last + 1)};
  } catch (const TooLarge&) {
    return std::nullopt;
  }
}

}  // namespace nuna::access
