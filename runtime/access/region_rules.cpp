#include "access/region_rules.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace nuna::access {

std::optional<Wide> least(const Affine& f, const Region& region, int without) {
  Wide sum = f.constant;
  for (int v = 0; v < region.variables; ++v) {
    if (f[v] == 0 || v == without) continue;
    const Bounds& bounds = region.bounds[static_cast<std::size_t>(v)];
    const Wide end = f[v] > 0 ? bounds.least : bounds.most;
    if (end == -Bounds::kInfinite || end == Bounds::kInfinite) return std::nullopt;
    sum += f[v] * end;
  }
  return sum;
}

std::optional<Wide> most(const Affine& f, const Region& region, int without) {
  Wide sum = f.constant;
  for (int v = 0; v < region.variables; ++v) {
    if (f[v] == 0 || v == without) continue;
    const Bounds& bounds = region.bounds[static_cast<std::size_t>(v)];
    const Wide end = f[v] > 0 ? bounds.most : bounds.least;
    if (end == -Bounds::kInfinite || end == Bounds::kInfinite) return std::nullopt;
    sum += f[v] * end;
  }
  return sum;
}

namespace {

constexpr std::size_t kMaxConditions = 64;
constexpr int kMaxRounds = 200;
constexpr int kMaxTightenings = 6;  // they may go on by one at a time

class Rules {
 public:
  explicit Rules(Region& region) : region_(region), n_(region.variables) {}

  bool apply() {
    int tightenings = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      if (!tidy()) return false;
      fix_single_values();
      if (solve_equality() || merge_variables()) continue;
      const std::optional<bool> tightened = tightenings < kMaxTightenings ? tighten() : false;
      if (!tightened) return false;
      if (*tightened) {
        ++tightenings;
        continue;
      }
      if (eliminate_variable() || name_band()) continue;
      break;
    }
    return tidy();
  }

 private:
  Bounds& bounds(int v) { return region_.bounds[static_cast<std::size_t>(v)]; }

  int variables_in(const Affine& f, int* last) const {
    int count = 0;
    for (int v = 0; v < n_; ++v) {
      if (f[v] != 0) ++count, *last = v;
    }
    return count;
  }

  /// Drops conditions that always hold, makes those of one variable its bounds. False: one never holds.
  bool tidy() {
    std::size_t kept = 0;
    auto& all = region_.conditions;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool keep = true;
      if (!tidy(all[i], &keep)) return false;
      if (keep && kept != i) all[kept] = all[i];
      if (keep) ++kept;
    }
    all.resize(kept);
    for (int v = 0; v < n_; ++v) {
      if (bounds(v).empty()) return false;
    }
    return true;
  }

  bool tidy(Condition& condition, bool* keep) {
    Affine& f = condition.left;
    Index common = 0;
    for (int v = 0; v < n_; ++v) {
      if (f[v] != 0) common = std::gcd(common, f[v]);
    }
    if (common > 1) {
      if (condition.is_equality && f.constant % common != 0) return false;
      for (int v = 0; v < n_; ++v) f[v] /= common;
      f.constant = static_cast<Index>(floor_div(f.constant, common));
    }
    int variable = 0;
    const int count = variables_in(f, &variable);
    if (count == 1) {
      Bounds& b = bounds(variable);  // the factor is 1 or -1
      if (f[variable] > 0 || condition.is_equality)
        b.least = std::max<Wide>(b.least, f[variable] > 0 ? -f.constant : f.constant);
      if (f[variable] < 0 || condition.is_equality)
        b.most = std::min<Wide>(b.most, f[variable] > 0 ? -f.constant : f.constant);
      *keep = false;
      return !b.empty();
    }
    const std::optional<Wide> low = least(f, region_);
    const std::optional<Wide> high = most(f, region_);
    if ((high && *high < 0) || (condition.is_equality && low && *low > 0)) return false;
    *keep = !(low && *low >= 0 && (!condition.is_equality || (high && *high == 0)));
    return true;
  }

  void fix_single_values() {
    for (int v = 0; v < n_; ++v) {
      const Bounds& b = bounds(v);
      if (b.least == b.most) {
        fix(region_.value, v, b.least);
        for (Condition& condition : region_.conditions) fix(condition.left, v, b.least);
      }
    }
  }
  static void fix(Affine& f, int v, Wide value) {
    if (f[v] == 0) return;
    f.constant = narrow(f.constant + f[v] * value);
    f[v] = 0;
  }

  /// Puts `by` in for variable v, in all but its bounds.
  void replace(int v, const Affine& by) {
    const auto put_in = [&](Affine& f) {
      const Index times = f[v];
      if (times == 0) return;
      f[v] = 0;
      f.add(by, times);
    };
    put_in(region_.value);
    for (Condition& condition : region_.conditions) put_in(condition.left);
  }

  /// What the bounds of v say of `f`, which stands for it from now on.
  void bound(const Affine& f, const Bounds& b) {
    if (b.least > -Bounds::kInfinite) {
      Condition above{f, false};
      above.left.constant = narrow(above.left.constant - b.least);
      region_.conditions.push_back(above);
    }
    if (b.most < Bounds::kInfinite) {
      Condition below;
      below.left.add(f, -1);
      below.left.constant = narrow(below.left.constant + b.most);
      region_.conditions.push_back(below);
    }
  }

  /// An equality with a factor 1 or -1 says what that variable is.
  bool solve_equality() {
    auto& all = region_.conditions;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_equality) continue;
      for (int v = 0; v < n_; ++v) {
        const Index factor = all[i].left[v];
        if (factor != 1 && factor != -1) continue;
        Affine others = all[i].left;
        others[v] = 0;
        Affine by;
        by.add(others, -factor);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        replace(v, by);
        bound(by, bounds(v));
        bounds(v) = {0, 0};
        return true;
      }
    }
    return false;
  }

  /// times, where u's factor is times v's in all functions; 0: nowhere.
  Index ratio(int u, int v) const {
    Index times = 0;
    const auto fits = [&](const Affine& f) {
      if (f[v] == 0) return f[u] == 0;
      if (f[u] % f[v] != 0 || f[u] == 0) return false;
      if (times == 0) times = f[u] / f[v];
      return f[u] / f[v] == times;
    };
    if (!fits(region_.value)) return 0;
    for (const Condition& condition : region_.conditions) {
      if (!fits(condition.left)) return 0;
    }
    return times;
  }

  /// times * u + v is one variable if v fills the gaps.
  bool merge_variables() {
    for (int v = 0; v < n_; ++v) {
      if (bounds(v).least == bounds(v).most) continue;
      for (int u = 0; u < n_; ++u) {
        if (u == v || bounds(u).least == bounds(u).most) continue;
        const Index times = ratio(u, v);
        if (times == 0 || bounds(v).size() < (times < 0 ? -times : times)) continue;
        const Bounds outer = times > 0 ? bounds(u) : Bounds{-bounds(u).most, -bounds(u).least};
        bounds(v) = sum(outer, times < 0 ? -times : times, bounds(v));
        bounds(u) = {0, 0};
        replace(u, Affine{});
        return true;
      }
    }
    return false;
  }
  static Bounds sum(const Bounds& u, Index times, const Bounds& v) {
    Bounds result;
    if (u.least > -Bounds::kInfinite && v.least > -Bounds::kInfinite)
      result.least = narrow(u.least * times + v.least);
    if (u.most < Bounds::kInfinite && v.most < Bounds::kInfinite)
      result.most = narrow(u.most * times + v.most);
    return result;
  }

  /// Bounds that the conditions imply. Nothing: there is no point; else whether there is a new one.
  std::optional<bool> tighten() {
    bool changed = false;
    for (std::size_t i = 0; i < region_.conditions.size(); ++i) {
      const Condition& condition = region_.conditions[i];
      changed = tighten(condition.left) || changed;
      if (condition.is_equality) {
        Affine negative;
        negative.add(condition.left, -1);
        changed = tighten(negative) || changed;
      }
    }
    for (int v = 0; v < n_; ++v) {
      if (bounds(v).empty()) return std::nullopt;
    }
    return changed;
  }
  bool tighten(const Affine& f) {
    bool changed = false;
    for (int v = 0; v < n_; ++v) {
      if (f[v] == 0) continue;
      const std::optional<Wide> rest = most(f, region_, v);
      if (!rest) continue;
      Bounds& b = bounds(v);
      if (f[v] > 0) {
        const Wide end = ceil_div(-*rest, f[v]);
        if (end > b.least && end <= kMost) b.least = end, changed = true;
      } else {
        const Wide end = floor_div(*rest, -Wide{f[v]});
        if (end < b.most && end >= -kMost) b.most = end, changed = true;
      }
    }
    return changed;
  }

  /// Drops a variable that the function has not, where what is left for it always holds an integer.
  bool eliminate_variable() {
    for (int v = 0; v < n_; ++v) {
      if (region_.value[v] == 0 && bounds(v).least != bounds(v).most && eliminate(v)) return true;
    }
    return false;
  }
  bool eliminate(int v) {
    std::vector<Condition> kept;
    std::vector<Affine> lower;
    std::vector<Affine> upper;
    for (const Condition& condition : region_.conditions) {
      if (condition.left[v] == 0) {
        kept.push_back(condition);
      } else if (condition.is_equality) {
        return false;
      } else {
        (condition.left[v] > 0 ? lower : upper).push_back(condition.left);
      }
    }
    if (lower.empty() && upper.empty()) return false;
    add_bounds(v, &lower, &upper);
    if (kept.size() + lower.size() * upper.size() > std::min(kMaxConditions, region_.conditions.size() + 4))
      return false;
    for (const Affine& low : lower) {
      for (const Affine& high : upper) {
        const Wide a = low[v];
        const Wide b = -Wide{high[v]};
        Affine both;
        both.add(low, b);
        both.add(high, a);
        if (a != 1 && b != 1) {
          const std::optional<Wide> room = least(both, region_);
          if (!room || *room < (a - 1) * (b - 1)) return false;
          continue;
        }
        kept.push_back({both, false});
      }
    }
    region_.conditions = std::move(kept);
    bounds(v) = {0, 0};
    return true;
  }
  void add_bounds(int v, std::vector<Affine>* lower, std::vector<Affine>* upper) {
    if (bounds(v).least > -Bounds::kInfinite) {
      Affine& f = lower->emplace_back();
      f[v] = 1;
      f.constant = narrow(-bounds(v).least);
    }
    if (bounds(v).most < Bounds::kInfinite) {
      Affine& f = upper->emplace_back();
      f[v] = -1;
      f.constant = narrow(bounds(v).most);
    }
  }

  /// Two conditions l <= f <= u, f with a factor 1 or -1 of a variable of more values than that: f takes its place.
  bool name_band() {
    auto& all = region_.conditions;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        if (all[i].is_equality || all[j].is_equality || !are_opposite(all[i].left, all[j].left)) continue;
        const Bounds band{-Wide{all[i].left.constant}, Wide{all[j].left.constant}};
        const int v = variable_for(all[i].left, band);
        if (v == kNoVariable) continue;
        name(v, all[i].left, band);
        return true;
      }
    }
    return false;
  }
  /// Of those that f can be named by, the one that moves the function least.
  int variable_for(const Affine& f, const Bounds& band) {
    int best = kNoVariable;
    for (int v = 0; v < n_; ++v) {
      if ((f[v] != 1 && f[v] != -1) || bounds(v).size() <= band.size()) continue;
      if (best == kNoVariable || std::abs(region_.value[v]) < std::abs(region_.value[best])) best = v;
    }
    return best;
  }
  bool are_opposite(const Affine& f, const Affine& g) const {
    for (int v = 0; v < n_; ++v) {
      if (f[v] != -g[v]) return false;
    }
    return true;
  }
  void name(int v, const Affine& f, const Bounds& band) {
    // v = factor * (named - the others), and the named takes v's place.
    Affine by;
    by.add(f, -f[v]);
    by.constant = 0;
    by[v] = f[v];
    const Bounds old = bounds(v);
    replace(v, by);
    bound(by, old);
    bounds(v) = band;
  }

  Region& region_;
  const int n_;
};

}  // namespace

bool simplify(Region& region) { return Rules(region).apply(); }

}  // namespace nuna::access
