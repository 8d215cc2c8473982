// Arithmetic on bits: shifts, masks, and what is put together of parts that have none in common.
//
// x & m, where the bits of m from `low` up to `past` are set, is low * (x / low) - past * (x / past), rounded down. Masks and shifts
// that only the launch knows are parameters that it derives; there is a way each for masks of such a form and for others.

#include <llvm/Analysis/ValueTracking.h>

#include <algorithm>

#include "access/way.hpp"

namespace nuna::compiler {

using access::Polynomial;
using Operation = access::Parameter::Operation;

namespace {

constexpr unsigned kMostBits = 60;
constexpr int kMostRuns = 2;

int bits_of(const llvm::Value& value) { return static_cast<int>(value.getType()->getScalarSizeInBits()); }

std::int64_t constant_part(const Polynomial& polynomial) {
  for (const auto& term : polynomial) {
    if (term.parameters.empty() && term.variable == access::kNoVariable) return term.factor;
  }
  return 0;
}

/// "1 << s".
bool is_shifted_one(const access::Parameter& parameter) {
  return parameter.kind == access::Parameter::Kind::derived && parameter.operation == Operation::shifted &&
         constant_of(parameter.left) == 1;
}

/// "-s", which has the bits of s, a power of two, and all above.
bool is_negated(const Polynomial& mask) {
  return mask.size() == 1 && mask.front().factor < 0 && !mask.front().parameters.empty();
}

}  // namespace

Maybe Way::derived(Operation operation, const Polynomial& left, const Polynomial& right) {
  const auto index = code_.derived(operation, left, right);
  return index ? Maybe(parameter(*index)) : std::nullopt;
}

/// 2^exponent.
Maybe Way::power(const llvm::Value& exponent, int bits) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&exponent)) {
    if (number->getValue().uge(kMostBits)) return std::nullopt;
    return constant(std::int64_t{1} << number->getZExtValue());
  }
  const auto known = congruent(exponent);
  if (bits > 64 || !known || has_variables(*known)) return std::nullopt;
  const auto by = exact(exponent, Sign::has_not);
  if (!by || has_variables(*by)) return std::nullopt;
  return derived(Operation::shifted, constant(1), *by);
}

/// The left shift in `n < 32 ? x << n : 0`, as CUDA has it where C says nothing. Such a product is 0 of itself, modulo 2^32.
const llvm::BinaryOperator* Way::guarded_shift(const llvm::Value& value) const {
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(&value);
  if (select == nullptr) return nullptr;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(select->getCondition());
  const auto* shift = llvm::dyn_cast<llvm::BinaryOperator>(select->getTrueValue());
  const auto* zero = llvm::dyn_cast<llvm::ConstantInt>(select->getFalseValue());
  if (compare == nullptr || shift == nullptr || zero == nullptr || !zero->isZero()) return nullptr;
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
  const bool is_guard = compare->getPredicate() == llvm::CmpInst::ICMP_ULT && end != nullptr &&
                        end->getValue() == static_cast<std::uint64_t>(bits_of(value));
  const bool is_shift =
      shift->getOpcode() == llvm::Instruction::Shl && shift->getOperand(1) == compare->getOperand(0);
  return is_guard && is_shift ? shift : nullptr;
}

Maybe Way::of_bits(const llvm::BinaryOperator& binary) {
  const auto& left = *binary.getOperand(0);
  const auto& right = *binary.getOperand(1);
  switch (binary.getOpcode()) {
    case llvm::Instruction::Shl:
      return product(congruent(left), power(right, bits_of(left)));
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr: {
      const auto sign = binary.getOpcode() == llvm::Instruction::AShr ? Sign::has : Sign::has_not;
      const auto by = power(right, bits_of(left));
      return by ? quotient(exact(left, sign), by) : std::nullopt;
    }
    case llvm::Instruction::And: {
      auto masked = of_mask(left, right);
      return masked ? masked : of_mask(right, left);
    }
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
      return of_sides(binary);
    default:
      return std::nullopt;
  }
}

/// a | b and a ^ b are a + b - (a & b) and a + b - 2 * (a & b).
Maybe Way::of_sides(const llvm::BinaryOperator& binary) {
  const auto& left = *binary.getOperand(0);
  const auto& right = *binary.getOperand(1);
  const bool is_or = binary.getOpcode() == llvm::Instruction::Or;
  const auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&binary);
  const auto both = sum(congruent(left), congruent(right));
  const bool apart = (disjoint != nullptr && disjoint->isDisjoint()) ||
                     llvm::haveNoCommonBitsSet(&left, &right, code_.layout) ||
                     have_no_bits_in_common(left, right) || have_no_bits_in_common(right, left);
  if (apart) return both;
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&right);
  if (!is_or && number != nullptr && number->isMinusOne()) return sum(constant(-1), congruent(left), -1);
  auto common = of_mask(left, right);
  if (!common) common = of_mask(right, left);
  return sum(both, common, is_or ? -1 : -2);
}

/// Whether all of `below` lies under the lowest bit that `above` may have.
bool Way::have_no_bits_in_common(const llvm::Value& above, const llvm::Value& below) {
  const auto high = congruent(above);
  const auto low = congruent(below);
  if (!high || !low || high->empty()) return false;
  // Multiples of a number's power of two; of a parameter that is one.
  const auto rest = range(*low);
  for (std::int64_t size = 2; size <= std::int64_t{1} << 30; size *= 2) {
    const bool divides =
        std::all_of(high->begin(), high->end(), [size](const auto& term) { return term.factor % size == 0; });
    if (!divides) break;
    if (rest.low >= 0 && rest.high < static_cast<long double>(size)) return true;
  }
  for (const auto& [of, index] : quotients_) {
    const auto& divisor = of.second;
    if (divisor.size() != 1 || divisor.front().factor != 1 || divisor.front().parameters.size() != 1)
      continue;
    const bool is_power = is_shifted_one(code_.model.parameters[divisor.front().parameters.front()]);
    const auto remainder = sum(of.first, product(divisor, variable(index)), -1);
    const bool divides = std::all_of(high->begin(), high->end(), [&](const auto& term) {
      return std::find(term.parameters.begin(), term.parameters.end(), divisor.front().parameters.front()) !=
             term.parameters.end();
    });
    if (is_power && divides && low == remainder) return true;
  }
  return false;
}

Maybe Way::of_mask(const llvm::Value& whole, const llvm::Value& mask) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&mask))
    return of_number_mask(whole, number->getValue());
  const auto known = congruent(mask);
  if (!known || has_variables(*known)) return std::nullopt;
  if (const auto number = constant_of(*known)) {
    const auto bits = static_cast<unsigned>(bits_of(mask));
    return of_number_mask(whole, llvm::APInt(64, static_cast<std::uint64_t>(*number)).sextOrTrunc(bits));
  }
  return of_launch_mask(congruent(whole), mask);
}

Maybe Way::of_number_mask(const llvm::Value& whole, const llvm::APInt& mask) {
  const auto value = congruent(whole);
  Maybe all = constant(0);
  int runs = 0;
  for (unsigned at = 0; at < mask.getBitWidth();) {
    if (!mask[at]) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < mask.getBitWidth() && mask[end]) ++end;
    if (++runs > kMostRuns || at > kMostBits || (end > kMostBits && end < mask.getBitWidth()))
      return std::nullopt;
    const auto low = constant(std::int64_t{1} << at);
    all = sum(all, product(low, quotient(value, low)));
    if (end < mask.getBitWidth()) {
      const auto past = constant(std::int64_t{1} << end);
      all = sum(all, product(past, quotient(value, past)), -1);
    }
    at = end;
  }
  return all;
}

Maybe Way::of_launch_mask(const Maybe& whole, const llvm::Value& mask) {
  const auto known = congruent(mask);
  if (!whole) return std::nullopt;
  if (constant_part(*known) == -1) {  // s - 1
    const auto size = sum(known, constant(1));
    if (!size || !is_power_of_two(*size)) return std::nullopt;
    return sum(whole, product(size, quotient(whole, size)), -1);
  }
  if (is_negated(*known)) {
    const auto size = sum(constant(0), known, -1);
    if (!is_power_of_two(*size)) return std::nullopt;
    return product(size, quotient(whole, size));
  }
  const auto number = exact(mask, Sign::has_not);
  if (!number || has_variables(*number)) return std::nullopt;
  const auto low = derived(Operation::lowest_bit, *number);
  const auto past = sum(number, low);
  if (!past || !is_power_of_two(*past)) return std::nullopt;
  return sum(product(low, quotient(whole, low)), product(past, quotient(whole, past)), -1);
}

/// A way each for launches in which it is, and in which it is not.
bool Way::is_power_of_two(const Polynomial& number) {
  if (number.size() == 1 && number.front().factor == 1 && number.front().parameters.size() == 1 &&
      is_shifted_one(code_.model.parameters[number.front().parameters.front()]))
    return true;
  const auto asked = code_.derived(Operation::is_power_of_two, number);
  if (!asked) return false;
  const auto index = *asked;
  if (const auto found = powers_.find(index); found != powers_.end()) return found->second;
  const auto side = before_ == nullptr ? take_one_of(2) : std::nullopt;
  if (!side) return false;
  require_at_least_zero(sum(parameter(index), constant(*side == 0 ? -1 : 0)), true);
  return powers_[index] = *side == 0;
}

}  // namespace nuna::compiler
