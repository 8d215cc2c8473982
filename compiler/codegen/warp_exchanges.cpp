#include "codegen/warp_exchanges.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

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

}  // namespace

void overlap_exchanges(llvm::Function& kernel) {
  for (auto& block : kernel) {
    for (const auto& chain : Chains(block).all) {
      if (is_unknown(*chain.front().mask())) continue;
      for (std::size_t i = 0; i < chain.size(); ++i) {
        if (i % 2 == 1) use_other_slots(chain[i]);
        if (i + 1 < chain.size()) chain[i].leaving->eraseFromParent();
      }
    }
  }
}

}  // namespace nuna::compiler
