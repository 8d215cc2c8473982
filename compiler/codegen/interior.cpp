#include "codegen/interior.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstddef>

#include "codegen/analyses.hpp"
#include "codegen/block_call.hpp"
#include "codegen/intrinsics.hpp"
#include "codegen/loops.hpp"
#include "codegen/thread_affine.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

using llvm::Value;

/// Constants from here on are taken for the size of something; smaller ones for its beginning, or the width of a halo.
constexpr std::uint64_t kLeastSize = 64;

bool is_guard(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::ICmpInst, llvm::MinMaxIntrinsic>(instruction) &&
         instruction.getOperand(0)->getType()->isIntegerTy();
}

/// Grids begin at zero and end at their sizes: a block in the midst lies above small constants and below everything else.
bool lies_below(const Value& bound) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&bound);
  return constant == nullptr || constant->getValue().abs().uge(kLeastSize);
}

/// Computes values of a kernel for the threads in a block's corners.
class Corners {
 public:
  Corners(llvm::IRBuilder<>& at, llvm::Function& test, const llvm::Function& kernel)
      : at_(at), call_(at, test), test_(test) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      block_[axis] = call_.block(axis);
      last_[axis] = at_.CreateSub(block_[axis], at_.getInt32(1));
      grid_[axis] = call_.grid(axis);
    }
    for (const auto& argument : kernel.args()) arguments_[&argument] = call_.argument(argument);
  }

  Value* least(const Value& value, const Steps& steps) { return at_corner(value, steps, false); }
  Value* most(const Value& value, const Steps& steps) { return at_corner(value, steps, true); }

 private:
  Value* at_corner(const Value& value, const Steps& steps, bool most) {
    unsigned corner = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (steps.along[axis] != 0 && (steps.along[axis] > 0) == most) corner |= 1u << axis;
    }
    return copy(value, corner);
  }

  Value* copy(const Value& value, unsigned corner) {
    if (llvm::isa<llvm::Constant>(value)) return const_cast<Value*>(&value);
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value)) return arguments_.at(argument);
    auto*& made = made_[{&value, corner}];
    if (made == nullptr) made = copy_instruction(llvm::cast<llvm::Instruction>(value), corner);
    return made;
  }

  Value* copy_instruction(const llvm::Instruction& instruction, unsigned corner) {
    if (const auto k = special_register_of(instruction)) {
      const unsigned axis = *k % 3;
      if (*k < kBlockIdx) return (corner >> axis & 1) != 0 ? last_[axis] : at_.getInt32(0);
      if (*k < kBlockDim) return test_.getArg(1 + axis);
      return *k < kGridDim ? block_[axis] : grid_[axis];
    }
    auto* again = instruction.clone();
    for (auto& operand : again->operands()) {
      if (!llvm::isa<llvm::Function>(operand)) operand.set(copy(*operand, corner));
    }
    again->dropPoisonGeneratingAnnotations();  // the corner's thread need not come here
    again->setDebugLoc({});
    at_.Insert(again);
    return again;
  }

  llvm::IRBuilder<>& at_;
  BlockCall call_;
  llvm::Function& test_;
  Value* block_[3] = {};
  Value* last_[3] = {};
  Value* grid_[3] = {};
  std::map<const llvm::Argument*, Value*> arguments_;
  std::map<std::pair<const Value*, unsigned>, Value*> made_;
};

/// How the guard, a comparison, compares its varying value with its bound.
llvm::CmpInst::Predicate predicate_of(const Guard& guard) {
  const auto& comparison = llvm::cast<llvm::ICmpInst>(*guard.instruction);
  return comparison.getOperand(0) == guard.varying ? comparison.getPredicate()
                                                   : comparison.getSwappedPredicate();
}

/// What the guard is in the interior.
Value* interior_value(const Guard& guard) {
  using Predicate = llvm::CmpInst::Predicate;
  if (const auto* choice = llvm::dyn_cast<llvm::MinMaxIntrinsic>(guard.instruction)) {
    const bool minimum = choice->getIntrinsicID() == llvm::Intrinsic::smin ||
                         choice->getIntrinsicID() == llvm::Intrinsic::umin;
    return minimum == guard.below ? guard.varying : guard.bound;
  }
  const auto predicate = predicate_of(guard);
  bool truth = predicate == Predicate::ICMP_NE;
  if (llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate)) truth = guard.below;
  if (llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate)) truth = !guard.below;
  return llvm::ConstantInt::getBool(guard.instruction->getType(), truth);
}

void assume_inside(const Guard& guard, ThreadAffine& affine) {
  if (!llvm::isa<llvm::MinMaxIntrinsic>(guard.instruction)) return;
  affine.assume(*guard.instruction, affine.steps_of(*interior_value(guard)).value());
}

/// Emits what must hold for guards to be the same for all threads of a block. Between the least and the most of a value that does
/// not wrap lie those of all other threads, so that an order that holds for both holds for all.
class TestWriter {
 public:
  TestWriter(llvm::IRBuilder<>& at, llvm::Function& test, const llvm::Function& kernel)
      : at_(at), corners_(at, test, kernel), holds_(at.getTrue()) {}

  void require(const Guard& guard) {
    assume_inside(guard, affine_);
    const auto steps = affine_.steps_of(*guard.varying).value();
    auto* least = corners_.least(*guard.varying, steps);
    auto* most = corners_.most(*guard.varying, steps);
    auto* bound = corners_.least(*guard.bound, Steps{});
    require(at_.CreateICmpSLE(least, most));
    affine_.for_extended(*guard.varying, [&](const Value& part, const Steps& along, bool from_zero) {
      auto* lower = corners_.least(part, along);
      require(at_.CreateICmpSLE(lower, corners_.most(part, along)));
      if (from_zero) require(at_.CreateICmpSGE(lower, llvm::ConstantInt::get(lower->getType(), 0)));
    });
    if (const auto* choice = llvm::dyn_cast<llvm::MinMaxIntrinsic>(guard.instruction)) {
      const bool is_signed = llvm::MinMaxIntrinsic::isSigned(choice->getIntrinsicID());
      if (!is_signed) require_same_sign(least, most);
      require(guard.below ? (is_signed ? at_.CreateICmpSLE(most, bound) : at_.CreateICmpULE(most, bound))
                          : (is_signed ? at_.CreateICmpSGE(least, bound) : at_.CreateICmpUGE(least, bound)));
      return;
    }
    const auto predicate = predicate_of(guard);
    if (llvm::ICmpInst::isEquality(predicate)) {
      require(guard.below ? at_.CreateICmpSLT(most, bound) : at_.CreateICmpSGT(least, bound));
      return;
    }
    if (llvm::ICmpInst::isUnsigned(predicate)) require_same_sign(least, most);
    auto* truth = interior_value(guard);
    require(at_.CreateICmpEQ(at_.CreateICmp(predicate, least, bound), truth));
    require(at_.CreateICmpEQ(at_.CreateICmp(predicate, most, bound), truth));
  }

  Value* holds() const { return holds_; }

 private:
  void require(Value* condition) { holds_ = at_.CreateAnd(holds_, condition); }
  void require_same_sign(Value* a, Value* b) {
    require(at_.CreateICmpSGE(at_.CreateXor(a, b), llvm::ConstantInt::get(a->getType(), 0)));
  }

  llvm::IRBuilder<>& at_;
  Corners corners_;
  ThreadAffine affine_;
  Value* holds_;
};

/// Whether the test can see that the value, or an extended part of it, wraps within a block: in few bits it may come round again.
bool shows_wraps(ThreadAffine& affine, const Value& varying) {
  bool wide = varying.getType()->getIntegerBitWidth() >= 32;
  affine.for_extended(varying, [&](const Value& part, const Steps&, bool) {
    wide = wide && part.getType()->getIntegerBitWidth() >= 32;
  });
  return wide;
}

llvm::Function* copy_with(llvm::Function& kernel, const char* suffix, llvm::ValueToValueMapTy& map) {
  auto* copy = llvm::CloneFunction(&kernel, map);
  copy->setName(kernel.getName() + suffix);
  copy->setLinkage(llvm::GlobalValue::InternalLinkage);
  copy->setComdat(nullptr);
  return copy;
}

}  // namespace

std::vector<Guard> find_guards(llvm::Function& kernel) {
  ThreadAffine affine;
  std::vector<Guard> guards;
  for (auto& instruction : llvm::instructions(kernel)) {
    if (!is_guard(instruction)) continue;
    for (const unsigned i : {0u, 1u}) {
      auto* varying = instruction.getOperand(i);
      auto* bound = instruction.getOperand(1 - i);
      const auto steps = affine.steps_of(*varying);
      const auto fixed = affine.steps_of(*bound);
      if (!steps || steps->none() || !fixed || !fixed->none() || !affine.knows_block(*varying)) continue;
      if (!shows_wraps(affine, *varying)) continue;
      guards.push_back({&instruction, varying, bound, lies_below(*bound)});
      assume_inside(guards.back(), affine);
      break;
    }
  }
  return guards;
}

llvm::Function* copy_kernel(llvm::Function& kernel, const char* suffix) {
  llvm::ValueToValueMapTy map;
  return copy_with(kernel, suffix, map);
}

llvm::Function* make_interior_kernel(llvm::Function& kernel, const std::vector<Guard>& guards,
                                     llvm::TargetMachine& machine) {
  llvm::ValueToValueMapTy map;
  auto* interior = copy_with(kernel, ".interior", map);
  for (const auto& guard : guards) {
    auto* copy = llvm::cast<llvm::Instruction>(static_cast<Value*>(map[guard.instruction]));
    auto* value = interior_value(guard);
    copy->replaceAllUsesWith(
        llvm::isa<llvm::Constant>(value) || map.count(value) == 0 ? value : static_cast<Value*>(map[value]));
  }
  Analyses analyses(machine);
  analyses.builder()
      .buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None)
      .run(*interior, analyses.functions());
  return interior;
}

llvm::Function* make_interior_test(const llvm::Function& kernel, const std::vector<Guard>& guards,
                                   const std::string& name) {
  auto& context = kernel.getContext();
  llvm::IRBuilder<> at(context);
  auto* i32 = at.getInt32Ty();
  auto* type = llvm::FunctionType::get(at.getInt1Ty(), {at.getPtrTy(), i32, i32, i32}, false);
  auto* test = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name,
                                      const_cast<llvm::Module*>(kernel.getParent()));
  test->addFnAttr(llvm::Attribute::AlwaysInline);
  test->addParamAttr(0, llvm::Attribute::NoAlias);
  test->addParamAttr(0, llvm::Attribute::ReadOnly);
  at.SetInsertPoint(llvm::BasicBlock::Create(context, "", test));
  TestWriter writer(at, *test, kernel);
  for (const auto& guard : guards) writer.require(guard);
  at.CreateRet(at.CreateFreeze(writer.holds()));  // shifts and conversions out of range are poison
  return test;
}

llvm::Function* make_interior_choice(llvm::Function& test, llvm::Function& interior, llvm::Function& edge,
                                     const std::string& name) {
  auto& context = test.getContext();
  auto* choice = llvm::Function::Create(interior.getFunctionType(), llvm::GlobalValue::InternalLinkage, name,
                                        test.getParent());
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "", choice));
  const BlockCall call(at, *choice);
  auto* i32 = at.getInt32Ty();
  auto* part = at.CreateAlloca(llvm::ArrayType::get(at.getInt8Ty(), sizeof(nuna_block_call)));
  part->setAlignment(llvm::Align(alignof(nuna_block_call)));
  at.CreateMemCpy(part, part->getAlign(), choice->getArg(0), part->getAlign(), sizeof(nuna_block_call));
  auto set = [&](std::size_t offset, unsigned axis, Value* value) {
    at.CreateStore(value, at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), part, offset + 4 * axis));
  };
  auto set_row = [&](unsigned axis, Value* index) {
    set(offsetof(nuna_block_call, first), axis, index);
    set(offsetof(nuna_block_call, last), axis, at.CreateAdd(index, at.getInt32(1)));
  };
  Value* first[3];
  Value* last[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    first[axis] = call.first(axis);
    last[axis] = call.last(axis);
  }
  build_loop(at, first[2], last[2], "z", [&](Value* z) {
    set_row(2, z);
    build_loop(at, first[1], last[1], "y", [&](Value* y) {
      set_row(1, y);
      auto is_inside = [&](Value* x) { return at.CreateCall(&test, {choice->getArg(0), x, y, z}); };
      auto* before = at.GetInsertBlock();
      auto* run = llvm::BasicBlock::Create(context, "run", choice);
      auto* longer = llvm::BasicBlock::Create(context, "longer", choice);
      auto* ask = llvm::BasicBlock::Create(context, "ask", choice);
      auto* found = llvm::BasicBlock::Create(context, "found", choice);
      auto* in_interior = llvm::BasicBlock::Create(context, "interior", choice);
      auto* at_edge = llvm::BasicBlock::Create(context, "edge", choice);
      auto* next = llvm::BasicBlock::Create(context, "next", choice);
      auto* done = llvm::BasicBlock::Create(context, "done", choice);
      at.CreateBr(run);
      at.SetInsertPoint(run);  // blocks [begin, end) all lie inside, or all do not
      auto* begin = at.CreatePHI(i32, 2, "begin");
      begin->addIncoming(first[0], before);
      auto* inside = is_inside(begin);
      at.CreateBr(longer);
      at.SetInsertPoint(longer);
      auto* known = at.CreatePHI(i32, 2, "known");
      known->addIncoming(begin, run);
      auto* end = at.CreateAdd(known, at.getInt32(1), "end");
      known->addIncoming(end, ask);
      at.CreateCondBr(at.CreateICmpULT(end, last[0]), ask, found);
      at.SetInsertPoint(ask);
      at.CreateCondBr(at.CreateICmpEQ(is_inside(end), inside), longer, found);
      at.SetInsertPoint(found);
      set(offsetof(nuna_block_call, first), 0, begin);
      set(offsetof(nuna_block_call, last), 0, end);
      at.CreateCondBr(inside, in_interior, at_edge);
      at.SetInsertPoint(in_interior);
      at.CreateCall(&interior, {part});
      at.CreateBr(next);
      at.SetInsertPoint(at_edge);
      at.CreateCall(&edge, {part});
      at.CreateBr(next);
      at.SetInsertPoint(next);
      begin->addIncoming(end, next);
      at.CreateCondBr(at.CreateICmpULT(end, last[0]), run, done);
      at.SetInsertPoint(done);
    });
  });
  at.CreateRetVoid();
  return choice;
}

}  // namespace nuna::compiler
