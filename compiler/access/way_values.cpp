#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cmath>

#include "access/way.hpp"
#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

using access::Polynomial;

namespace {

/// What may be more numbers than this may be anything.
constexpr std::uint64_t kWidestUnknown = 65536;

int bits_of(const llvm::Value& value) { return static_cast<int>(value.getType()->getScalarSizeInBits()); }

/// Whether the phi hands on a value of a loop that ends before it.
bool leaves_loop(const llvm::PHINode& phi) { return phi.getNumIncomingValues() == 1; }

}  // namespace

std::optional<std::size_t> Way::take_one_of(std::size_t alternatives) {
  return is_impossible_ ? std::nullopt : choices_.choose(alternatives);
}

std::optional<std::size_t> Way::choose(const void* between, std::size_t alternatives,
                                       const llvm::BasicBlock* where) {
  const auto found = found_.chosen.find(between);
  if (found != found_.chosen.end()) return found->second.taken;
  if (before_ != nullptr) return std::nullopt;
  const auto taken = take_one_of(alternatives);
  if (taken) found_.chosen[between] = {*taken, where};
  return taken;
}

int Way::add_extra(const Range& range) {
  extra_.push_back(range);
  return access::kExtra + extra() - 1;
}

Range Way::range(const Polynomial& value) const {
  // Of a remainder, x - divisor * (x / divisor), more is known than of its parts.
  for (const auto& [of, index] : quotients_) {
    const auto divisor = constant_of(of.second);
    const auto factor = constant_of(coefficient_of(value, index));
    if (!divisor || !factor || *factor == 0 || *factor % *divisor != 0) continue;
    const auto times = -(*factor / *divisor);
    const auto remainder = sum(of.first, product(of.second, variable(index)), -1);
    const auto rest = sum(value, remainder, -times);
    if (!rest || rest->size() >= value.size()) continue;
    auto all = range(*rest);
    const auto most = static_cast<long double>(times) * static_cast<long double>(*divisor - 1);
    (times > 0 ? all.high : all.low) += most;
    return all;
  }
  return range_of(value, code_.model.parameters, extra_);
}

bool Way::is_never_negative(const Polynomial& value) const { return range(value).low >= 0; }

Maybe Way::fits(Maybe value, int bits, Sign sign, const llvm::Value& of) {
  if (!value || before_ != nullptr || range(*value).inside(bits, sign == Sign::has)) return value;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&of);
  if (instruction == nullptr || !instruction->getDebugLoc()) instruction = near_;
  wraps_.push_back({*value,
                    bits,
                    sign == Sign::has,
                    constraints_.size(),
                    {},
                    instruction != nullptr ? source_line(*instruction) : access::SourceLine{}});
  return value;
}

Maybe Way::congruent(const llvm::Value& value) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value)) return number_of(*number, Sign::has);
  if (!value.getType()->isIntegerTy()) return std::nullopt;
  auto& known = found_.congruent;
  if (const auto found = known.find(&value); found != known.end()) return found->second;
  auto made = make_congruent(value);
  known[&value] = made;
  return made;
}

Maybe Way::number_of(const llvm::ConstantInt& number, Sign sign) const {
  const auto& bits = number.getValue();
  if (bits.getBitWidth() > 64) return std::nullopt;
  if (sign == Sign::has)
    return bits.getBitWidth() == 1 ? constant(bits.isOne() ? 1 : 0) : constant(bits.getSExtValue());
  if (bits.getActiveBits() > 63) return std::nullopt;
  return constant(static_cast<std::int64_t>(bits.getZExtValue()));
}

Maybe Way::make_congruent(const llvm::Value& value) {
  if (const auto scalar = code_.scalar(value)) return parameter(*scalar);
  Maybe made;
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&value)) {
    made = of_binary(*binary);
  } else if (const auto* extended = llvm::dyn_cast<llvm::SExtInst>(&value)) {
    made = exact(*extended->getOperand(0), Sign::has);
  } else if (const auto* zero = llvm::dyn_cast<llvm::ZExtInst>(&value)) {
    const bool same = trusts_flags_ && zero->hasNonNeg();
    made = exact(*zero->getOperand(0), same ? Sign::has : Sign::has_not);
  } else if (const auto* truncated = llvm::dyn_cast<llvm::TruncInst>(&value)) {
    made = of_truncated(*truncated);
  } else if (const auto* frozen = llvm::dyn_cast<llvm::FreezeInst>(&value)) {
    const bool trusted = std::exchange(trusts_flags_, false);
    made = congruent(*frozen->getOperand(0));
    trusts_flags_ = trusted;
  } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&value);
             phi != nullptr && code_.loops.isLoopHeader(phi->getParent())) {
    made = of_recurrence(*phi);
  } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&value);
             call != nullptr && special_register_of(*call)) {
    made = of_register(*special_register_of(*call));
  } else if (call != nullptr) {
    made = of_call(*call);
  } else if (phi != nullptr && leaves_loop(*phi)) {
    made = of_scev(
        *code_.evolution.getSCEVAtScope(phi->getIncomingValue(0), code_.loops.getLoopFor(phi->getParent())));
  } else if (const auto* shift = guarded_shift(value)) {
    made = congruent(*shift);
  } else if (const auto* operand = taken(value)) {
    made = congruent(*operand);
  }
  return made ? made : unknown(value, Sign::has_not);
}

Maybe Way::of_register(unsigned which) {
  if (which < kBlockIdx) return variable(access::kThreadIndex + static_cast<int>(which - kThreadIdx));
  if (which < kBlockDim) return variable(access::kBlockIndex + static_cast<int>(which - kBlockIdx));
  if (which < kGridDim) return parameter(static_cast<std::uint16_t>(access::kBlockSize + which - kBlockDim));
  if (which < kLane) return parameter(static_cast<std::uint16_t>(access::kGridSize + which - kGridDim));
  const auto x = parameter(access::kBlockSize);
  const auto y = parameter(access::kBlockSize + 1);
  auto row = sum(variable(access::kThreadIndex + 1), product(y, variable(access::kThreadIndex + 2)));
  auto thread = sum(variable(access::kThreadIndex), product(x, row));
  return sum(thread, quotient(thread, constant(32)), -32);
}

Maybe Way::of_truncated(const llvm::TruncInst& truncated) {
  const llvm::Value* from = truncated.getOperand(0);
  std::uint32_t offset = 0;
  const auto* shift = llvm::dyn_cast<llvm::BinaryOperator>(from);
  if (shift != nullptr && shift->getOpcode() == llvm::Instruction::LShr) {
    const auto* by = llvm::dyn_cast<llvm::ConstantInt>(shift->getOperand(1));
    if (by != nullptr && by->getZExtValue() % 8 == 0) {
      offset = static_cast<std::uint32_t>(by->getZExtValue() / 8);
      from = shift->getOperand(0);
    }
  }
  const int bits = bits_of(truncated);
  if (bits >= 8 && llvm::isa<llvm::LoadInst>(from)) {
    if (const auto part = code_.part_of_scalar(*from, offset, static_cast<std::uint32_t>(bits) / 8))
      return parameter(*part);
  }
  return congruent(*truncated.getOperand(0));
}

Maybe Way::of_binary(const llvm::BinaryOperator& binary) {
  const auto& left = *binary.getOperand(0);
  const auto& right = *binary.getOperand(1);
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
      return sum(congruent(left), congruent(right));
    case llvm::Instruction::Sub:
      return sum(congruent(left), congruent(right), -1);
    case llvm::Instruction::Mul:
      return product(congruent(left), congruent(right));
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
      return quotient_in_bits(left, right, binary.getOpcode() == llvm::Instruction::SDiv);
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem: {
      const bool is_signed = binary.getOpcode() == llvm::Instruction::SRem;
      const auto rounds = quotient_in_bits(left, right, is_signed);
      const auto sign = is_signed ? Sign::has : Sign::has_not;
      return sum(exact(left, sign), product(rounds, exact(right, sign)), -1);
    }
    default:
      return of_bits(binary);
  }
}

Maybe Way::quotient_in_bits(const llvm::Value& dividend, const llvm::Value& divisor, bool is_signed) {
  const auto sign = is_signed ? Sign::has : Sign::has_not;
  // C rounds towards zero: down, where nothing is negative.
  auto above = fits(exact(dividend, sign), bits_of(dividend), Sign::has_not, dividend);
  auto below = exact(divisor, sign);
  if (!above || !below || has_variables(*below)) return std::nullopt;
  if (const auto number = constant_of(*below); number && *number <= 0) return std::nullopt;
  fits(sum(below, constant(-1)), bits_of(divisor), Sign::has_not, divisor);
  return quotient(above, below);
}

Maybe Way::quotient(const Maybe& dividend, const Maybe& divisor) {
  if (!dividend || !divisor) return std::nullopt;
  const auto number = constant_of(*divisor);
  if (number == 1) return dividend;
  if (number && *number <= 0) return std::nullopt;
  if (number) {
    // What the divisor divides comes out; if the rest is less than it, that is all.
    Polynomial divided;
    Polynomial rest;
    for (auto term : *dividend) {
      if (term.factor % *number != 0) {
        rest.push_back(term);
        continue;
      }
      term.factor /= *number;
      divided.push_back(term);
    }
    const auto of_rest = range(rest);
    if (of_rest.low >= 0 && of_rest.high < static_cast<long double>(*number)) return divided;
  }
  if (!has_variables(*dividend) && !has_variables(*divisor)) {
    const auto whole = constant_of(*dividend);
    if (whole && number) return constant((*whole - (*whole % *number + *number) % *number) / *number);
    return derived(access::Parameter::Operation::quotient, *dividend, *divisor);
  }
  for (const auto& [of, index] : quotients_) {
    if (of.first == *dividend && of.second == *divisor) return variable(index);
  }
  const auto all = range(*dividend);
  Range between{all.low >= 0 ? 0 : all.low, all.high <= 0 ? 0 : all.high};
  if (number)
    between = {std::floor(all.low / static_cast<long double>(*number)),
               std::floor(all.high / static_cast<long double>(*number))};
  const int made = add_extra(between);
  quotients_.push_back({{*dividend, *divisor}, made});
  const auto rest = sum(dividend, product(divisor, variable(made)), -1);
  require_at_least_zero(rest);
  require_at_least_zero(sum(sum(divisor, constant(-1)), rest, -1));
  return variable(made);
}

Maybe Way::unknown(const llvm::Value& value, Sign sign) {
  if (!value.getType()->isIntegerTy() || bits_of(value) == 1 || bits_of(value) > 64 || before_ != nullptr)
    return std::nullopt;
  const auto found = unknown_.find({&value, sign == Sign::has});
  if (found != unknown_.end()) return variable(found->second);
  const auto* scev = code_.evolution.getSCEV(const_cast<llvm::Value*>(&value));
  const auto of =
      sign == Sign::has ? code_.evolution.getSignedRange(scev) : code_.evolution.getUnsignedRange(scev);
  const auto low = sign == Sign::has ? of.getSignedMin() : of.getUnsignedMin();
  const auto span = (sign == Sign::has ? of.getSignedMax() : of.getUnsignedMax()) - low;
  if (of.isEmptySet() || span.ugt(kWidestUnknown) || low.getSignificantBits() > 62) return std::nullopt;
  const auto first = sign == Sign::has ? low.getSExtValue() : static_cast<std::int64_t>(low.getZExtValue());
  const auto last = first + static_cast<std::int64_t>(span.getZExtValue());
  const Range range{static_cast<long double>(first), static_cast<long double>(last)};
  const int made = add_extra(range);
  unknown_[{&value, sign == Sign::has}] = made;
  require_at_least_zero(sum(variable(made), constant(first), -1));
  require_at_least_zero(sum(constant(last), variable(made), -1));
  give_up();
  return variable(made);
}

}  // namespace nuna::compiler
