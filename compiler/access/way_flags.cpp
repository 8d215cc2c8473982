// Flags that loops hand on: `bool done; for (...) { done = false; if (...) done = true; } if (done) ...`.
//
// Behind the loop a flag is what its last round left; at the beginning of a round what the round before left, or, where rounds may
// keep it, any earlier one: by induction over the rounds, who has set it has done so by a way that does not begin with "it was set
// before". Conditions of such rounds are of variables of their own. They hold, but do not say that nobody else writes: these ways
// are not exact.

#include <llvm/IR/CFG.h>

#include <limits>

#include "access/way.hpp"

namespace nuna::compiler {

namespace {

constexpr std::size_t kMostAsked = 4;

/// Whether what `flag` is at the end of a round may be what it was at the beginning.
bool may_be_kept(const llvm::PHINode& flag, const llvm::Loop& loop) {
  std::vector<const llvm::Value*> work{flag.getIncomingValueForBlock(loop.getLoopLatch())};
  std::set<const llvm::Value*> seen;
  while (!work.empty()) {
    const auto* value = work.back();
    work.pop_back();
    if (value == &flag) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr || !loop.contains(instruction) || !seen.insert(value).second) continue;
    for (const auto& operand : instruction->operands()) work.push_back(operand);
  }
  return false;
}

/// Whether `value` is 0 or 1, as it goes from phi to phi.
bool is_zero_or_one(const llvm::PHINode& value) {
  std::vector<const llvm::Value*> work{&value};
  std::set<const llvm::Value*> seen;
  while (!work.empty()) {
    const auto* one = work.back();
    work.pop_back();
    if (!seen.insert(one).second || llvm::isa<llvm::UndefValue>(one)) continue;
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(one);
    const auto* bit = llvm::dyn_cast<llvm::ZExtInst>(one);
    if ((number != nullptr && number->getValue().ule(1)) ||
        (bit != nullptr && bit->getSrcTy()->isIntegerTy(1)))
      continue;
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(one);
    const auto* select = llvm::dyn_cast<llvm::SelectInst>(one);
    if (phi == nullptr && select == nullptr) return false;
    if (phi != nullptr) work.insert(work.end(), phi->value_op_begin(), phi->value_op_end());
    if (select != nullptr) work.insert(work.end(), {select->getTrueValue(), select->getFalseValue()});
  }
  return true;
}

}  // namespace

/// `flag == number`, of a flag that is kept as a number; whether it was one.
bool Way::require_flag(llvm::CmpInst::Predicate predicate, const llvm::Value& flag,
                       const llvm::Value& number) {
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(&flag);
  const auto* bit = llvm::dyn_cast<llvm::ConstantInt>(&number);
  const bool compares = llvm::ICmpInst::isEquality(predicate) && bit != nullptr && bit->getValue().ule(1);
  if (phi == nullptr || !compares || !is_zero_or_one(*phi)) return false;
  require_bit(flag, bit->isOne() == (predicate == llvm::CmpInst::ICMP_EQ));
  return true;
}

/// The lowest bit of a number.
void Way::require_bit(const llvm::Value& flag, bool truth) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&flag)) {
    if (number->getValue()[0] != truth) is_impossible_ = true;
  } else if (llvm::isa<llvm::UndefValue>(flag)) {
    give_up();
  } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&flag)) {
    require_bit_of_phi(*phi, truth);
  } else if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&flag);
             cast != nullptr && cast->getSrcTy()->isIntegerTy()) {
    require_bit(*cast->getOperand(0), truth);
  } else if (flag.getType()->isIntegerTy(1)) {
    require(flag, truth);
  } else if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&flag)) {
    const auto* operand = taken(*select);
    operand != nullptr ? require_bit(*operand, truth) : give_up();
  } else if (const auto whole = congruent(flag)) {
    const auto odd = sum(whole, quotient(whole, constant(2)), -2);
    require_equal(odd, constant(truth ? 1 : 0), true);
  } else {
    give_up();
  }
}

void Way::require_bit_of_phi(const llvm::PHINode& flag, bool truth) {
  const auto& block = *flag.getParent();
  if (code_.loops.isLoopHeader(&block)) return require_bit_at_header(flag, truth);
  const std::vector<const llvm::BasicBlock*> from(llvm::pred_begin(&block), llvm::pred_end(&block));
  const bool decided = found_.chosen.count(&block) != 0;
  const auto side = choose(&block, from.size(), &block);
  if (!side || from.size() != flag.getNumIncomingValues()) return give_up();
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(flag.getIncomingValueForBlock(from[*side]));
  if (number != nullptr && number->getValue()[0] != truth) {
    is_impossible_ = true;
    return;
  }
  if (!leave_loop_over(*from[*side], block) && !decided) reach_over(*from[*side], block);
  require_bit(*flag.getIncomingValueForBlock(from[*side]), truth);
}

/// Whether the edge ends a loop. What holds on it holds in the last round.
bool Way::leave_loop_over(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  const auto* loop = code_.loops.getLoopFor(&from);
  if (loop == nullptr || loop->contains(&to) || !follows_flags_) return false;
  if (!left_over_.insert({&from, &to}).second) return true;
  give_up();
  reach(from);
  follow(from, to);
  return true;
}

void Way::require_bit_at_header(const llvm::PHINode& flag, bool truth) {
  const auto& loop = *code_.loops.getLoopFor(flag.getParent());
  const bool is_plain = loop.getLoopPreheader() != nullptr && loop.getLoopLatch() != nullptr;
  if (!follows_flags_ || !is_plain || before_ != nullptr) return give_up();
  for (const auto& asked : asked_) {
    if (asked.flag != &flag) continue;
    if (asked.truth == truth && asked.is_kept) is_impossible_ = true;  // whoever it was, another way says so
    return give_up();
  }
  reach(*loop.getHeader());
  const bool is_kept = may_be_kept(flag, loop);
  const auto side = choose(&flag, 2, flag.getParent());
  if (!side || asked_.size() == kMostAsked) return give_up();
  const auto round = variable(rounds_.at(&loop));
  if (*side == 0) {
    is_kept ? give_up() : require_at_least_zero(round, true);
    return require_bit(*flag.getIncomingValueForBlock(loop.getLoopPreheader()), truth);
  }
  go_back_to_earlier_round(loop, !is_kept, [&] {
    asked_.push_back({&flag, truth, is_kept});
    reach(*loop.getLoopLatch());
    follow(*loop.getLoopLatch(), *loop.getHeader());
    require_bit(*flag.getIncomingValueForBlock(loop.getLoopLatch()), truth);
  });
}

/// What `look` finds of values in the loop is of the round before this one, or else of some earlier one.
void Way::go_back_to_earlier_round(const llvm::Loop& loop, bool is_last, const std::function<void()>& look) {
  const int earlier = add_extra({0, std::numeric_limits<long double>::infinity()});
  require_at_least_zero(variable(earlier));
  require_at_least_zero(sum(sum(variable(rounds_.at(&loop)), constant(-1)), variable(earlier), -1), is_last);
  give_up();
  const auto in_loop = [&loop](const llvm::Value* value) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    return instruction != nullptr && loop.contains(instruction);
  };
  const auto reached = reached_;
  const auto rounds = rounds_;
  const auto left_over = left_over_;
  const auto unknown = unknown_;
  const auto asked = asked_;
  auto found = found_;
  std::erase_if(reached_, [&](const auto* block) { return loop.contains(block); });
  std::erase_if(rounds_, [&](const auto& one) { return loop.contains(one.first); });
  std::erase_if(left_over_, [&](const auto& edge) { return loop.contains(edge.first); });
  std::erase_if(unknown_, [&](const auto& one) { return in_loop(one.first.first); });
  std::erase_if(asked_, [&](const auto& one) {
    return one.flag->getParent() != loop.getHeader() && loop.contains(one.flag->getParent());
  });
  for (auto* values : {&found_.congruent, &found_.exact[0], &found_.exact[1]})
    std::erase_if(*values, [&](const auto& one) { return in_loop(one.first); });
  std::erase_if(found_.chosen, [&](const auto& one) {
    return one.second.where == nullptr || loop.contains(one.second.where);
  });
  rounds_[&loop] = earlier;
  reached_.insert(loop.getHeader());
  const auto* target = std::exchange(target_, loop.getLoopLatch());
  const auto* leaving = std::exchange(leaving_, nullptr);
  look();
  leaving_ = leaving;
  target_ = target;
  for (const auto& [between, chosen] : found_.chosen) {
    if (chosen.where != nullptr && !loop.contains(chosen.where)) found.chosen.try_emplace(between, chosen);
  }
  found_ = std::move(found);
  asked_ = asked;
  unknown_ = unknown;
  left_over_ = left_over;
  rounds_ = rounds;
  reached_ = reached;
}

}  // namespace nuna::compiler
