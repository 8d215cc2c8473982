// Which number a value is, and what a pointer points to.

#include <llvm/IR/GetElementPtrTypeIterator.h>

#include "access/way.hpp"
#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

int bits_of(const llvm::Value& value) { return static_cast<int>(value.getType()->getScalarSizeInBits()); }

bool has_flag(const llvm::BinaryOperator& binary, Way::Sign sign) {
  if (!llvm::isa<llvm::OverflowingBinaryOperator>(binary)) return false;
  return sign == Way::Sign::has ? binary.hasNoSignedWrap() : binary.hasNoUnsignedWrap();
}

/// Whether every number that its parts may be fits: quotients, remainders, the upper bits.
bool is_smaller_than_its_parts(const llvm::BinaryOperator& binary) {
  switch (binary.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::LShr:
      return true;
    case llvm::Instruction::And: {
      const auto* mask = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
      return mask != nullptr && !mask->isNegative();
    }
    default:
      return false;
  }
}

}  // namespace

Maybe Way::exact(const llvm::Value& value, Sign sign) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value)) return number_of(*number, sign);
  if (!value.getType()->isIntegerTy()) return std::nullopt;
  auto& known = found_.exact[sign == Sign::has ? 1 : 0];
  if (const auto found = known.find(&value); found != known.end()) return found->second;
  auto made = make_exact(value, sign);
  if (trusts_flags_) known[&value] = made;
  return made;
}

Maybe Way::make_exact(const llvm::Value& value, Sign sign) {
  if (const auto* extended = llvm::dyn_cast<llvm::SExtInst>(&value); extended != nullptr && sign == Sign::has)
    return exact(*extended->getOperand(0), sign);
  if (const auto* extended = llvm::dyn_cast<llvm::ZExtInst>(&value)) return congruent(*extended);
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&value)) {
    if (is_smaller_than_its_parts(*binary)) return congruent(value);
    if (trusts_flags_ && has_flag(*binary, sign)) {
      if (auto made = exact_binary(*binary, sign)) return made;
    }
  }
  if (const auto* shift = guarded_shift(value)) return fits(congruent(*shift), bits_of(value), sign, value);
  if (const auto* call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&value)) {
    if (auto known = of_known_extreme(*call)) return fits(known, bits_of(value), sign, value);
    const auto* operand = taken_of_extreme(*call);
    return operand != nullptr ? exact(*operand, sign) : unknown(value, sign);
  }
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(&value);
  if (phi != nullptr && code_.loops.isLoopHeader(phi->getParent())) {
    if (trusts_flags_ && is_wrapless(*phi, sign)) {
      const auto* loop = code_.loops.getLoopFor(phi->getParent());
      exact(*phi->getIncomingValueForBlock(loop->getLoopPreheader()),
            sign);  // where it begins is a number, too
      return congruent(value);
    }
  } else if (llvm::isa<llvm::SelectInst, llvm::PHINode>(value)) {
    if (const auto* operand = taken(value)) return exact(*operand, sign);
  }
  auto made = congruent(value);
  if (unknown_.count({&value, false}) != 0 && sign == Sign::has) return unknown(value, sign);
  return fits(std::move(made), bits_of(value), sign, value);
}

Maybe Way::exact_binary(const llvm::BinaryOperator& binary, Sign sign) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  // Of 32 bits, "+ 0xffffffff" is how "- 1" is written.
  if (number != nullptr && number->isNegative() && sign == Sign::has_not) return std::nullopt;
  const auto left = exact(*binary.getOperand(0), sign);
  if (binary.getOpcode() == llvm::Instruction::Shl)
    return product(left, power(*binary.getOperand(1), bits_of(binary)));
  const auto right = exact(*binary.getOperand(1), sign);
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
      return sum(left, right);
    case llvm::Instruction::Sub:
      return sum(left, right, -1);
    case llvm::Instruction::Mul:
      return product(left, right);
    default:
      return std::nullopt;
  }
}

Maybe Way::of_call(const llvm::CallBase& call) {
  if (const auto* extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&call)) {
    if (auto known = of_known_extreme(*extreme)) return known;
    const auto* operand = taken_of_extreme(*extreme);
    return operand != nullptr ? congruent(*operand) : std::nullopt;
  }
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  if (intrinsic == nullptr) return std::nullopt;
  if (intrinsic->getIntrinsicID() == llvm::Intrinsic::abs) return of_absolute(*intrinsic);
  if (intrinsic->getIntrinsicID() == llvm::Intrinsic::usub_sat) return of_saturated(*intrinsic);
  return std::nullopt;
}

/// a - b, or 0 where that is negative: what LLVM makes of `x > 0 ? x - 1 : 0`, unsigned.
Maybe Way::of_saturated(const llvm::IntrinsicInst& call) {
  const auto whole = exact(*call.getArgOperand(0), Sign::has_not);
  const auto less = exact(*call.getArgOperand(1), Sign::has_not);
  const auto difference = sum(whole, less, -1);
  if (!difference) return std::nullopt;
  if (!has_variables(*difference))
    return derived(access::Parameter::Operation::most, *difference, constant(0));
  const bool decided = found_.chosen.count(&call) != 0;
  const auto side = choose(&call, 2, call.getParent());
  if (!side) return std::nullopt;
  if (!decided) *side == 0 ? require_less(less, whole, true) : require_less(whole, less, false);
  return *side == 0 ? difference : constant(0);
}

Maybe Way::of_absolute(const llvm::IntrinsicInst& call) {
  const auto number = exact(*call.getArgOperand(0), Sign::has);
  if (!number) return std::nullopt;
  if (is_never_negative(*number)) return number;
  const bool decided = found_.chosen.count(&call) != 0;
  const auto side = choose(&call, 2, call.getParent());
  if (!side) return std::nullopt;
  if (!decided)
    *side == 0 ? require_less(constant(0), number, true) : require_less(number, constant(0), false);
  return *side == 0 ? number : sum(constant(0), number, -1);
}

/// Of numbers that the launch knows.
Maybe Way::of_known_extreme(const llvm::MinMaxIntrinsic& extreme) {
  using Operation = access::Parameter::Operation;
  const auto sign = extreme.isSigned() ? Sign::has : Sign::has_not;
  const auto left = congruent(*extreme.getLHS());
  const auto right = congruent(*extreme.getRHS());
  if (!left || !right || has_variables(*left) || has_variables(*right)) return std::nullopt;
  const auto one = exact(*extreme.getLHS(), sign);
  const auto other = exact(*extreme.getRHS(), sign);
  if (!one || !other || has_variables(*one) || has_variables(*other)) return std::nullopt;
  const auto predicate = extreme.getPredicate();
  const bool is_most = predicate == llvm::CmpInst::ICMP_SGT || predicate == llvm::CmpInst::ICMP_UGT;
  return derived(is_most ? Operation::most : Operation::least, *one, *other);
}

const llvm::Value* Way::taken_of_extreme(const llvm::MinMaxIntrinsic& extreme) {
  const auto sign = extreme.isSigned() ? Sign::has : Sign::has_not;
  const auto left = exact(*extreme.getLHS(), sign);
  const auto right = exact(*extreme.getRHS(), sign);
  if (!left || !right) return nullptr;
  const bool decided = found_.chosen.count(&extreme) != 0;
  const auto side = choose(&extreme, 2, extreme.getParent());
  if (!side) return nullptr;
  const auto predicate = extreme.getPredicate();
  const bool least = predicate == llvm::CmpInst::ICMP_SLT || predicate == llvm::CmpInst::ICMP_ULT;
  if (!decided) {
    if ((*side == 0) == least) {
      require_less(left, right, *side == 0);
    } else {
      require_less(right, left, *side == 0);
    }
  }
  return *side == 0 ? extreme.getLHS() : extreme.getRHS();
}

/// `d >= 0 ? a : b` is the least of a and b if b - a is d or d + 1, the largest if a - b is.
std::optional<Way::Extreme> Way::extreme_of(const llvm::Value& value, bool is_signed) {
  using Predicate = llvm::CmpInst::Predicate;
  if (found_.chosen.count(&value) != 0) return std::nullopt;
  if (const auto* call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&value)) {
    if (call->isSigned() != is_signed) return std::nullopt;
    const auto predicate = call->getPredicate();
    return Extreme{call->getLHS(), call->getRHS(),
                   predicate == Predicate::ICMP_SGT || predicate == Predicate::ICMP_UGT};
  }
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(&value);
  const auto* compare = select != nullptr ? llvm::dyn_cast<llvm::ICmpInst>(select->getCondition()) : nullptr;
  if (compare == nullptr || !is_signed || !compare->isSigned()) return std::nullopt;
  const bool less =
      compare->getPredicate() == Predicate::ICMP_SLT || compare->getPredicate() == Predicate::ICMP_SLE;
  const auto left = exact(*compare->getOperand(less ? 1 : 0), Sign::has);
  const auto right = exact(*compare->getOperand(less ? 0 : 1), Sign::has);
  const auto distance = sum(sum(left, right, -1), constant(compare->isStrictPredicate() ? -1 : 0));
  const auto* a = select->getTrueValue();
  const auto* b = select->getFalseValue();
  const auto difference = sum(congruent(*b), congruent(*a), -1);
  for (const bool is_most : {false, true}) {
    const auto rest = sum(is_most ? sum(constant(0), difference, -1) : difference, distance, -1);
    const auto number = rest ? constant_of(*rest) : std::nullopt;
    if (!number || (*number != 0 && *number != 1)) continue;
    const bool is_same = exact(*a, Sign::has) == congruent(*a) && exact(*b, Sign::has) == congruent(*b);
    return is_same ? std::optional(Extreme{a, b, is_most}) : std::nullopt;
  }
  return std::nullopt;
}

const llvm::Value* Way::taken(const llvm::Value& value) {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&value)) return taken_of_phi(*phi);
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(&value);
  if (select == nullptr) return nullptr;
  const bool decided = found_.chosen.count(select) != 0;
  const auto side = choose(select, 2, select->getParent());
  if (!side) return nullptr;
  if (!decided) require(*select->getCondition(), *side == 0);
  return *side == 0 ? select->getTrueValue() : select->getFalseValue();
}

/// Every phi of a block is entered from the same side, which is also the side that the way comes from.
const llvm::Value* Way::taken_of_phi(const llvm::PHINode& phi) {
  const auto& block = *phi.getParent();
  const bool leaves_loop = phi.getNumIncomingValues() == 1;
  if (leaves_loop || code_.loops.isLoopHeader(&block)) return nullptr;
  const bool decided = found_.chosen.count(&block) != 0;
  const auto side = choose(&block, phi.getNumIncomingValues(), &block);
  if (!side) return nullptr;
  std::vector<const llvm::BasicBlock*> from(llvm::pred_begin(&block), llvm::pred_end(&block));
  if (from.size() != phi.getNumIncomingValues()) return nullptr;
  if (!decided) reach_over(*from[*side], block);
  return phi.getIncomingValueForBlock(from[*side]);
}

std::optional<Address> Way::address(const llvm::Value& pointer) {
  if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&pointer)) near_ = instruction;
  if (const auto* offset = llvm::dyn_cast<llvm::GEPOperator>(&pointer)) {
    auto all = address(*offset->getPointerOperand());
    if (!all) return std::nullopt;
    for (auto at = llvm::gep_type_begin(offset), end = llvm::gep_type_end(offset); at != end; ++at) {
      Maybe here;
      if (auto* type = at.getStructTypeOrNull()) {
        const auto field = llvm::cast<llvm::ConstantInt>(at.getOperand())->getZExtValue();
        const auto place = code_.layout.getStructLayout(type)->getElementOffset(static_cast<unsigned>(field));
        here = constant(static_cast<std::int64_t>(place.getFixedValue()));
      } else {
        const auto stride = at.getSequentialElementStride(code_.layout).getFixedValue();
        const bool wide = bits_of(*at.getOperand()) >= 64;
        const auto index = wide ? congruent(*at.getOperand()) : exact(*at.getOperand(), Sign::has);
        here = product(index, constant(static_cast<std::int64_t>(stride)));
      }
      const auto more = sum(all->offset, here);
      if (!more) return std::nullopt;
      all->offset = *more;
    }
    return all;
  }
  if (llvm::isa<llvm::AddrSpaceCastOperator, llvm::BitCastOperator>(pointer))
    return address(*llvm::cast<llvm::Operator>(pointer).getOperand(0));
  if (code_.home_of(pointer) != KernelCode::Home::unknown) return Address{&pointer, {}};
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(&pointer);
  if (phi != nullptr && code_.loops.isLoopHeader(phi->getParent())) return address_of_recurrence(*phi);
  const auto* operand = taken(pointer);
  return operand != nullptr ? address(*operand) : std::nullopt;
}

}  // namespace nuna::compiler
