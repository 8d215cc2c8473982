#include "access/model.hpp"

#include <llvm/IR/InstIterator.h>

#include <algorithm>
#include <map>

#include "access/effects.hpp"
#include "access/plain_copy.hpp"
#include "access/way.hpp"
#include "access/work.hpp"
#include "codegen/analyses.hpp"

namespace nuna::compiler {

namespace {

using access::Access;
using access::Constraint;
using access::Polynomial;

/// Of one instruction.
constexpr std::size_t kMostWays = 24;
/// Kernels of more instructions that touch memory are taken without choices: their time would not be worth it.
constexpr std::size_t kMostEffects = 1500;

template <class T>
void add_new(std::vector<T>& all, T one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

/// Renumbers the extra variables that are used, in the order of their use.
class Renumbering {
 public:
  void operator()(Polynomial& polynomial) {
    for (auto& term : polynomial) {
      if (term.variable < access::kExtra) continue;
      const auto made = static_cast<int>(numbers_.size()) + access::kExtra;
      term.variable = numbers_.try_emplace(term.variable, made).first->second;
    }
    polynomial = *sum(polynomial, constant(0));  // in its order again
  }
  void operator()(std::vector<Constraint>& all) {
    for (auto& one : all) (*this)(one.left);
  }
  int count() const { return static_cast<int>(numbers_.size()); }

 private:
  std::map<int, int> numbers_;
};

class Modeller {
 public:
  Modeller(KernelCode& code, access::KernelModel& model) : code_(code), model_(model) {}

  void run() {
    std::size_t effects = 0;
    for (const auto& instruction : llvm::instructions(code_.function))
      effects += effects_of(instruction, code_.layout).size();
    ways_ = effects > kMostEffects ? 0 : kMostWays;
    for (const auto& instruction : llvm::instructions(code_.function)) {
      if (auto why = refusal_of(instruction, code_); !why.reason.empty()) refuse(std::move(why), instruction);
      model_.prints |= prints(instruction);
    }
    for (const auto& instruction : llvm::instructions(code_.function)) {
      for (const auto& one : effects_of(instruction, code_.layout)) add(instruction, one);
    }
    model_.work = work_of(code_);
  }

 private:
  void refuse(access::Refusal why, const llvm::Instruction& instruction) {
    const bool is_new = std::none_of(model_.refusals.begin(), model_.refusals.end(),
                                     [&](const auto& other) { return other.reason == why.reason; });
    why.at = source_line(instruction);
    if (is_new) model_.refusals.push_back(std::move(why));
  }

  void add(const llvm::Instruction& instruction, const Effect& one) {
    std::vector<const llvm::Value*> objects;
    for (const auto* object : objects_of(*one.pointer)) {
      if (code_.home_of(*object) == KernelCode::Home::elsewhere) objects.push_back(object);
    }
    if (objects.empty()) return;
    for (const auto flags : {Way::Flags::followed, Way::Flags::ignored}) {
      try {
        return add_ways(instruction, one, objects, Choices(ways_), flags);
      } catch (const Choices::TooMany&) {
      }
    }
    add_ways(instruction, one, objects, Choices::none(), Way::Flags::ignored);
  }

  void add_ways(const llvm::Instruction& instruction, const Effect& one,
                const std::vector<const llvm::Value*>& objects, Choices choices, Way::Flags flags) {
    access::KernelModel found;
    do {
      Way way(code_, choices, flags);
      way.reach(*instruction.getParent());
      const auto address = way.address(*one.pointer);
      if (way.is_impossible()) continue;
      if (address && code_.home_of(*address->object) != KernelCode::Home::elsewhere) continue;
      Access made;
      made.kind = one.kind;
      made.at = source_line(instruction);
      made.bytes = one.bytes.value_or(1);
      made.exact = way.is_exact();
      if (address && one.bytes) {
        made.pointer = code_.pointer(*address->object);
        made.first_byte = address->offset;
        add(found, made, way);
      } else {
        made.exact = false;
        for (const auto* object : objects) {
          if (address && object != address->object) continue;
          made.pointer = code_.pointer(*object);
          add(found, made, way);
        }
      }
    } while (choices.next());
    for (auto& made : found.accesses) add_unless_known(std::move(made));
    for (auto& made : found.assumptions) add_new(model_.assumptions, std::move(made));
  }

  void add(access::KernelModel& to, Access made, const Way& way) {
    made.domain = way.constraints();
    Renumbering renumbering;
    if (made.first_byte) renumbering(*made.first_byte);
    renumbering(made.domain);
    made.extra = renumbering.count();
    to.accesses.push_back(std::move(made));
    for (const auto& wrap : way.wraps()) {
      access::Assumption assumed{wrap.value, wrap.bits, wrap.is_signed, 0, {}, wrap.at};
      assumed.domain.assign(way.constraints().begin(),
                            way.constraints().begin() + static_cast<std::ptrdiff_t>(wrap.known));
      assumed.domain.insert(assumed.domain.end(), wrap.more.begin(), wrap.more.end());
      Renumbering of_assumption;
      of_assumption(assumed.value);
      of_assumption(assumed.domain);
      assumed.extra = of_assumption.count();
      add_new(to.assumptions, std::move(assumed));
    }
  }

  /// The same bytes from another line are no news.
  void add_unless_known(Access made) {
    const bool known = std::any_of(model_.accesses.begin(), model_.accesses.end(), [&](Access other) {
      other.at = made.at;
      return other == made;
    });
    if (!known) model_.accesses.push_back(std::move(made));
  }

  KernelCode& code_;
  access::KernelModel& model_;
  std::size_t ways_ = kMostWays;
};

}  // namespace

std::vector<access::KernelModel> model_kernels(DeviceModule& device, llvm::TargetMachine& machine) {
  Analyses analyses(machine);
  SharedVariables shared;
  for (const auto& variable : device.shared) shared.insert(variable.variable);
  std::vector<access::KernelModel> models;
  for (const auto& kernel : device.kernels) {
    auto* copy = make_plain_copy(*kernel.function, analyses.functions());
    access::KernelModel model;
    model.name = kernel.name;
    {
      KernelCode code(*copy, analyses.functions(), shared, model);
      Modeller(code, model).run();
    }
    analyses.functions().clear(*copy, copy->getName());
    copy->eraseFromParent();
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace nuna::compiler
