#include "codegen/prefetch.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <optional>
#include <vector>

namespace nuna::compiler {

namespace {

/// Steps from block to block that are worth it: within them the processor finds the next line by itself where rows lie side by side,
/// beyond them tiles share no pages.
constexpr std::int64_t kLeastStep = 16;
constexpr std::int64_t kMostStep = 512;

/// How far ahead: memory answers within the time of two small blocks.
constexpr std::int64_t kBlocksAhead = 3;

/// A vector that is loaded or stored, and its address: of single values are the codes that hardly ever run.
struct Touch {
  llvm::Instruction* instruction = nullptr;
  llvm::Value* address = nullptr;
  bool writes = false;
};

std::optional<Touch> touch_of(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      load != nullptr && load->getType()->isVectorTy())
    return Touch{load, load->getPointerOperand()};
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      store != nullptr && store->getValueOperand()->getType()->isVectorTy())
    return Touch{store, store->getPointerOperand(), true};
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_load) return Touch{call, call->getArgOperand(0)};
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_store)
      return Touch{call, call->getArgOperand(1), true};
  }
  return std::nullopt;
}

class Prefetcher {
 public:
  Prefetcher(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution)
      : loops_(loops), evolution_(evolution) {}

  void visit(llvm::Loop& loop) {
    for (auto* inner : loop) visit(*inner);
    if (!loop.isInnermost() || evolution_.getSmallConstantTripCount(&loop) != 0) return;
    std::vector<Touch> touches;
    for (auto* block : loop.blocks()) {
      for (auto& instruction : *block) {
        if (const auto touch = touch_of(instruction)) touches.push_back(*touch);
      }
    }
    for (const auto& touch : touches) visit(loop, touch);
  }

 private:
  void visit(const llvm::Loop& rows, const Touch& touch) {
    auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(touch.address);
    if (element == nullptr || element->getNumIndices() != 1 || !loops_.getLoopFor(element->getParent()))
      return;
    // Counters of 32 bits are extended to 64: their own steps, whether or not they might wrap, are those of the address.
    auto* index = element->getOperand(1);
    while (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(index))
      index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
    if (!evolution_.isSCEVable(index->getType())) return;
    const auto* place = evolution_.getSCEV(index);
    const auto bytes = static_cast<std::int64_t>(element->getModule()
                                                     ->getDataLayout()
                                                     .getTypeAllocSize(element->getSourceElementType())
                                                     .getFixedValue());
    if (step_along(*place, rows) && !is_far(*place, rows, bytes)) return;
    for (const auto* around = rows.getParentLoop(); around != nullptr; around = around->getParentLoop()) {
      const auto* step = step_along(*place, *around);
      if (step == nullptr) continue;
      const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step);
      if (constant == nullptr) return;
      const std::int64_t distance = constant->getAPInt().getSExtValue() * bytes;
      if (std::abs(distance) >= kLeastStep && std::abs(distance) <= kMostStep)
        add(touch, distance * kBlocksAhead);
      return;
    }
  }

  /// By how much `place` grows with a round of `loop`; null if it does not.
  const llvm::SCEV* step_along(const llvm::SCEV& place, const llvm::Loop& loop) {
    if (evolution_.isLoopInvariant(&place, &loop)) return nullptr;
    const auto at = [&](std::uint64_t round) {
      llvm::LoopToScevMapT rounds;
      rounds[&loop] = evolution_.getConstant(place.getType(), round);
      return llvm::SCEVLoopAddRecRewriter::rewrite(&place, rounds, evolution_);
    };
    const auto* step = evolution_.getMinusSCEV(at(1), at(0));
    return step->isZero() ? nullptr : step;
  }

  bool is_far(const llvm::SCEV& place, const llvm::Loop& rows, std::int64_t bytes) {
    const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step_along(place, rows));
    return constant == nullptr || std::abs(constant->getAPInt().getSExtValue() * bytes) > kMostStep;
  }

  static void add(const Touch& touch, std::int64_t distance) {
    llvm::IRBuilder<> at(touch.instruction);
    auto* address =
        at.CreateConstGEP1_64(at.getInt8Ty(), touch.address, static_cast<std::uint64_t>(distance));
    constexpr int kKeepInAllCaches = 3;
    constexpr int kData = 1;
    at.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {address->getType()},
        {address, at.getInt32(touch.writes ? 1 : 0), at.getInt32(kKeepInAllCaches), at.getInt32(kData)});
  }

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
};

}  // namespace

void prefetch_along_blocks(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  Prefetcher prefetcher(loops, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function));
  for (auto* loop : loops) prefetcher.visit(*loop);
}

}  // namespace nuna::compiler
