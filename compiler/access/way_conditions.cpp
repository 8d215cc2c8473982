// What holds where a thread is: the branches on its way.

#include <llvm/IR/CFG.h>

#include <algorithm>

#include "access/way.hpp"

namespace nuna::compiler {

using access::Polynomial;

namespace {

enum class Side { natural, negative, either };

/// What is said of `parts`, combined bit by bit, holds of all of them, or of one, or says nothing of them.
enum class Part { all, one, none };

Part part_of(const llvm::BinaryOperator& parts, llvm::CmpInst::Predicate predicate,
             const llvm::APInt& number) {
  using Predicate = llvm::CmpInst::Predicate;
  const bool is_or = parts.getOpcode() == llvm::Instruction::Or;
  if (!is_or && parts.getOpcode() != llvm::Instruction::And) return Part::none;
  const bool is_negative = (predicate == Predicate::ICMP_SLT && number.isZero()) ||
                           (predicate == Predicate::ICMP_SLE && number.isAllOnes());
  const bool is_natural = (predicate == Predicate::ICMP_SGT && number.isAllOnes()) ||
                          (predicate == Predicate::ICMP_SGE && number.isZero());
  if (is_negative) return is_or ? Part::one : Part::all;
  if (is_natural) return is_or ? Part::all : Part::one;
  if (!is_or) return Part::none;
  if (predicate == Predicate::ICMP_EQ) return number.isZero() ? Part::all : Part::none;
  if (predicate == Predicate::ICMP_NE) return number.isZero() ? Part::one : Part::none;
  if (predicate == Predicate::ICMP_ULT) return number.isPowerOf2() ? Part::all : Part::none;
  if (predicate == Predicate::ICMP_UGE) return number.isPowerOf2() ? Part::one : Part::none;
  if (predicate == Predicate::ICMP_ULE) return number.isMask() ? Part::all : Part::none;
  if (predicate == Predicate::ICMP_UGT) return number.isMask() ? Part::one : Part::none;
  return Part::none;
}

}  // namespace

namespace {

/// Whether the loop has one end only, where one comparison decides.
bool has_one_end(const llvm::Loop& loop) {
  const auto* end = loop.getExitingBlock();
  const auto* branch = end != nullptr ? llvm::dyn_cast<llvm::BranchInst>(end->getTerminator()) : nullptr;
  return branch != nullptr && branch->isConditional() && llvm::isa<llvm::ICmpInst>(branch->getCondition());
}

}  // namespace

void Way::require_at_least_zero(Maybe left, bool is_equality) {
  if (!left) return give_up();
  if (const auto number = constant_of(*left)) {
    if (is_equality ? *number != 0 : *number < 0) is_impossible_ = true;
    return;
  }
  access::Constraint made{*left, is_equality};
  if (std::find(constraints_.begin(), constraints_.end(), made) == constraints_.end())
    constraints_.push_back(std::move(made));
}

void Way::require_less(const Maybe& a, const Maybe& b, bool or_equal) {
  require_at_least_zero(sum(sum(b, a, -1), constant(or_equal ? 0 : -1)));
}

/// "Until i is n", of a loop that is left then: `difference`, which falls by `step` from round to round, is not and was not zero.
void Way::require_not_yet(const Polynomial& difference, const Polynomial& step) {
  const auto above = sum(difference, constant(-1));
  if (has_one_end(*leaving_)) return require_at_least_zero(above);  // it comes there, or would never end
  const auto first = sum(difference, product(step, round_of(*leaving_)), -1);
  const auto by_one = constant_of(step) && *constant_of(step) == -1;
  const auto side = take_one_of(by_one ? 2 : 3);
  if (!side) return give_up();
  if (*side == 0) return require_at_least_zero(above);
  const auto below = [](const Maybe& value) { return sum(constant(-1), value, -1); };
  if (*side == 1) return require_at_least_zero(below(first));  // it began behind
  require_at_least_zero(below(difference));                    // it stepped over, perhaps
  give_up();
}

void Way::require_equal(const Maybe& a, const Maybe& b, bool truth) {
  const auto difference = sum(a, b, -1);
  if (!difference) return give_up();
  if (truth) return require_at_least_zero(difference, true);
  const auto above = sum(difference, constant(-1));
  const auto below = sum(constant(-1), difference, -1);
  if (is_never_negative(*difference)) return require_at_least_zero(above);
  if (range(*difference).high <= 0) return require_at_least_zero(below);
  if (leaving_ != nullptr) {
    const auto step = coefficient_of(*difference, rounds_.at(leaving_));
    const auto steps = range(step);
    if (!step.empty() && steps.high <= 0) return require_not_yet(*difference, step);
    if (!step.empty() && steps.low >= 0)
      return require_not_yet(*sum(constant(0), *difference, -1), *sum(constant(0), step, -1));
    if (!step.empty()) return give_up();
  }
  const auto side = take_one_of(2);
  if (!side) return give_up();
  require_at_least_zero(*side == 0 ? below : above);
}

/// What is at most the least of several is at most each of them; and so is the largest of several.
bool Way::require_less_of_extreme(const llvm::Value& a, const llvm::Value& b, bool or_equal, bool is_signed) {
  using Order = void (Way::*)(const llvm::Value&, const llvm::Value&, bool);
  const Order require_order = is_signed ? &Way::require_less_signed : &Way::require_less_unsigned;
  if (const auto most = extreme_of(a, is_signed); most && most->is_most) {
    (this->*require_order)(*most->one, b, or_equal);
    (this->*require_order)(*most->other, b, or_equal);
    return true;
  }
  if (const auto least = extreme_of(b, is_signed); least && !least->is_most) {
    (this->*require_order)(a, *least->one, or_equal);
    (this->*require_order)(a, *least->other, or_equal);
    return true;
  }
  return false;
}

void Way::require_less_signed(const llvm::Value& a, const llvm::Value& b, bool or_equal) {
  if (require_less_of_extreme(a, b, or_equal, true)) return;
  require_less(exact(a, Sign::has), exact(b, Sign::has), or_equal);
}

/// a < b, unsigned, of numbers that may be negative: those are then larger than any that is not. So it is 0 <= a < b if only a may
/// be negative, and b < 0 or a < b if it is b.
void Way::require_less_unsigned(const llvm::Value& a, const llvm::Value& b, bool or_equal) {
  if (require_less_of_extreme(a, b, or_equal, false)) return;
  const auto side_of = [&](const llvm::Value& value) {
    const auto found = congruent(value);
    const auto all = found ? range(*found) : Range{-1, 1};
    return all.low >= 0 ? Side::natural : all.high < 0 ? Side::negative : Side::either;
  };
  const auto [side_a, side_b] = std::make_pair(side_of(a), side_of(b));
  const bool is_plain = side_a == Side::natural && side_b == Side::natural;
  const auto left = exact(a, is_plain ? Sign::has_not : Sign::has);
  auto right = exact(b, is_plain ? Sign::has_not : Sign::has);
  if (!left || !right) return give_up();
  if (side_a == side_b && side_a != Side::either) return require_less(left, right, or_equal);
  if (side_a == Side::natural && side_b == Side::negative) return;
  if (side_a == Side::negative) {
    require_less(right, constant(0), false);
    return require_less(left, right, or_equal);
  }
  if (side_b == Side::natural || side_a == side_b) {
    const auto bits = static_cast<int>(b.getType()->getScalarSizeInBits());
    right = fits(right, bits, Sign::has_not, b);
    require_less(constant(0), left, true);
    return require_less(left, right, or_equal);
  }
  const auto taken = take_one_of(2);
  if (!taken) return give_up();
  if (*taken == 0) return require_less(left, right, or_equal);
  if (side_b == Side::either) return require_less(right, constant(0), false);
  require_less(constant(0), left, true);
}

/// Comparisons that LLVM has made one of: x == 0 && y == 0 is (x | y) == 0, x >= 0 && y >= 0 is (x | y) > -1. Whether it was one.
bool Way::require_of_parts(llvm::CmpInst::Predicate predicate, const llvm::Value& a, const llvm::Value& b) {
  const auto* parts = llvm::dyn_cast<llvm::BinaryOperator>(&a);
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&b);
  if (parts == nullptr || number == nullptr) return false;
  const auto part = part_of(*parts, predicate, number->getValue());
  if (part == Part::none) return false;
  if (part == Part::all) {
    for (const auto& one : parts->operands()) require_compared(predicate, *one, b);
  } else if (const auto side = take_one_of(2)) {
    require_compared(predicate, *parts->getOperand(static_cast<unsigned>(*side)), b);
  } else {
    give_up();
  }
  return true;
}

void Way::require_compared(llvm::CmpInst::Predicate predicate, const llvm::Value& a, const llvm::Value& b) {
  if (require_of_parts(predicate, a, b) || require_flag(predicate, a, b)) return;
  if (a.getType()->isPointerTy()) {
    const auto scalar = llvm::isa<llvm::ConstantPointerNull>(b) ? code_.scalar(a) : std::nullopt;
    if (!scalar || !llvm::ICmpInst::isEquality(predicate)) return give_up();
    return require_equal(parameter(*scalar), constant(0), predicate == llvm::CmpInst::ICMP_EQ);
  }
  const auto bits = a.getType()->getScalarSizeInBits();
  using Predicate = llvm::CmpInst::Predicate;
  switch (predicate) {
    case Predicate::ICMP_EQ:
    case Predicate::ICMP_NE: {
      const bool extended = llvm::isa<llvm::ZExtInst>(a) || llvm::isa<llvm::ZExtInst>(b) || bits == 1 ||
                            code_.is_unsigned_scalar(b);
      const auto sign = extended ? Sign::has_not : Sign::has;
      return require_equal(exact(a, sign), exact(b, sign), predicate == Predicate::ICMP_EQ);
    }
    case Predicate::ICMP_SLT:
    case Predicate::ICMP_SLE:
      return require_less_signed(a, b, predicate == Predicate::ICMP_SLE);
    case Predicate::ICMP_SGT:
    case Predicate::ICMP_SGE:
      return require_less_signed(b, a, predicate == Predicate::ICMP_SGE);
    case Predicate::ICMP_ULT:
    case Predicate::ICMP_ULE:
      return require_less_unsigned(a, b, predicate == Predicate::ICMP_ULE);
    case Predicate::ICMP_UGT:
    case Predicate::ICMP_UGE:
      return require_less_unsigned(b, a, predicate == Predicate::ICMP_UGE);
    default:
      return give_up();
  }
}

void Way::require_either(const llvm::Value& a, const llvm::Value& b, bool truth) {
  const auto side = take_one_of(2);
  if (!side) return give_up();
  // Neither alone keeps a thread in a loop.
  const auto* left = std::exchange(leaving_, nullptr);
  require(*side == 0 ? a : b, truth);
  leaving_ = left;
}

void Way::require(const llvm::Value& condition, bool truth) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&condition)) {
    if (number->isOne() != truth) is_impossible_ = true;
    return;
  }
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&condition)) {
    const auto predicate = truth ? compare->getPredicate() : compare->getInversePredicate();
    return require_compared(predicate, *compare->getOperand(0), *compare->getOperand(1));
  }
  if (const auto* frozen = llvm::dyn_cast<llvm::FreezeInst>(&condition)) {
    const bool trusted = std::exchange(trusts_flags_, false);
    require(*frozen->getOperand(0), truth);
    trusts_flags_ = trusted;
    return;
  }
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&condition);
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(&condition);
  const llvm::Value* a = nullptr;
  const llvm::Value* b = nullptr;
  bool both = false;  // whether both say `truth`, or one of them
  if (binary != nullptr) {
    a = binary->getOperand(0);
    b = binary->getOperand(1);
    const auto* one = llvm::dyn_cast<llvm::ConstantInt>(b);
    if (binary->getOpcode() == llvm::Instruction::Xor && one != nullptr)
      return require(*a, truth != one->isOne());
    if (binary->getOpcode() != llvm::Instruction::And && binary->getOpcode() != llvm::Instruction::Or)
      return give_up();
    both = (binary->getOpcode() == llvm::Instruction::And) == truth;
  } else if (select != nullptr) {
    const auto* if_true = llvm::dyn_cast<llvm::ConstantInt>(select->getTrueValue());
    const auto* if_false = llvm::dyn_cast<llvm::ConstantInt>(select->getFalseValue());
    a = select->getCondition();
    if (if_false != nullptr && if_false->isZero()) {
      b = select->getTrueValue();
      both = truth;
    } else if (if_true != nullptr && if_true->isOne()) {
      b = select->getFalseValue();
      both = !truth;
    }
  }
  if (b != nullptr) {
    if (!both) return require_either(*a, *b, truth);
    require(*a, truth);
    return require(*b, truth);
  }
  if (const auto* flag = llvm::dyn_cast<llvm::PHINode>(&condition)) return require_bit(*flag, truth);
  if (const auto* operand = taken(condition)) return require(*operand, truth);
  if (const auto* narrowed = llvm::dyn_cast<llvm::TruncInst>(&condition);
      narrowed != nullptr && llvm::isa<llvm::PHINode>(narrowed->getOperand(0)))
    return require_bit(*narrowed->getOperand(0), truth);
  if (const auto number = llvm::isa<llvm::TruncInst>(condition)
                              ? congruent(*llvm::cast<llvm::TruncInst>(condition).getOperand(0))
                              : congruent(condition)) {
    const auto odd = sum(number, quotient(number, constant(2)), -2);
    return require_equal(odd, constant(truth ? 1 : 0), true);
  }
  give_up();
}

void Way::follow_switch(const llvm::SwitchInst& branch, const llvm::BasicBlock& to) {
  const auto value = exact(*branch.getCondition(), Sign::has);
  std::vector<Maybe> there;
  std::vector<std::pair<Maybe, const llvm::BasicBlock*>> elsewhere;
  for (const auto& one : branch.cases()) {
    const auto number = exact(*one.getCaseValue(), Sign::has);
    if (one.getCaseSuccessor() == &to) {
      there.push_back(number);
    } else {
      elsewhere.emplace_back(number, one.getCaseSuccessor());
    }
  }
  if (branch.getDefaultDest() == &to) {
    if (!there.empty() || elsewhere.size() > 3) return give_up();
    const auto* left = leaving_;
    for (const auto& [other, block] : elsewhere) {
      leaving_ = left != nullptr && !left->contains(block) ? left : nullptr;
      require_equal(value, other, false);
    }
    leaving_ = left;
    return;
  }
  std::size_t side = 0;
  if (there.size() > 1) {
    const auto taken = take_one_of(there.size());
    if (!taken) return give_up();
    side = *taken;
  }
  require_equal(value, there[side], true);
}

void Way::follow(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  const auto* end = from.getTerminator();
  const auto* loop = code_.loops.getLoopFor(&from);
  const bool exits =
      loop != nullptr && loop->contains(&to) && loop->isLoopExiting(&from) && rounds_.count(loop) != 0;
  const auto constraints = constraints_.size();
  const auto wraps = wraps_.size();
  near_ = end;
  const auto* left = std::exchange(leaving_, exits ? loop : nullptr);
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end)) {
    if (branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1))
      require(*branch->getCondition(), branch->getSuccessor(0) == &to);
  } else if (const auto* many = llvm::dyn_cast<llvm::SwitchInst>(end)) {
    follow_switch(*many, to);
  } else {
    give_up();
  }
  leaving_ = left;
  if (exits) check_stays(*loop, constraints, wraps, from, to);
}

/// Whether a thread at `from` comes to `to` whatever happens, in the same round of the loop that `to` is in.
bool Way::always_reaches(const llvm::BasicBlock& from, const llvm::BasicBlock& to) const {
  const auto* loop = code_.loops.getLoopFor(&to);
  std::vector<const llvm::BasicBlock*> work{&from};
  std::set<const llvm::BasicBlock*> seen{&from, &to};
  while (!work.empty()) {
    const auto* block = work.back();
    work.pop_back();
    if (llvm::succ_empty(block)) return false;
    for (const auto* next : llvm::successors(block)) {
      if (loop != nullptr && (next == loop->getHeader() || !loop->contains(next))) return false;
      if (seen.insert(next).second) work.push_back(next);
    }
  }
  return true;
}

void Way::reach_over(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  const auto* left = code_.loops.getLoopFor(&from);
  if (left == nullptr || left->contains(&to)) {
    reach(from);
    return follow(from, to);
  }
  // Out of a loop: one of several ends of it, or it would not matter.
  while (left->getParentLoop() != nullptr && !left->getParentLoop()->contains(&to))
    left = left->getParentLoop();
  give_up();
  if (const auto* before = left->getLoopPreheader()) reach(*before);
}

void Way::reach(const llvm::BasicBlock& block) {
  if (target_ == nullptr) target_ = &block;
  if (!reached_.insert(&block).second || &block == &code_.function.getEntryBlock()) return;
  const auto* loop = code_.loops.getLoopFor(&block);
  if (loop != nullptr && loop->getHeader() == &block) {
    const auto* before = loop->getLoopPreheader();
    if (before == nullptr) return give_up();
    reach(*before);
    return begin_rounds(*loop, *target_);
  }
  const auto* from = code_.dominators.getNode(&block)->getIDom()->getBlock();
  const auto* left = code_.loops.getLoopFor(from);
  const llvm::Loop* outermost = nullptr;
  for (; left != nullptr && !left->contains(&block); left = left->getParentLoop()) outermost = left;
  if (outermost != nullptr && outermost->getLoopPreheader() != nullptr) from = outermost->getLoopPreheader();
  if (always_reaches(*from, block)) return reach(*from);
  std::vector<const llvm::BasicBlock*> sources(llvm::pred_begin(&block), llvm::pred_end(&block));
  std::size_t side = 0;
  if (sources.size() > 1) {
    reach(*from);  // what all sides have in common comes first
    const auto taken = choose(&block, sources.size(), &block);
    if (!taken) return give_up();
    side = *taken;
  }
  reach_over(*sources[side], block);
}

}  // namespace nuna::compiler
