#include "access/polyhedral.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "access/affine.hpp"
#include "access/launch_form.hpp"
#include "access/region.hpp"
#include "access/rows.hpp"

namespace nuna::access {
namespace {

// Of half a microsecond or more.
constexpr int kStepsOfQuestion = 40'000;  // for an access; rows of a triangle take two each
constexpr int kStepsOfCheck = 4'000;
// Together: of all checks, and of questions that came to nothing; from then on little is tried.
constexpr int kStepsOfChecks = 60'000;
constexpr int kWastedSteps = 100'000;
constexpr int kFewSteps = 1'000;

constexpr const char* kSameBytes = "blocks of two parts write the same bytes";

bool moves_with(const Region& region, int variable) {
  const auto has = [variable](const Condition& condition) { return condition.left[variable] != 0; };
  return region.value[variable] != 0 || std::any_of(region.conditions.begin(), region.conditions.end(), has);
}

/// An access with numbers.
struct Touch {
  Access::Kind kind = Access::Kind::read;
  std::uint32_t pointer = 0;
  Index bytes = 0;
  bool exact = true;
  bool anywhere = false;
  bool irregular = false;  ///< as far as a question showed
  SourceLine at;
  Region region;  ///< of the whole grid

  bool reads() const { return kind != Access::Kind::write; }
  bool writes() const { return kind != Access::Kind::read; }
};

}  // namespace

Index Footprint::bytes() const {
  Index sum = 0;
  for (const Rows& r : rows) sum += r.bytes * r.count;
  return sum;
}

class LaunchAccess::State {
 public:
  State(const KernelModel& model, const LaunchNumbers& numbers)
      : grid_(numbers.grid), numbers_(all_numbers(model, numbers)) {
    if (!model.refusals.empty()) {
      distrust(model.refusals.front());
      complete_ = false;
    }
    for (const Assumption& assumption : model.assumptions) {
      if (!refusal_ && !holds(assumption)) {
        distrust({"an index of " + std::to_string(assumption.bits) + " bits may wrap", assumption.at});
      }
    }
    for (const Access& access : model.accesses) {
      if (access.bytes > 0) add(access);
    }
  }

  const std::optional<Refusal>& refusal() const { return refusal_; }

  template <typename F>
  bool any(std::uint32_t pointer, F&& is) const {
    return std::any_of(touches_.begin(), touches_.end(),
                       [&](const Touch& touch) { return touch.pointer == pointer && is(touch); });
  }
  bool reads(std::uint32_t pointer) const {
    return !complete_ || any(pointer, [](const Touch& touch) { return touch.reads(); });
  }
  bool writes(std::uint32_t pointer) const {
    return !complete_ || any(pointer, [](const Touch& touch) { return touch.writes(); });
  }
  bool writes_all(std::uint32_t pointer) const {
    return trusted_ && !any(pointer, [](const Touch& touch) {
             return touch.writes() && !(touch.exact && !touch.anywhere);
           });
  }

  Footprint read(std::uint32_t pointer, const BlockBox& box) {
    Footprint result{!trusted_ && reads(pointer), {}};
    if (result.anywhere) return result;
    std::vector<Rows> rows;
    for (Touch& touch : touches_) {
      if (touch.pointer != pointer || !touch.reads()) continue;
      const Region region = cut_to(touch.region, box);
      if (touch.anywhere) {
        if (may_have_point(region)) return {true, {}};
        continue;
      }
      std::vector<Rows> own;
      if (!touch.irregular && append(region, touch.bytes, &own)) {
        rows.insert(rows.end(), own.begin(), own.end());
        continue;
      }
      touch.irregular = true;
      const std::optional<Interval> whole = hull(region);
      if (!whole) return {true, {}};
      if (!whole->empty()) rows.push_back(run_of(*whole, touch.bytes));
    }
    if (rows.empty()) return result;
    auto united = unite(rows);
    if (!united) united = unite(without_narrow_gaps(rows));
    if (united) {
      result.rows = std::move(*united);
    } else {
      Interval whole{rows.front().begin, end_of(rows.front())};
      for (const Rows& r : rows) whole = {std::min(whole.begin, r.begin), std::max(whole.end, end_of(r))};
      result.rows = {run_of(whole, 0)};
    }
    return result;
  }

  Footprint written(std::uint32_t pointer, const BlockBox& box) {
    if (!trusted_ && writes(pointer)) return {true, {}};
    std::vector<Rows> rows;
    Touch* last = nullptr;
    for (Touch& touch : touches_) {
      if (touch.pointer != pointer || !touch.writes()) continue;
      if (touch.anywhere) return {true, {}};
      last = &touch;
      if (!append(cut_to(touch.region, box), touch.bytes, &rows)) return too_irregular(touch);
    }
    auto united = unite(std::move(rows));
    if (!united) return too_irregular(*last);
    return {false, std::move(*united)};
  }

  bool is_disjoint(int axis, const std::vector<Index>& begins, Refusal* why) {
    std::vector<BlockBox> parts;
    Index begin = 0;
    for (std::size_t i = 0; i <= begins.size(); ++i) {
      const Index end = i < begins.size() ? begins[i] : grid_[static_cast<std::size_t>(axis)];
      BlockBox box{Interval{0, grid_[0]}, Interval{0, grid_[1]}, Interval{0, grid_[2]}};
      box[static_cast<std::size_t>(axis)] = {begin, end};
      parts.push_back(box);
      begin = end;
    }
    const bool is_cut = std::any_of(begins.begin(), begins.end(), [&](Index b) {
      return b > 0 && b < grid_[static_cast<std::size_t>(axis)];
    });
    std::vector<std::uint32_t> pointers;
    for (const Touch& touch : touches_) {
      if (!touch.writes()) continue;
      if (is_cut && trusted_ && !touch.anywhere && !moves_with(touch.region, kBlockIndex + axis)) {
        if (why) *why = {kSameBytes, touch.at};
        return false;
      }
      pointers.push_back(touch.pointer);
    }
    std::sort(pointers.begin(), pointers.end());
    pointers.erase(std::unique(pointers.begin(), pointers.end()), pointers.end());
    return std::all_of(pointers.begin(), pointers.end(),
                       [&](std::uint32_t pointer) { return is_disjoint(pointer, parts, why); });
  }

 private:
  static Rows run_of(Interval bytes, Index more) {
    const Index size = bytes.size() + (more > 0 ? more - 1 : 0);
    return {bytes.begin, size, size, 1};
  }

  void refuse(Refusal refusal) {
    if (!refusal_) refusal_ = std::move(refusal);
  }
  /// The model does not tell what this launch does.
  void distrust(Refusal refusal) {
    refuse(std::move(refusal));
    trusted_ = false;
  }

  /// Throws TooLarge.
  Region region_of(const std::vector<Constraint>& domain, int extra) const {
    Region region;
    region.variables = kExtra + extra;
    if (region.variables > kMaxVariables) throw TooLarge{};
    for (std::size_t a = 0; a < 3; ++a) {
      region.bounds[kBlockIndex + a] = {0, Wide{narrow(numbers_[kGridSize + a])} - 1};
      region.bounds[kThreadIndex + a] = {0, Wide{narrow(numbers_[kBlockSize + a])} - 1};
    }
    for (const Constraint& constraint : domain) {
      region.conditions.push_back({put_numbers_in(constraint.left, numbers_), constraint.is_equality});
    }
    return region;
  }

  /// Whether a condition on the launch alone says that nobody is there, so that the rest need not be defined.
  bool is_ruled_out(const std::vector<Constraint>& domain) const {
    return std::any_of(domain.begin(), domain.end(), [&](const Constraint& constraint) {
      const bool varies = std::any_of(constraint.left.begin(), constraint.left.end(),
                                      [](const Term& term) { return term.variable != kNoVariable; });
      if (varies) return false;
      try {
        const Index left = put_numbers_in(constraint.left, numbers_).constant;
        return constraint.is_equality ? left != 0 : left < 0;
      } catch (const TooLarge&) {
        return false;
      }
    });
  }

  bool holds(const Assumption& assumption) try {
    if (is_ruled_out(assumption.domain)) return true;
    Region region = region_of(assumption.domain, assumption.extra);
    region.value = put_numbers_in(assumption.value, numbers_);
    const Wide size = Wide{1} << (assumption.bits - (assumption.is_signed ? 1 : 0));
    const Wide low = assumption.is_signed ? -size : 0;
    const std::optional<Interval> values = hull(region);
    if (values && (values->empty() || (values->begin >= low && values->end <= size))) return true;
    Region above = region;
    above.conditions.push_back({region.value, false});
    above.conditions.back().left.constant = narrow(region.value.constant - size);
    if (may_have_point(above)) return false;
    Affine below;
    below.add(region.value, -1);
    below.constant = narrow(below.constant + low - 1);
    region.conditions.push_back({below, false});
    return !may_have_point(region);
  } catch (const TooLarge&) {
    return false;
  }

  void add(const Access& access) {
    if (trusted_ && is_ruled_out(access.domain)) return;
    Touch touch;
    touch.kind = access.kind;
    touch.pointer = access.pointer;
    touch.bytes = access.bytes;
    touch.exact = access.exact;
    touch.anywhere = !access.first_byte;
    touch.at = access.at;
    try {
      touch.region = region_of(access.domain, access.extra);
      if (access.first_byte) touch.region.value = put_numbers_in(*access.first_byte, numbers_);
    } catch (const TooLarge&) {
      distrust({"numbers too large to follow", access.at});
      touch.anywhere = true;
    }
    if (trusted_ && !may_have_point(touch.region)) return;
    if (touch.kind == Access::Kind::atomic) {
      touch.anywhere = true;
      refuse({"atomic update", touch.at});
    } else if (touch.writes() && touch.anywhere) {
      refuse({"a write to a place that is not known", touch.at});
    }
    touches_.push_back(std::move(touch));
  }

  Region cut_to(Region region, const BlockBox& box) const {
    for (std::size_t a = 0; a < 3; ++a) {
      const Interval blocks = box[a].intersect({0, grid_[a]});
      region.bounds[kBlockIndex + a] = {blocks.begin, Wide{blocks.end} - 1};
    }
    return region;
  }

  bool may_have_point(const Region& region) {
    const int given = std::min(kStepsOfCheck, steps_of_checks_);
    int left = given;
    const std::optional<bool> has = has_point(region, &left);
    steps_of_checks_ -= given - std::max(left, 0);
    return has.value_or(true);
  }

  /// False: not all of them.
  bool append(const Region& region, Index bytes, std::vector<Rows>* rows) {
    const int given = wasted_steps_ > kWastedSteps ? kFewSteps : kStepsOfQuestion;
    int left = given;
    bool all = true;
    const Outcome outcome = enumerate(region, &left, [&](const Lattice& lattice) {
      all = all && append_rows(lattice, bytes, rows);
      if (!all) left = 0;
    });
    if (all && outcome == Outcome::done) return true;
    wasted_steps_ += given - std::max(left, 0);
    return false;
  }

  Footprint too_irregular(Touch& touch) {
    touch.anywhere = true;
    refuse({"writes too irregular to list", touch.at});
    return {true, {}};
  }

  bool is_disjoint(std::uint32_t pointer, const std::vector<BlockBox>& parts, Refusal* why) {
    std::vector<std::vector<Rows>> lists;
    for (const BlockBox& part : parts) {
      Footprint footprint = written(pointer, part);
      if (footprint.anywhere) {
        if (why) *why = refusal_.value_or(Refusal{});
        return false;
      }
      lists.push_back(std::move(footprint.rows));
    }
    const Meetings meetings = find_meeting(lists);
    if (!meetings.first && meetings.known) return true;
    if (why) {
      *why = meetings.first ? Refusal{"blocks of two parts write the same bytes",
                                      writer_in(pointer, parts, lists, *meetings.first)}
                            : Refusal{"writes too irregular to compare", any_writer(pointer)};
    }
    return false;
  }

  /// The line of a write by blocks of one part to what those of the other write.
  SourceLine writer_in(std::uint32_t pointer, const std::vector<BlockBox>& parts,
                       const std::vector<std::vector<Rows>>& lists, Meeting meeting) {
    for (const Touch& touch : touches_) {
      if (touch.pointer != pointer || !touch.writes()) continue;
      std::vector<std::vector<Rows>> pair(2);
      append(cut_to(touch.region, parts[meeting.one]), touch.bytes, pair.data());
      pair[1] = lists[meeting.other];
      if (find_meeting(pair).first) return touch.at;
    }
    return any_writer(pointer);
  }
  SourceLine any_writer(std::uint32_t pointer) const {
    for (const Touch& touch : touches_) {
      if (touch.pointer == pointer && touch.writes()) return touch.at;
    }
    return {};
  }

  std::array<Index, 3> grid_;
  std::vector<std::int64_t> numbers_;
  std::vector<Touch> touches_;
  std::optional<Refusal> refusal_;
  int steps_of_checks_ = kStepsOfChecks;
  int wasted_steps_ = 0;
  bool trusted_ = true;
  bool complete_ = true;  ///< all accesses are known, if not where
};

LaunchAccess::LaunchAccess(const KernelModel& model, const LaunchNumbers& numbers)
    : state_(std::make_unique<State>(model, numbers)) {}
LaunchAccess::~LaunchAccess() = default;
LaunchAccess::LaunchAccess(LaunchAccess&&) noexcept = default;
LaunchAccess& LaunchAccess::operator=(LaunchAccess&&) noexcept = default;

const std::optional<Refusal>& LaunchAccess::refusal() const { return state_->refusal(); }
bool LaunchAccess::reads(std::uint32_t pointer) const { return state_->reads(pointer); }
bool LaunchAccess::writes(std::uint32_t pointer) const { return state_->writes(pointer); }
bool LaunchAccess::writes_all(std::uint32_t pointer) const { return state_->writes_all(pointer); }
Footprint LaunchAccess::read(std::uint32_t pointer, const BlockBox& box) {
  return state_->read(pointer, box);
}
Footprint LaunchAccess::written(std::uint32_t pointer, const BlockBox& box) {
  return state_->written(pointer, box);
}
bool LaunchAccess::is_disjoint(int axis, const std::vector<Index>& begins, Refusal* why) {
  return state_->is_disjoint(axis, begins, why);
}

}  // namespace nuna::access
