#include "access/legality.hpp"

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "access/names.hpp"
#include "access/polynomial.hpp"
#include "access/rows.hpp"

namespace nuna::compiler {

namespace {

using access::Access;
using access::Constraint;
using access::KernelModel;
using access::Polynomial;
using Answer = AxisVerdict::Answer;

/// isl gives up on a question that takes more steps; the launch answers it then.
constexpr unsigned long kMostSteps = 3'000'000;
constexpr std::size_t kLongestCondition = 80;

struct FreeContext {
  void operator()(isl_ctx* context) const { isl_ctx_free(context); }
};
struct FreeSet {
  void operator()(isl_set* set) const { isl_set_free(set); }
};
using Context = std::unique_ptr<isl_ctx, FreeContext>;
using Set = std::unique_ptr<isl_set, FreeSet>;

/// A condition on variables and parameters, growing; what is not affine is left out.
class Condition {
 public:
  explicit Condition(const std::string& mark) : text_(mark) {}
  void add(const std::string& more) { all_ += (all_.empty() ? "" : " and ") + more; }
  bool add(const Polynomial& left, const char* relation) {
    const auto text = text_(with_offsets(left));
    if (text) add(*text + relation);
    return text.has_value();
  }
  IslText& text() { return text_; }
  const std::string& all() const { return all_; }

 private:
  IslText text_;
  std::string all_;
};

std::string size(IslText& text, int axis) {
  return text.parameter({static_cast<std::uint16_t>(access::kBlockSize + axis)});
}
std::string blocks(IslText& text, int axis) {
  return text.parameter({static_cast<std::uint16_t>(access::kGridSize + axis)});
}
std::string threads(IslText& text, int axis) {
  return text.parameter({static_cast<std::uint16_t>(kGridThreads + axis)});
}

/// Where blocks and threads are, of every axis that the condition mentions.
void add_places(Condition& condition, std::set<int> axes) {
  auto& text = condition.text();
  for (const int used : text.variables()) {
    if (used >= kBlockOffset) axes.insert(used - kBlockOffset);
    if (used < access::kThreadIndex) axes.insert(used);
  }
  const auto mentioned = text.variables();
  for (int axis = 0; axis < 3; ++axis) {
    if (mentioned.count(access::kThreadIndex + axis) != 0) {
      const auto thread = text.variable(access::kThreadIndex + axis);
      condition.add("0 <= " + thread + " < " + size(text, axis));
    }
    if (axes.count(axis) == 0) continue;
    const auto block = text.variable(access::kBlockIndex + axis);
    const auto offset = text.variable(kBlockOffset + axis);
    condition.add("0 <= " + block + " < " + blocks(text, axis) + " and " + block + " <= " + offset + " and " +
                  offset + " + " + size(text, axis) + " <= " + threads(text, axis));
  }
}

class Legality {
 public:
  explicit Legality(const KernelModel& model) : model_(model), context_(isl_ctx_alloc()) {
    isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
  }

  std::array<AxisVerdict, 3> operator()() {
    std::array<AxisVerdict, 3> verdicts;
    if (const auto reason = find_reason(); reason.answer != Answer::yes) {
      verdicts.fill(reason);
      return verdicts;
    }
    std::map<std::uint32_t, std::vector<const Access*>> writes;
    for (const auto& one : model_.accesses) {
      if (one.kind == Access::Kind::write) writes[one.pointer].push_back(&one);
    }
    std::vector<Writes> arrays;
    for (auto& [pointer, accesses] : writes) arrays.push_back(array_of(std::move(accesses)));
    for (int axis = 0; axis < 3; ++axis) verdicts[static_cast<std::size_t>(axis)] = along(axis, arrays);
    return verdicts;
  }

 private:
  AxisVerdict find_reason() const {
    AxisVerdict maybe;
    if (!model_.refusals.empty())
      return {Answer::no, "it " + model_.refusals.front().reason, model_.refusals.front().at};
    for (const auto& one : model_.accesses) {
      const auto place = name_of(model_.pointers[one.pointer]);
      if (one.kind == Access::Kind::atomic)
        return {Answer::no, "its blocks count together in " + place, one.at};
      if (one.kind != Access::Kind::write || one.first_byte) continue;
      const auto conditional = std::any_of(one.domain.begin(), one.domain.end(), [](const auto& constraint) {
        return !has_variables(constraint.left);
      });
      if (!conditional)
        return {Answer::no, "where it writes in " + place + " is known by running it only", one.at};
      maybe = {Answer::at_launch, "whether it is known where it writes in " + place, one.at};
    }
    return maybe;
  }

  AxisVerdict along(int axis, const std::vector<Writes>& arrays) {
    std::vector<std::string> conflicts;
    std::vector<std::string> sure;
    writing_.clear();
    Condition parameters("");
    const Access* first = nullptr;
    for (const auto& array : arrays) {
      const auto place = "in " + name_of(model_.pointers[array.accesses.front()->pointer]);
      if (!array.why_not.empty())
        return {Answer::at_launch, place + " " + array.why_not, array.accesses.front()->at};
      for (std::size_t i = 0; i < array.accesses.size(); ++i) {
        if (const auto unbounded = find_unbounded_row(array, i); !unbounded.empty())
          return {Answer::at_launch, unbounded, array.accesses[i]->at};
        for (std::size_t j = 0; j < array.accesses.size(); ++j) {
          // A store meets itself in the same byte of an element, other stores perhaps in others.
          bool is_sure = array.accesses[i]->exact && (i == j || !array.is_widened);
          if (auto conflict = conflict_of(array, i, j, axis, parameters, is_sure)) {
            if (is_sure && array.accesses[j]->exact) sure.push_back(*conflict);
            conflicts.push_back(std::move(*conflict));
            if (first == nullptr) first = array.accesses[i];
          } else {
            return {Answer::at_launch, place + " the index is not affine", array.accesses[i]->at};
          }
        }
      }
    }
    return first == nullptr ? AxisVerdict{} : verdict_of(axis, conflicts, sure, parameters, *first);
  }

  /// The condition under which write i of a block and write j of a later one along `axis` meet.
  std::optional<std::string> conflict_of(const Writes& array, std::size_t i, std::size_t j, int axis,
                                         Condition& parameters, bool& is_sure) {
    Condition one("a");
    Condition other("b");
    for (const auto& constraint : array.accesses[i]->domain)
      is_sure = one.add(constraint.left, constraint.is_equality ? " = 0" : " >= 0") && is_sure;
    for (const auto& constraint : array.accesses[j]->domain)
      is_sure = other.add(constraint.left, constraint.is_equality ? " = 0" : " >= 0") && is_sure;
    for (std::size_t k = 0; k < array.indices[i].size(); ++k) {
      const auto left = one.text()(array.indices[i][k].value);
      const auto right = other.text()(array.indices[j][k].value);
      if (!left || !right) return std::nullopt;
      one.add(*left + " = " + *right);
    }
    if (i == j) writing_.push_back(condition_of_writing(*array.accesses[i]));
    add_places(one, {axis});
    add_places(other, {axis});
    const auto block = one.text().variable(axis);
    const auto offset = one.text().variable(kBlockOffset + axis);
    one.add(block + " < " + other.text().variable(axis) + " and " + offset + " + " + size(one.text(), axis) +
            " <= " + other.text().variable(kBlockOffset + axis));
    std::string all;
    for (auto* part : {&one, &other}) {
      for (const int used : part->text().variables())
        all += (all.empty() ? "" : ", ") + part->text().variable(used);
      for (const auto& product : part->text().parameters()) parameters.text().parameter(product);
    }
    return "exists " + all + " : " + one.all() + " and " + other.all();
  }

  static std::string condition_of_writing(const Access& write) {
    Condition condition("");
    for (const auto& constraint : write.domain)
      condition.add(constraint.left, constraint.is_equality ? " = 0" : " >= 0");
    add_places(condition, {0});
    return exists(condition);
  }

  static std::string exists(Condition& condition) {
    std::string all;
    for (const int used : condition.text().variables())
      all += (all.empty() ? "" : ", ") + condition.text().variable(used);
    return (all.empty() ? "" : "exists " + all + " : ") + condition.all();
  }

  /// A column may run over the end of its row, so that indices say nothing: "nothing keeps ... below arg3".
  std::string find_unbounded_row(const Writes& array, std::size_t i) {
    const auto& indices = array.indices[i];
    for (std::size_t k = 1; k < indices.size(); ++k) {
      Condition condition("");
      for (const auto& constraint : array.accesses[i]->domain)
        condition.add(constraint.left, constraint.is_equality ? " = 0" : " >= 0");
      const auto column = condition.text()(indices[k].value);
      if (!column) return "the index is not affine";
      const auto length = condition.text().parameter(indices[k].size);
      add_places(condition, {});
      condition.add("(" + *column + " < 0 or " + *column + " >= " + length + ")");
      std::string all;
      for (const int used : condition.text().variables())
        all += (all.empty() ? "" : ", ") + condition.text().variable(used);
      const auto outside =
          read(condition.text(), (all.empty() ? "" : "exists " + all + " : ") + condition.all());
      if (outside == nullptr || isl_set_is_empty(outside.get()) != isl_bool_true) {
        return "nothing in the code keeps " + text_of(readable(indices[k].value), model_) +
               " within rows of " + text_of(readable({{1, indices[k].size, access::kNoVariable}}), model_);
      }
    }
    return "";
  }

  AxisVerdict verdict_of(int axis, const std::vector<std::string>& conflicts,
                         const std::vector<std::string>& sure, Condition& parameters, const Access& first) {
    auto& text = parameters.text();
    for (int one = 0; one < 3; ++one) {
      parameters.add(size(text, one) + " >= 1 and " + blocks(text, one) + " >= 1 and " + threads(text, one) +
                     " >= " + blocks(text, one) + " and " + threads(text, one) + " >= " + size(text, one));
    }
    parameters.add(blocks(text, axis) + " >= 2 and " + threads(text, axis) + " >= 2*" + size(text, axis));
    for (const auto& product : text.parameters()) {
      const bool is_unsigned = product.size() == 1 && product[0] >= access::kScalars &&
                               product[0] < kGridThreads && !model_.parameters[product[0]].is_signed;
      if (is_unsigned) parameters.add(text.parameter(product) + " >= 0");
    }
    Set bad(isl_set_remove_divs(all_of(text, conflicts).release()));
    Set launches = read(text, parameters.all());
    if (bad == nullptr || launches == nullptr) return undecided(first);
    bad.reset(isl_set_coalesce(isl_set_intersect(bad.release(), isl_set_copy(launches.get()))));
    if (isl_set_is_empty(bad.get()) == isl_bool_true) return {};
    Set meeting = all_of(text, sure);
    Set writing(isl_set_remove_divs(all_of(text, writing_).release()));
    writing.reset(isl_set_intersect(writing.release(), launches.release()));
    if (isl_set_is_subset(writing.get(), meeting.get()) == isl_bool_true) {
      return {Answer::no, "blocks write the same bytes of " + name_of(model_.pointers[first.pointer]),
              first.at};
    }
    for (auto* counts : {is_block_size, is_scalar}) {
      if (auto condition = safe_sizes(bad.get(), writing.get(), counts))
        return {Answer::when, std::move(*condition), first.at};
    }
    return undecided(first);
  }

  static bool is_block_size(std::size_t parameter) { return parameter < access::kGridSize; }
  static bool is_scalar(std::size_t parameter) {
    return parameter >= access::kScalars && parameter < kGridThreads;
  }

  /// The launches in which one of `conditions` holds.
  Set all_of(const IslText& text, const std::vector<std::string>& conditions) {
    Set all = read(text, "1 = 0");
    for (const auto& condition : conditions)
      all.reset(isl_set_union(all.release(), read(text, condition).release()));
    return all;
  }

  /// What `counts` of the sizes and scalars are like in launches that are never bad, if there are any.
  std::optional<std::string> safe_sizes(isl_set* bad, isl_set* launches, bool (*counts)(std::size_t)) {
    const auto of_sizes = [counts](isl_set* set) {
      Set made(isl_set_copy(set));
      for (auto i = static_cast<int>(isl_set_dim(set, isl_dim_param)) - 1; i >= 0; --i) {
        const std::string name = isl_set_get_dim_name(set, isl_dim_param, static_cast<unsigned>(i));
        const bool is_product = name.rfind('p') != 0;
        if (is_product || !counts(std::stoul(name.substr(1))))
          made.reset(isl_set_project_out(made.release(), isl_dim_param, static_cast<unsigned>(i), 1));
      }
      return made;
    };
    Set all = of_sizes(launches);
    Set good(isl_set_subtract(isl_set_copy(all.get()), isl_set_remove_divs(of_sizes(bad).release())));
    if (good == nullptr || isl_set_is_empty(good.get()) != isl_bool_false) return std::nullopt;
    good.reset(isl_set_coalesce(isl_set_gist(isl_set_coalesce(good.release()), all.release())));
    return text_of_set(good.get());
  }

  AxisVerdict undecided(const Access& at) const {
    return {Answer::at_launch,
            "whether blocks write the same bytes of " + name_of(model_.pointers[at.pointer]), at.at};
  }

  /// For people: offsets and grid threads as products again.
  static Polynomial readable(const Polynomial& polynomial) {
    Polynomial made;
    for (auto term : polynomial) {
      if (term.variable >= kBlockOffset) {
        const int axis = term.variable - kBlockOffset;
        term.variable = access::kBlockIndex + axis;
        term.parameters.insert(term.parameters.begin(),
                               static_cast<std::uint16_t>(access::kBlockSize + axis));
      }
      std::vector<std::uint16_t> parameters;
      for (const auto index : term.parameters) {
        if (index >= kGridThreads) {
          parameters.push_back(static_cast<std::uint16_t>(access::kBlockSize + index - kGridThreads));
          parameters.push_back(static_cast<std::uint16_t>(access::kGridSize + index - kGridThreads));
        } else {
          parameters.push_back(index);
        }
      }
      term.parameters = std::move(parameters);
      made.push_back(std::move(term));
    }
    return made;
  }

  Set read(const IslText& text, const std::string& condition) {
    std::string names;
    for (const auto& product : text.parameters()) {
      IslText one("");
      names += (names.empty() ? "" : ", ") + one.parameter(product);
    }
    isl_ctx_reset_operations(context_.get());
    isl_ctx_set_max_operations(context_.get(), kMostSteps);
    const auto all = "[" + names + "] -> { : " + condition + " }";
    return Set(isl_set_read_from_str(context_.get(), all.c_str()));
  }

  /// "blockDim.x <= 16"; nothing if it would be long.
  std::optional<std::string> text_of_set(isl_set* set) {
    Set named(isl_set_copy(set));
    for (unsigned i = 0; i < static_cast<unsigned>(isl_set_dim(set, isl_dim_param)); ++i) {
      const std::string name = isl_set_get_dim_name(set, isl_dim_param, i);
      named.reset(isl_set_set_dim_name(named.release(), isl_dim_param, i, readable_name(name).c_str()));
    }
    char* printed = isl_set_to_str(named.get());
    if (printed == nullptr) return std::nullopt;
    std::string text = printed;
    std::free(printed);
    const auto begin = text.find(": ");
    const auto end = text.rfind(" }");
    if (begin == std::string::npos || end <= begin || end - begin > kLongestCondition) return std::nullopt;
    return text.substr(begin + 2, end - begin - 2);
  }

  /// Of "p0p7": blockDim.x*arg3.
  std::string readable_name(const std::string& name) const {
    Polynomial product{{1, {}, access::kNoVariable}};
    for (std::size_t at = 0; at < name.size();) {
      const auto end = std::min(name.find('p', at + 1), name.size());
      product[0].parameters.push_back(
          static_cast<std::uint16_t>(std::stoul(name.substr(at + 1, end - at - 1))));
      at = end;
    }
    return text_of(readable(product), model_);
  }

  const KernelModel& model_;
  Context context_;
  std::vector<std::string> writing_;  ///< conditions under which some block writes at all
};

}  // namespace

std::array<AxisVerdict, 3> legality_of(const KernelModel& model) { return Legality(model)(); }

}  // namespace nuna::compiler
