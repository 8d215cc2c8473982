#include "codegen/strided_loops.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <map>
#include <optional>

#include "codegen/intrinsics.hpp"
#include "codegen/thread_affine.hpp"
#include "codegen/uniformity.hpp"

namespace nuna::compiler {

namespace {

using llvm::Value;

/// Whether `value` is a number of things, or a place among them, by how it is made: sums and products of indices, sizes, and what all
/// threads know, from which nothing is taken away.
bool is_count(const Value& value, int depth = 0) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&value))
    return constant->getValue().isNonNegative();
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (instruction == nullptr || special_register_of(*instruction)) return true;
  if (depth > 8) return false;
  switch (instruction->getOpcode()) {
    case llvm::Instruction::Load:
    case llvm::Instruction::PHI:
    case llvm::Instruction::LShr:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::URem:
      return true;
    case llvm::Instruction::Add:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Or:
    case llvm::Instruction::Shl:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::Trunc:
      return llvm::all_of(instruction->operands(),
                          [&](const auto& part) { return is_count(*part, depth + 1); });
    default:
      return false;
  }
}

/// What is known of a loop that threads share.
struct StridedLoop {
  llvm::Loop* loop = nullptr;
  llvm::PHINode* index = nullptr;
  Value* start = nullptr;
  Steps steps;                     ///< of start
  Value* stride = nullptr;         ///< added in each round
  llvm::ICmpInst* test = nullptr;  ///< in the loop's first block
  llvm::Value* tested = nullptr;   ///< the operand that is made of the index
  bool stays_when_true = true;
  bool rises = true;  ///< the threads with the least index are the last to leave, else those with the most
};

class Finder {
 public:
  explicit Finder(llvm::Function& kernel) : uniformity_(kernel), affine_(uniformity_) {}

  const Uniformity& uniformity() const { return uniformity_; }

  std::optional<StridedLoop> find(llvm::Loop& loop) {
    auto* header = loop.getHeader();
    auto* latch = loop.getLoopLatch();
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(header->getTerminator());
    if (!loop.isInnermost() || loop.getLoopPreheader() == nullptr || latch == nullptr || latch == header ||
        loop.getExitingBlock() != header || !branch->isConditional())
      return std::nullopt;
    StridedLoop found;
    found.loop = &loop;
    found.stays_when_true = loop.contains(branch->getSuccessor(0));
    found.test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (found.test == nullptr || found.test->getParent() != header || uniformity_.is_uniform(*found.test))
      return std::nullopt;
    if (!find_index(found) || !is_plain(found)) return std::nullopt;
    return found;
  }

 private:
  bool find_index(StridedLoop& found) {
    auto& loop = *found.loop;
    for (auto* varying : {found.test->getOperand(0), found.test->getOperand(1)}) {
      auto* fixed = found.test->getOperand(varying == found.test->getOperand(0) ? 1 : 0);
      auto* index = varying;
      if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(index))
        index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
      found.index = llvm::dyn_cast<llvm::PHINode>(index);
      found.tested = varying;
      if (found.index == nullptr || found.index->getParent() != loop.getHeader() ||
          found.index->getType()->getIntegerBitWidth() < 32 || !is_known_before(loop, *fixed) ||
          !uniformity_.is_uniform(*fixed))
        continue;
      auto predicate = varying == found.test->getOperand(0) ? found.test->getPredicate()
                                                            : found.test->getSwappedPredicate();
      if (!found.stays_when_true) predicate = llvm::CmpInst::getInversePredicate(predicate);
      if (llvm::ICmpInst::isEquality(predicate)) continue;
      found.rises = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
      const bool is_signed = llvm::ICmpInst::isSigned(predicate) && !llvm::isa<llvm::ZExtInst>(varying);
      return find_stride(found) && keeps_order(found, is_signed);
    }
    return false;
  }

  /// Whether the thread that begins last, as numbers go, leaves first, and none comes back. Signed numbers do not pass 2^31 in
  /// any program whose accesses lie within their arrays; unsigned ones pass zero where something was taken from them.
  static bool keeps_order(const StridedLoop& found, bool is_signed) {
    if (!is_signed) return found.rises && is_count(*found.start) && is_count(*found.stride);
    if (found.rises) return is_count(*found.stride);
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(found.stride);
    if (constant != nullptr) return constant->isNegative();
    const auto* taken = llvm::dyn_cast<llvm::BinaryOperator>(found.stride);
    return taken != nullptr && taken->getOpcode() == llvm::Instruction::Sub &&
           llvm::PatternMatch::match(taken->getOperand(0), llvm::PatternMatch::m_Zero()) &&
           is_count(*taken->getOperand(1));
  }

  /// Whether `value` can be computed before `loop`.
  bool is_known_before(const llvm::Loop& loop, const Value& value) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (instruction == nullptr || !loop.contains(instruction)) return true;
    const auto found = known_before_.find(instruction);
    if (found != known_before_.end()) return found->second;
    bool known = !llvm::isa<llvm::PHINode>(instruction) && !instruction->mayReadOrWriteMemory() &&
                 (special_register_of(*instruction) || llvm::isSafeToSpeculativelyExecute(instruction));
    known = known && llvm::all_of(instruction->operands(),
                                  [&](const auto& operand) { return is_known_before(loop, *operand); });
    return known_before_[instruction] = known;
  }

  bool find_stride(StridedLoop& found) {
    auto& loop = *found.loop;
    found.start = found.index->getIncomingValueForBlock(loop.getLoopPreheader());
    const auto steps = affine_.steps_of(*found.start);
    if (!steps || steps->none()) return false;
    found.steps = *steps;
    auto* next =
        llvm::dyn_cast<llvm::BinaryOperator>(found.index->getIncomingValueForBlock(loop.getLoopLatch()));
    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add) return false;
    const bool first = next->getOperand(0) == found.index;
    found.stride = next->getOperand(first ? 1 : 0);
    return (first || next->getOperand(1) == found.index) && is_known_before(loop, *found.stride) &&
           uniformity_.is_uniform(*found.stride);
  }

  /// Whether threads may run the loop's rounds at any time, and nobody behind the loop asks for its count.
  static bool is_plain(const StridedLoop& found) {
    auto* header = found.loop->getHeader();
    for (auto* block : found.loop->blocks()) {
      for (auto& instruction : *block) {
        if (suspends(instruction)) return false;
        if (block != header) continue;
        if (instruction.mayReadOrWriteMemory()) return false;
        const bool stays = !llvm::isa<llvm::PHINode>(instruction) || &instruction == found.index;
        for (const auto* user : instruction.users()) {
          if (stays && !found.loop->contains(llvm::cast<llvm::Instruction>(user))) return false;
        }
      }
    }
    return true;
  }

  Uniformity uniformity_;
  ThreadAffine affine_;
  std::map<const llvm::Instruction*, bool> known_before_;
};

class Rewriter {
 public:
  Rewriter(const StridedLoop& found, const Uniformity& uniformity)
      : found_(found), uniformity_(uniformity), at_(found.loop->getLoopPreheader()->getTerminator()) {}

  /// Every thread counts with the one that leaves last, and works where its own count is inside.
  void run() {
    auto* header = found_.loop->getHeader();
    auto* latch = found_.loop->getLoopLatch();
    auto* type = found_.index->getType();
    auto* first = last_to_leave(*found_.start);
    auto* offset = offset_from_last(type);
    const bool left = found_.test->getOperand(0) == found_.tested;
    auto* bound = before_loop(*found_.test->getOperand(left ? 1 : 0));
    auto* stride = before_loop(*found_.stride);

    auto* work = header->splitBasicBlock(header->getFirstNonPHIIt(), "mine");
    auto* count = llvm::PHINode::Create(type, 2, "count", header->begin());
    count->addIncoming(first, found_.loop->getLoopPreheader());
    at_.SetInsertPoint(work, work->begin());
    auto* index = at_.CreateAdd(count, offset, "index");

    // All leave when the last one does.
    auto* leave = llvm::cast<llvm::BranchInst>(work->getTerminator());
    auto* exit = leave->getSuccessor(found_.stays_when_true ? 1 : 0);
    auto* through = header->getTerminator();
    at_.SetInsertPoint(through);
    Value* tested = count;
    if (found_.tested != found_.index)
      tested = at_.CreateCast(llvm::cast<llvm::CastInst>(found_.tested)->getOpcode(), count,
                              found_.tested->getType());
    auto* all = left ? at_.CreateICmp(found_.test->getPredicate(), tested, bound)
                     : at_.CreateICmp(found_.test->getPredicate(), bound, tested);
    found_.stays_when_true ? at_.CreateCondBr(all, work, exit) : at_.CreateCondBr(all, exit, work);
    through->eraseFromParent();

    // A thread whose own count is outside passes by.
    auto* round =
        llvm::BasicBlock::Create(header->getContext(), "round", header->getParent(), latch->getNextNode());
    leave->setSuccessor(found_.stays_when_true ? 1 : 0, round);
    for (auto& phi : exit->phis()) phi.replaceIncomingBlockWith(work, header);
    latch->getTerminator()->replaceSuccessorWith(header, round);
    at_.SetInsertPoint(round);
    for (auto& phi : header->phis()) {
      if (&phi == count || &phi == found_.index) continue;
      auto* merged = at_.CreatePHI(phi.getType(), 2);
      merged->addIncoming(&phi, work);
      merged->addIncoming(phi.getIncomingValueForBlock(latch), latch);
      phi.setIncomingValueForBlock(latch, merged);
      phi.replaceIncomingBlockWith(latch, round);
    }
    count->addIncoming(at_.CreateAdd(count, stride), round);
    auto* again = at_.CreateBr(header);
    again->setMetadata(llvm::LLVMContext::MD_loop,
                       latch->getTerminator()->getMetadata(llvm::LLVMContext::MD_loop));
    latch->getTerminator()->setMetadata(llvm::LLVMContext::MD_loop, nullptr);
    found_.index->replaceAllUsesWith(index);
    found_.index->eraseFromParent();
  }

 private:
  bool at_end(unsigned axis) const { return (found_.steps.along[axis] > 0) != found_.rises; }

  Value* last_index(unsigned axis) {
    auto* kernel = found_.loop->getHeader()->getParent();
    auto* read = kernel->getParent()->getFunction("__nuna_sreg");
    return at_.CreateSub(at_.CreateCall(read, {at_.getInt32(kBlockDim + axis)}), at_.getInt32(1));
  }

  /// A value of the loop that is known before it, computed there.
  Value* before_loop(Value& value) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (instruction == nullptr || !found_.loop->contains(instruction)) return &value;
    auto& copy = before_[instruction];
    if (copy != nullptr) return copy;
    auto* again = instruction->clone();
    for (auto& operand : again->operands()) operand.set(before_loop(*operand));
    again->dropPoisonGeneratingAnnotations();
    return copy = at_.Insert(again);
  }

  /// `value` as the thread computes it that is the last to leave.
  Value* last_to_leave(Value& value) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (instruction == nullptr || uniformity_.is_uniform(value)) return &value;
    auto& copy = copies_[instruction];
    if (copy != nullptr) return copy;
    if (const auto k = special_register_of(*instruction))
      return copy = at_end(*k) ? last_index(*k) : at_.getInt32(0);
    auto* again = instruction->clone();
    for (auto& operand : again->operands()) {
      if (!llvm::isa<llvm::Function>(operand)) operand.set(last_to_leave(*operand));
    }
    again->dropPoisonGeneratingAnnotations();
    return copy = at_.Insert(again);
  }

  /// How far this thread's index lies behind or before that of the last one.
  Value* offset_from_last(llvm::Type* type) {
    Value* sum = llvm::ConstantInt::get(type, 0);
    auto* read = found_.loop->getHeader()->getModule()->getFunction("__nuna_sreg");
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto step = found_.steps.along[axis];
      if (step == 0) continue;
      Value* distance = at_.CreateCall(read, {at_.getInt32(kThreadIdx + axis)});
      if (at_end(axis)) distance = at_.CreateSub(distance, last_index(axis));
      auto* factor = llvm::ConstantInt::getSigned(type, step);
      sum = at_.CreateAdd(sum, at_.CreateMul(at_.CreateSExtOrTrunc(distance, type), factor));
    }
    return sum;
  }

  const StridedLoop& found_;
  const Uniformity& uniformity_;
  llvm::IRBuilder<> at_;
  std::map<llvm::Instruction*, Value*> before_;
  std::map<llvm::Instruction*, Value*> copies_;
};

/// Rewrites one loop, if there is one.
bool share_one(llvm::Function& kernel) {
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  for (auto* loop : loops) llvm::simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
  Finder finder(kernel);
  for (auto* loop : loops.getLoopsInPreorder()) {
    const auto found = finder.find(*loop);
    if (!found) continue;
    Rewriter(*found, finder.uniformity()).run();
    return true;
  }
  return false;
}

}  // namespace

void share_strided_loops(llvm::Function& kernel) {
  while (share_one(kernel)) {
  }
}

}  // namespace nuna::compiler
