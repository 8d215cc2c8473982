#include "access/explain.hpp"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <sstream>

#include "access/legality.hpp"
#include "access/names.hpp"

namespace nuna::compiler {

namespace {

using access::Access;

constexpr std::size_t kColumn = 76;  ///< where lines of the source stand

class Explanation {
 public:
  explicit Explanation(const access::KernelModel& model) : model_(model) {}

  std::string text() {
    to_ << llvm::demangle(model_.name) << '\n';
    for (const auto& refusal : model_.refusals) line("  not to be split: it " + refusal.reason, refusal.at);
    for (std::uint32_t pointer = 0; pointer < model_.pointers.size(); ++pointer) {
      for (const auto kind : {Access::Kind::read, Access::Kind::write, Access::Kind::atomic})
        print(pointer, kind);
    }
    print_assumptions();
    print_verdicts();
    print_work();
    return to_.str();
  }

 private:
  void line(const std::string& text, const access::SourceLine& at) {
    to_ << text;
    if (const auto where = text_of(at); !where.empty())
      to_ << std::string(text.size() < kColumn ? kColumn - text.size() : 2, ' ') << where;
    to_ << '\n';
  }

  void print(std::uint32_t pointer, Access::Kind kind) {
    std::vector<const Access*> all;
    for (const auto& one : model_.accesses) {
      if (one.pointer == pointer && one.kind == kind) all.push_back(&one);
    }
    if (all.empty()) return;
    const auto* verb = kind == Access::Kind::read    ? "reads "
                       : kind == Access::Kind::write ? "writes "
                                                     : "counts in ";
    to_ << "  " << verb << name_of(model_.pointers[pointer]) << '\n';
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& one = *all[i];
      const auto what = one.first_byte
                            ? std::to_string(one.bytes) + " bytes at " + text_of(*one.first_byte, model_)
                            : std::string("anywhere");
      line("    " + what + (one.exact || !one.first_byte ? "" : ", perhaps"), one.at);
      if (i + 1 == all.size() || all[i + 1]->domain != one.domain) print_domain(one.domain, "      where ");
    }
  }

  void print_domain(const std::vector<access::Constraint>& domain, const std::string& begin) {
    for (std::size_t i = 0; i < domain.size(); ++i)
      to_ << (i == 0 ? begin : std::string(begin.size() - 4, ' ') + "and ") << text_of(domain[i], model_)
          << '\n';
  }

  void print_assumptions() {
    std::vector<std::string> seen;
    for (const auto& one : model_.assumptions) {
      auto text = "    " + text_of(one.value, model_) + ": ";
      text += one.bits == 64 && !one.is_signed
                  ? "not negative"
                  : std::to_string(one.bits) + (one.is_signed ? " bits" : " bits, unsigned");
      if (std::find(seen.begin(), seen.end(), text) != seen.end()) continue;
      if (seen.empty()) to_ << "  as long as these numbers fit\n";
      line(text, one.at);
      seen.push_back(std::move(text));
    }
  }

  void print_verdicts() {
    using Answer = AxisVerdict::Answer;
    const auto verdicts = legality_of(model_);
    for (int axis = 0; axis < 3; ++axis) {
      const auto& verdict = verdicts[static_cast<std::size_t>(axis)];
      std::string text = std::string("  split along ") + "xyz"[axis] + ": ";
      text += verdict.answer == Answer::yes    ? "yes"
              : verdict.answer == Answer::when ? "if " + verdict.text + ", else each launch decides"
              : verdict.answer == Answer::no   ? "no: " + verdict.text
                                               : "each launch decides: " + verdict.text;
      line(text, verdict.at);
    }
  }

  void print_work() {
    access::BlockWork all;
    int deepest = 0;
    for (const auto& block : model_.work) deepest = std::max(deepest, block.loops);
    for (const auto& block : model_.work) {
      if (block.loops != deepest) continue;
      all.loads += block.loads;
      all.stores += block.stores;
      all.float_operations += block.float_operations;
      all.integer_operations += block.integer_operations;
    }
    to_ << "  a thread's innermost code: " << all.loads << " loads, " << all.stores << " stores, "
        << all.float_operations << " float and " << all.integer_operations << " integer operations\n";
  }

  const access::KernelModel& model_;
  std::ostringstream to_;
};

}  // namespace

std::string explain(const std::vector<access::KernelModel>& models) {
  std::string text;
  for (const auto& model : models) text += (text.empty() ? "" : "\n") + Explanation(model).text();
  return text;
}

}  // namespace nuna::compiler
