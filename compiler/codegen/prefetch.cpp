#include "codegen/prefetch.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

namespace nuna::compiler {

namespace {

/// Steps from block to block that are worth it: within them the processor finds the next line by itself where rows lie side by side,
/// beyond them tiles share no pages.
constexpr std::int64_t kLeastStep = 16;
constexpr std::int64_t kMostStep = 512;

/// How far ahead: memory answers within the time of so many small blocks.
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

/// A summand of an address: an index, and the size of what it counts.
struct Part {
  const llvm::SCEV* index = nullptr;
  std::int64_t bytes = 0;
};

struct Address {
  const llvm::Value* base = nullptr;
  std::vector<Part> parts;
};

/// By how much an address grows with a round of a loop.
struct Step {
  bool moves = false;
  std::optional<std::int64_t> bytes;  ///< where it is known
};

class Prefetcher {
 public:
  Prefetcher(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution)
      : loops_(loops), evolution_(evolution) {}

  std::vector<TileRows> visit() {
    for (auto* loop : loops_) visit(*loop);
    return std::move(tiles_);
  }

 private:
  void visit(llvm::Loop& loop) {
    for (auto* inner : loop) visit(*inner);
    if (!loop.isInnermost() || evolution_.getSmallConstantTripCount(&loop) != 0) return;
    std::vector<Touch> touches;
    for (auto* block : loop.blocks()) {
      for (auto& instruction : *block) {
        if (const auto touch = touch_of(instruction)) touches.push_back(*touch);
      }
    }
    std::map<const llvm::Value*, unsigned> read;
    for (const auto& touch : touches) {
      const auto address = address_of(*touch.address);
      const auto step = step_of_blocks(loop, address);
      if (!step) continue;
      add(touch, *step * kBlocksAhead);
      if (!touch.writes) ++read[address.base];
    }
    unsigned rows = 0;
    for (const auto& [base, count] : read) rows = std::max(rows, count);
    if (rows > 0) tiles_.push_back({&loop, rows});
  }

  Address address_of(llvm::Value& pointer) {
    Address address{&pointer, {}};
    while (const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(address.base)) {
      if (element->getNumIndices() != 1) break;
      // Counters of 32 bits are extended to 64: their own steps, whether or not they might wrap, are those of the address.
      auto* index = element->getOperand(1);
      while (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(index))
        index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
      const auto& layout = element->getModule()->getDataLayout();
      const auto size = layout.getTypeAllocSize(element->getSourceElementType()).getFixedValue();
      if (evolution_.isSCEVable(index->getType()))
        address.parts.push_back({evolution_.getSCEV(index), static_cast<std::int64_t>(size)});
      address.base = element->getPointerOperand();
    }
    return address;
  }

  /// How many bytes further the next block touches what this one does at `address` in the loop over `rows`; none where that is not worth a
  /// prefetch.
  std::optional<std::int64_t> step_of_blocks(const llvm::Loop& rows, const Address& address) {
    const auto along_rows = step_along(address, rows);
    if (along_rows.moves && along_rows.bytes && std::abs(*along_rows.bytes) <= kMostStep) return std::nullopt;
    for (const auto* around = rows.getParentLoop(); around != nullptr; around = around->getParentLoop()) {
      const auto step = step_along(address, *around);
      if (!step.moves) continue;
      const bool pays =
          step.bytes && std::abs(*step.bytes) >= kLeastStep && std::abs(*step.bytes) <= kMostStep;
      return pays ? step.bytes : std::nullopt;
    }
    return std::nullopt;
  }

  Step step_along(const Address& address, const llvm::Loop& loop) {
    Step all{false, 0};
    for (const auto& part : address.parts) {
      const auto* step = step_along(*part.index, loop);
      if (step == nullptr) continue;
      all.moves = true;
      const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step);
      if (constant == nullptr) {
        all.bytes.reset();
      } else if (all.bytes) {
        *all.bytes += constant->getAPInt().getSExtValue() * part.bytes;
      }
    }
    return all;
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
  std::vector<TileRows> tiles_;
};

}  // namespace

std::vector<TileRows> prefetch_along_blocks(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  return Prefetcher(analyses.getResult<llvm::LoopAnalysis>(function),
                    analyses.getResult<llvm::ScalarEvolutionAnalysis>(function))
      .visit();
}

}  // namespace nuna::compiler
