#include "access/names.hpp"

#include <llvm/Demangle/Demangle.h>

#include <filesystem>
#include <numeric>

namespace nuna::compiler {

namespace {

using access::Polynomial;
using access::Term;

std::string axis(int index) { return std::string(1, "xyz"[index % 3]); }

std::string text_of_term(const Term& term, std::int64_t factor, const access::KernelModel& model) {
  std::string text;
  const auto times = [&](const std::string& more) { text += (text.empty() ? "" : "*") + more; };
  const bool is_number = term.parameters.empty() && term.variable == access::kNoVariable;
  if (is_number || factor != 1) times(std::to_string(factor));
  for (const auto index : term.parameters) times(name_of(model.parameters[index], model));
  if (term.variable != access::kNoVariable) times(name_of_variable(term.variable));
  return text;
}

/// Largest things first: blocks, threads, the rest, numbers.
std::string text_of_terms(const Polynomial& terms, std::int64_t divisor, const access::KernelModel& model) {
  std::string text;
  const auto append = [&](const Term& term) {
    const auto factor = term.factor / divisor;
    text += text.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    text += text_of_term(term, std::abs(factor), model);
  };
  for (const Term& term : terms) {
    if (term.variable != access::kNoVariable) append(term);
  }
  for (const bool numbers : {false, true}) {
    for (const Term& term : terms) {
      if (term.variable == access::kNoVariable && term.parameters.empty() == numbers) append(term);
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace

namespace {

std::string name_of_derived(const access::Parameter& parameter, const access::KernelModel& model) {
  using Operation = access::Parameter::Operation;
  const auto operand = [&](const Polynomial& part) {
    const auto text = text_of(part, model);
    return part.size() > 1 && text.back() != ')' ? "(" + text + ")" : text;
  };
  const auto left = operand(parameter.left);
  const auto both = "(" + text_of(parameter.left, model) + ", " + text_of(parameter.right, model) + ")";
  switch (parameter.operation) {
    case Operation::shifted:
      return "(" + left + " << " + operand(parameter.right) + ")";
    case Operation::quotient:
      return "(" + left + " / " + operand(parameter.right) + ")";
    case Operation::least:
      return "min" + both;
    case Operation::most:
      return "max" + both;
    case Operation::lowest_bit:
      return "lowest_bit(" + text_of(parameter.left, model) + ")";
    case Operation::is_power_of_two:
      return "is_power_of_two(" + text_of(parameter.left, model) + ")";
  }
  return "";
}

}  // namespace

std::string name_of(const access::Parameter& parameter, const access::KernelModel& model) {
  using Kind = access::Parameter::Kind;
  if (parameter.kind == Kind::derived) return name_of_derived(parameter, model);
  if (parameter.kind == Kind::block_size) return "blockDim." + axis(parameter.axis);
  if (parameter.kind == Kind::grid_size) return "gridDim." + axis(parameter.axis);
  const auto place = parameter.offset == 0 ? "" : "+" + std::to_string(parameter.offset);
  return "arg" + std::to_string(parameter.argument) + place;
}

std::string name_of(const access::Pointer& pointer) {
  if (!pointer.variable.empty()) return "the variable " + llvm::demangle(pointer.variable);
  const auto place = pointer.offset == 0 ? "" : "+" + std::to_string(pointer.offset);
  return "argument " + std::to_string(pointer.argument) + place;
}

std::string name_of_variable(int variable) {
  if (variable >= access::kExtra) return "k" + std::to_string(variable - access::kExtra + 1);
  return (variable >= access::kThreadIndex ? "threadIdx." : "blockIdx.") + axis(variable);
}

std::string text_of(const Polynomial& polynomial, const access::KernelModel& model) {
  std::int64_t divisor = 0;
  for (const Term& term : polynomial) divisor = std::gcd(divisor, term.factor);
  if (divisor <= 1) return text_of_terms(polynomial, 1, model);
  const auto inner = text_of_terms(polynomial, divisor, model);
  if (polynomial.size() > 1) return std::to_string(divisor) + "*(" + inner + ")";
  return text_of_terms(polynomial, 1, model);
}

std::string text_of(const access::Constraint& constraint, const access::KernelModel& model) {
  Polynomial left;
  Polynomial right;
  bool is_less = false;
  for (Term term : constraint.left) {
    const bool is_number = term.parameters.empty() && term.variable == access::kNoVariable;
    if (is_number && term.factor == -1 && !constraint.is_equality) {
      is_less = true;
    } else if (term.factor < 0) {
      term.factor = -term.factor;
      left.push_back(term);
    } else {
      right.push_back(term);
    }
  }
  const auto* relation = constraint.is_equality ? " == " : is_less ? " < " : " <= ";
  return text_of(left, model) + relation + text_of(right, model);
}

std::string text_of(const access::SourceLine& at) {
  if (at.line == 0) return "";
  return std::filesystem::path(at.file).filename().string() + ":" + std::to_string(at.line);
}

}  // namespace nuna::compiler
