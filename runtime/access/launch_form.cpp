#include "access/launch_form.hpp"

#include <algorithm>

#include "access/affine.hpp"

namespace nuna::access {
namespace {

/// Of first bytes: so that what is moved stays a number.
constexpr Index kFarthest = Index{1} << 58;

Polynomial constants_of(const Polynomial& polynomial) {
  Polynomial constants;
  std::copy_if(polynomial.begin(), polynomial.end(), std::back_inserter(constants),
               [](const Term& term) { return term.variable == kNoVariable; });
  return constants;
}

/// Terms without variables, of a minus b.
Polynomial difference(Polynomial a, const Polynomial& b) {
  for (const Term& term : b) {
    const auto same =
        std::find_if(a.begin(), a.end(), [&](const Term& t) { return t.parameters == term.parameters; });
    if (same == a.end()) {
      a.push_back(term);
    } else {
      same->factor -= term.factor;
    }
  }
  std::erase_if(a, [](const Term& term) { return term.factor == 0; });
  return a;
}

}  // namespace

void LaunchForm::note(const Polynomial& polynomial, bool constants_too, Flags* in_it) {
  for (const Term& term : polynomial) {
    if (term.variable == kNoVariable && !constants_too) continue;
    for (const std::uint16_t parameter : term.parameters) (*in_it)[parameter] = true;
  }
}

LaunchForm::LaunchForm(const KernelModel& model)
    : model_(model), decides_(model.parameters.size()), begins_(model.pointers.size()) {
  Flags has_begin(model.pointers.size());
  for (const Access& access : model.accesses) {
    for (const Constraint& constraint : access.domain) note(constraint.left, true, &decides_);
    if (!access.first_byte) continue;
    note(*access.first_byte, false, &decides_);
    const Polynomial constants = constants_of(*access.first_byte);
    if (has_begin[access.pointer]) {
      note(difference(constants, begins_[access.pointer]), true, &decides_);
    } else {
      begins_[access.pointer] = constants;
      has_begin[access.pointer] = true;
    }
  }
  for (const Assumption& assumption : model.assumptions) {
    Glance glance{true, Flags(model.parameters.size())};
    for (const Term& term : assumption.value)
      glance.is_possible = glance.is_possible && term.variable < kExtra;
    note(assumption.value, true, &glance.in_it);
    for (const Constraint& constraint : assumption.domain) note(constraint.left, true, &glance.in_it);
    glances_.push_back(std::move(glance));
  }
}

// For all blocks and threads, whatever its domain. Throws TooLarge.
bool LaunchForm::holds(const Assumption& assumption, const std::vector<std::int64_t>& numbers) const {
  const Affine value = put_numbers_in(assumption.value, numbers);
  Wide least = value.constant;
  Wide most = value.constant;
  for (int v = 0; v < kExtra; ++v) {
    const auto axis = static_cast<std::size_t>(v % 3);
    const Wide last = Wide{numbers[(v < kThreadIndex ? kGridSize : kBlockSize) + axis]} - 1;
    (value[v] > 0 ? most : least) += value[v] * last;
  }
  const Wide size = Wide{1} << (assumption.bits - (assumption.is_signed ? 1 : 0));
  return least >= (assumption.is_signed ? -size : 0) && most < size;
}

LaunchForm::Form LaunchForm::of(const LaunchNumbers& launch) const {
  const std::vector<std::int64_t> numbers = all_numbers(model_, launch);
  Form form;
  const auto decide = [&](const Flags& flags) {
    for (std::size_t p = kScalars; p < numbers.size(); ++p) {
      if (flags[p]) form.deciding.push_back(numbers[p]);
    }
  };
  try {
    for (const Polynomial& begin : begins_) {
      form.begins.push_back(put_numbers_in(begin, numbers).constant);
      if (form.begins.back() > kFarthest || form.begins.back() < -kFarthest) throw TooLarge{};
    }
    decide(decides_);
    for (std::size_t a = 0; a < glances_.size(); ++a) {
      if (glances_[a].is_possible && holds(model_.assumptions[a], numbers)) continue;
      form.deciding.push_back(static_cast<std::int64_t>(a));
      decide(glances_[a].in_it);
    }
  } catch (const TooLarge&) {
    // One word more than can come together otherwise tells these apart.
    form.deciding.assign(numbers.begin() + kScalars, numbers.end());
    form.deciding.resize(numbers.size() * (glances_.size() + 2) + 1);
    form.begins.assign(begins_.size(), 0);
  }
  return form;
}

std::vector<std::int64_t> all_numbers(const KernelModel& model, const LaunchNumbers& launch) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(model.parameters.size());
  numbers.insert(numbers.end(), launch.block.begin(), launch.block.end());
  numbers.insert(numbers.end(), launch.grid.begin(), launch.grid.end());
  for (std::size_t i = kScalars; i < model.parameters.size(); ++i) {
    const Parameter& parameter = model.parameters[i];
    const bool is_derived = parameter.kind == Parameter::Kind::derived;
    numbers.push_back(is_derived ? derive(parameter, numbers) : launch.scalars[i - kScalars]);
  }
  return numbers;
}

}  // namespace nuna::access
