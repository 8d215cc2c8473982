// Rounds of loops, and what grows with them.

#include <llvm/Analysis/ScalarEvolutionExpressions.h>

#include <limits>

#include "access/way.hpp"

namespace nuna::compiler {

using access::Constraint;
using access::Polynomial;

namespace {

constexpr long double kInfinite = std::numeric_limits<long double>::infinity();

bool mentions(const Polynomial& polynomial, int variable) {
  return !coefficient_of(polynomial, variable).empty();
}

/// The successor of `exiting` in the loop; null where there are several.
const llvm::BasicBlock* inside_of(const llvm::Loop& loop, const llvm::BasicBlock& exiting) {
  const llvm::BasicBlock* inside = nullptr;
  for (const auto* next : llvm::successors(&exiting)) {
    if (!loop.contains(next)) continue;
    if (inside != nullptr && inside != next) return nullptr;
    inside = next;
  }
  return inside;
}

}  // namespace

/// `towards` is where the way goes to: exits that it passes after the header say themselves that the thread stays.
void Way::begin_rounds(const llvm::Loop& loop, const llvm::BasicBlock& towards) {
  const int round = add_extra({0, kInfinite});
  rounds_[&loop] = round;
  require_at_least_zero(variable(round));
  const auto* latch = loop.getLoopLatch();
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  if (latch == nullptr || !loop.contains(&towards)) return give_up();
  for (const auto* exit : exiting) {
    const auto* inside = inside_of(loop, *exit);
    const bool every_round = code_.dominators.dominates(exit, latch) && code_.loops.getLoopFor(exit) == &loop;
    if (inside == nullptr || !every_round) {
      give_up();
      continue;
    }
    if (exit != &towards && code_.dominators.dominates(exit, &towards)) continue;
    // Its condition let the thread pass at the end of the round before, if there was one.
    const auto side = take_one_of(2);
    if (!side) {
      give_up();
    } else if (*side == 0) {
      require_at_least_zero(variable(round), true);
    } else if (const auto stayed = stayed_before(loop, *exit, *inside)) {
      require_at_least_zero(sum(variable(round), constant(-1)));
      const auto first = constraints_.size();
      for (const auto& one : *stayed) require_at_least_zero(one.left, one.is_equality);
      for (auto i = first; i < constraints_.size(); ++i) check_falls(loop, constraints_[i]);
    } else {
      give_up();
    }
  }
}

/// What kept the thread inside in the round before this one; nothing where that cannot be told.
std::optional<std::vector<Constraint>> Way::stayed_before(const llvm::Loop& loop,
                                                          const llvm::BasicBlock& exiting,
                                                          const llvm::BasicBlock& inside) {
  if (before_ != nullptr) return std::nullopt;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exiting.getTerminator());
  if (branch == nullptr || !branch->isConditional()) return std::nullopt;
  const bool was_exact = std::exchange(is_exact_, true);
  const auto* left = std::exchange(leaving_, &loop);
  auto constraints = std::exchange(constraints_, {});
  const bool was_impossible = is_impossible_;
  auto found = std::exchange(found_, {});
  before_ = &loop;
  require(*branch->getCondition(), branch->getSuccessor(0) == &inside);
  before_ = nullptr;
  found_ = std::move(found);
  is_impossible_ = was_impossible;
  constraints_.swap(constraints);
  leaving_ = left;
  const bool is_whole = std::exchange(is_exact_, was_exact);
  if (!is_whole) return std::nullopt;
  return constraints;
}

/// Behind an exit that did not let the thread out: whether the same was true in earlier rounds.
void Way::check_stays(const llvm::Loop& loop, std::size_t from_constraint, std::size_t from_wrap,
                      const llvm::BasicBlock& exiting, const llvm::BasicBlock& inside) {
  for (auto i = from_constraint; is_exact_ && i < constraints_.size(); ++i)
    check_falls(loop, constraints_[i]);
  const auto assumed = wraps_.size();
  if (assumed == from_wrap) return;
  // What the condition is made of is computed in one round more than the thread stays for.
  const int round = rounds_.at(&loop);
  const auto quotients = quotients_;
  auto stayed = stayed_before(loop, exiting, inside);
  quotients_ = quotients;  // what defines others holds for these assumptions only
  for (auto i = from_wrap; i < assumed; ++i) {
    if (!mentions(wraps_[i].value, round) || !stayed) continue;
    auto first = wraps_[i];
    first.more.push_back({variable(round), true});
    wraps_[i].more.insert(wraps_[i].more.end(), stayed->begin(), stayed->end());
    wraps_.push_back(std::move(first));
  }
}

/// A condition of staying that falls from round to round is true in all rounds before one in which it is.
void Way::check_falls(const llvm::Loop& loop, const Constraint& stays) {
  const int round = rounds_.at(&loop);
  for (const auto& [of, made] : quotients_) {
    if (mentions(stays.left, made) && mentions(of.first, round)) return give_up();
  }
  const auto step = coefficient_of(stays.left, round);
  if (step.empty()) return;
  const auto steps = range(step);
  if (stays.is_equality || steps.low > 0) return give_up();
  if (steps.high <= 0 || before_ != nullptr) return;
  wraps_.push_back({*sum(constant(0), step, -1),
                    64,
                    false,
                    0,
                    {},
                    near_ != nullptr ? source_line(*near_) : access::SourceLine{}});
}

Maybe Way::round_of(const llvm::Loop& loop) const {
  const auto found = rounds_.find(&loop);
  if (found == rounds_.end()) return std::nullopt;
  return sum(variable(found->second), constant(&loop == before_ ? -1 : 0));
}

const llvm::SCEVAddRecExpr* Way::recurrence(const llvm::PHINode& phi) const {
  const auto* found =
      llvm::dyn_cast<llvm::SCEVAddRecExpr>(code_.evolution.getSCEV(const_cast<llvm::PHINode*>(&phi)));
  const bool affine =
      found != nullptr && found->isAffine() && found->getLoop()->getHeader() == phi.getParent();
  return affine && found->getLoop()->getLoopPreheader() != nullptr ? found : nullptr;
}

Maybe Way::of_recurrence(const llvm::PHINode& phi) {
  const auto* found = recurrence(phi);
  if (found == nullptr) return std::nullopt;
  const auto start = congruent(*phi.getIncomingValueForBlock(found->getLoop()->getLoopPreheader()));
  const auto step = of_scev(*found->getStepRecurrence(code_.evolution));
  return sum(start, product(step, round_of(*found->getLoop())));
}

std::optional<Address> Way::address_of_recurrence(const llvm::PHINode& phi) {
  const auto* found = recurrence(phi);
  if (found == nullptr) return std::nullopt;
  auto start = address(*phi.getIncomingValueForBlock(found->getLoop()->getLoopPreheader()));
  const auto step = of_scev(*found->getStepRecurrence(code_.evolution));
  const auto all =
      sum(start ? Maybe(start->offset) : std::nullopt, product(step, round_of(*found->getLoop())));
  if (!all) return std::nullopt;
  start->offset = *all;
  return start;
}

/// Whether no round takes it out of its type's range, as clang promises for `int i; ... ++i`.
bool Way::is_wrapless(const llvm::PHINode& phi, Sign sign) const {
  const auto* found = recurrence(phi);
  if (found == nullptr) return false;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(found->getStepRecurrence(code_.evolution));
  if (sign == Sign::has ? found->hasNoSignedWrap() : found->hasNoUnsignedWrap()) return step != nullptr;
  const auto* latch = found->getLoop()->getLoopLatch();
  const auto* next =
      latch != nullptr ? llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(latch)) : nullptr;
  if (next == nullptr || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != &phi)
    return false;
  const bool promised = sign == Sign::has ? next->hasNoSignedWrap() : next->hasNoUnsignedWrap();
  const bool by_argument = llvm::isa<llvm::Argument, llvm::ConstantInt>(next->getOperand(1));
  return promised && by_argument;
}

Maybe Way::of_scev(const llvm::SCEV& expression) {
  const auto all_of = [&](const llvm::SCEVNAryExpr& many, Maybe first, auto&& join) {
    for (const auto* operand : many.operands()) first = join(first, of_scev(*operand));
    return first;
  };
  if (const auto* number = llvm::dyn_cast<llvm::SCEVConstant>(&expression))
    return number_of(*number->getValue(), Sign::has);
  if (const auto* value = llvm::dyn_cast<llvm::SCEVUnknown>(&expression))
    return congruent(*value->getValue());
  if (const auto* added = llvm::dyn_cast<llvm::SCEVAddExpr>(&expression))
    return all_of(*added, constant(0), [](const Maybe& a, const Maybe& b) { return sum(a, b); });
  if (const auto* multiplied = llvm::dyn_cast<llvm::SCEVMulExpr>(&expression))
    return all_of(*multiplied, constant(1), [](const Maybe& a, const Maybe& b) { return product(a, b); });
  if (const auto* grown = llvm::dyn_cast<llvm::SCEVAddRecExpr>(&expression)) {
    if (!grown->isAffine() || !grown->getType()->isIntegerTy()) return std::nullopt;
    return sum(of_scev(*grown->getStart()),
               product(of_scev(*grown->getStepRecurrence(code_.evolution)), round_of(*grown->getLoop())));
  }
  if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(&expression)) {
    if (!cast->getOperand()->getType()->isIntegerTy()) return std::nullopt;
    if (const auto* value = llvm::dyn_cast<llvm::SCEVUnknown>(cast->getOperand());
        value != nullptr && !llvm::isa<llvm::SCEVTruncateExpr>(cast))
      return exact(*value->getValue(), llvm::isa<llvm::SCEVSignExtendExpr>(cast) ? Sign::has : Sign::has_not);
    const auto inner = of_scev(*cast->getOperand());
    if (llvm::isa<llvm::SCEVTruncateExpr>(cast) || near_ == nullptr) return inner;
    const auto bits = static_cast<int>(cast->getOperand()->getType()->getIntegerBitWidth());
    return fits(inner, bits, llvm::isa<llvm::SCEVSignExtendExpr>(cast) ? Sign::has : Sign::has_not, *near_);
  }
  if (const auto* divided = llvm::dyn_cast<llvm::SCEVUDivExpr>(&expression)) {
    const auto below = of_scev(*divided->getRHS());
    if (near_ == nullptr || !below || !constant_of(*below) || *constant_of(*below) <= 0) return std::nullopt;
    const auto bits = static_cast<int>(divided->getType()->getIntegerBitWidth());
    return quotient(fits(of_scev(*divided->getLHS()), bits, Sign::has_not, *near_), below);
  }
  if (const auto* extreme = llvm::dyn_cast<llvm::SCEVMinMaxExpr>(&expression)) return of_extreme(*extreme);
  return std::nullopt;
}

Maybe Way::of_extreme(const llvm::SCEVMinMaxExpr& extreme) {
  if (near_ == nullptr || !extreme.getType()->isIntegerTy()) return std::nullopt;
  const bool is_signed = llvm::isa<llvm::SCEVSMaxExpr, llvm::SCEVSMinExpr>(extreme);
  const bool is_most = llvm::isa<llvm::SCEVSMaxExpr, llvm::SCEVUMaxExpr>(extreme);
  const auto bits = static_cast<int>(extreme.getType()->getIntegerBitWidth());
  std::vector<Maybe> all;
  for (const auto* operand : extreme.operands())
    all.push_back(fits(of_scev(*operand), bits, is_signed ? Sign::has : Sign::has_not, *near_));
  const bool decided = found_.chosen.count(&extreme) != 0;
  const auto side = choose(&extreme, all.size(), nullptr);
  if (!side) return std::nullopt;
  for (const auto& other : all) {
    if (!other) return std::nullopt;
    if (!decided && &other != &all[*side])
      is_most ? require_less(other, all[*side], true) : require_less(all[*side], other, true);
  }
  return all[*side];
}

}  // namespace nuna::compiler
