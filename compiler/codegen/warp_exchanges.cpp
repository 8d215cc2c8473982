#include "codegen/warp_exchanges.hpp"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <set>
#include <utility>
#include <vector>

#include "codegen/block_memory.hpp"
#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

bool is_slot(const llvm::Value* address) {
  const auto* object = llvm::dyn_cast<llvm::Instruction>(llvm::getUnderlyingObject(address, 0));
  return object != nullptr && intrinsic_of(*object) == Intrinsic::warp_slots;
}

/// Lanes write slots, meet, read slots, and meet to leave.
struct Exchange {
  std::vector<llvm::Instruction*> accesses;
  llvm::CallInst* meeting = nullptr;
  llvm::CallInst* leaving = nullptr;

  llvm::Value* mask() const { return meeting->getArgOperand(0); }
};

/// Exchanges of one block of instructions, by the same lanes, between which nothing else is written.
class Chains {
 public:
  explicit Chains(llvm::BasicBlock& block) {
    for (auto& instruction : block) see(instruction);
    end();
  }

  std::vector<std::vector<Exchange>> all;

 private:
  void see(llvm::Instruction& instruction) {
    if (intrinsic_of(instruction) == Intrinsic::warp_barrier) {
      meet(llvm::cast<llvm::CallInst>(instruction));
      return;
    }
    const auto* address = llvm::getLoadStorePointerOperand(&instruction);
    if (address != nullptr && !instruction.isVolatile() && is_slot(address)) {
      // Slots that are read before lanes meet, or written behind: another's exchange, of a form that is not known.
      const bool reads = llvm::isa<llvm::LoadInst>(instruction);
      if (reads != (open_.meeting != nullptr)) end();
      open_.accesses.push_back(&instruction);
    } else if (instruction.mayHaveSideEffects()) {
      end();
    }
  }

  void meet(llvm::CallInst& call) {
    if (open_.accesses.empty()) {
      end();
    } else if (open_.meeting == nullptr) {
      if (!chain_.empty() && chain_.back().mask() != call.getArgOperand(0)) close();
      open_.meeting = &call;
    } else if (call.use_empty() && open_.mask() == call.getArgOperand(0)) {
      open_.leaving = &call;
      chain_.push_back(std::exchange(open_, {}));
    } else {
      end();
    }
  }

  void close() {
    if (chain_.size() > 1) all.push_back(std::move(chain_));
    chain_.clear();
  }
  void end() {
    close();
    open_ = {};
  }

  std::vector<Exchange> chain_;
  Exchange open_;
};

/// Lanes that come by together: who they are is not known before they have met.
bool is_unknown(const llvm::Value& mask) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&mask);
  return constant != nullptr && constant->isZero();
}

void use_other_slots(const Exchange& exchange) {
  for (auto* access : exchange.accesses) {
    const unsigned operand = llvm::isa<llvm::LoadInst>(access) ? llvm::LoadInst::getPointerOperandIndex()
                                                               : llvm::StoreInst::getPointerOperandIndex();
    llvm::IRBuilder<> at(access);
    access->setOperand(operand, at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), access->getOperand(operand),
                                                              kSlotWords * 8 / 2));
  }
}

/// Where lanes of a warp part, and may come to different meetings at the same time.
class Partings {
 public:
  Partings(llvm::Function& kernel, Among among)
      : kernel_(kernel), uniformity_(kernel, among), post_dominators_(kernel) {}

  bool are_there() const {
    return llvm::any_of(kernel_, [&](llvm::BasicBlock& block) { return part_to_meet(block); });
  }

 private:
  /// Whether lanes part behind `block`, some come to a meeting before they are together again, and others to a meeting as well.
  bool part_to_meet(llvm::BasicBlock& block) const {
    auto* end = block.getTerminator();
    if (end->getNumSuccessors() < 2 || uniformity_.is_uniform(*end->getOperand(0))) return false;
    const auto* node = post_dominators_.getNode(&block);
    const auto* next = node != nullptr ? node->getIDom() : nullptr;
    auto* join = next != nullptr ? next->getBlock() : nullptr;
    unsigned ways = 0;
    bool apart = false;
    for (auto* way : llvm::successors(&block)) {
      ways += meets(*way, nullptr) ? 1 : 0;
      apart |= meets(*way, join);
    }
    return ways > 1 && apart;
  }

  /// Whether a meeting can be reached from `from`, before `to` and before a barrier of the block.
  static bool meets(llvm::BasicBlock& from, llvm::BasicBlock* to) {
    std::set<llvm::BasicBlock*> seen{to};
    std::vector<llvm::BasicBlock*> work{&from};
    while (!work.empty()) {
      auto* block = work.back();
      work.pop_back();
      if (!seen.insert(block).second) continue;
      const auto first = llvm::find_if(*block, [](const auto& instruction) {
        return intrinsic_of(instruction) == Intrinsic::barrier ||
               intrinsic_of(instruction) == Intrinsic::warp_barrier;
      });
      if (first == block->end()) {
        work.insert(work.end(), llvm::succ_begin(block), llvm::succ_end(block));
      } else if (intrinsic_of(*first) == Intrinsic::warp_barrier) {
        return true;
      }
    }
    return false;
  }

  llvm::Function& kernel_;
  Uniformity uniformity_;
  llvm::PostDominatorTree post_dominators_;
};

}  // namespace

void overlap_exchanges(llvm::Function& kernel, Among among) {
  std::vector<std::vector<Exchange>> chains;
  for (auto& block : kernel) {
    for (auto& chain : Chains(block).all) {
      if (!is_unknown(*chain.front().mask())) chains.push_back(std::move(chain));
    }
  }
  if (chains.empty() || Partings(kernel, among).are_there()) return;
  for (const auto& chain : chains) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (i % 2 == 1) use_other_slots(chain[i]);
      if (i + 1 < chain.size()) chain[i].leaving->eraseFromParent();
    }
  }
}

}  // namespace nuna::compiler
