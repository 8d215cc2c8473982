#include "codegen/warp_synchronous.hpp"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <set>

#include "codegen/diagnostics.hpp"
#include "codegen/intrinsics.hpp"
#include "codegen/uniformity.hpp"

namespace nuna::compiler {

namespace {

/// Each meeting cuts the kernel: code with more is left as it is, with a warning.
constexpr std::size_t kMostMeetings = 400;

class Stepper {
 public:
  Stepper(llvm::Function& kernel, const std::vector<SharedVariable>& shared) : kernel_(kernel) {
    for (const auto& variable : shared) shared_.insert(variable.variable);
  }

  bool run() {
    for (auto& instruction : llvm::instructions(kernel_)) {
      if (is_volatile_shared(instruction)) accesses_.insert(&instruction);
    }
    if (!reads_in_step()) return false;
    std::vector<llvm::Instruction*> meetings;  // each before one of these
    const auto joins = find_joins();
    for (auto& block : kernel_) find_meetings(block, joins, meetings);
    if (meetings.size() > kMostMeetings) {
      llvm::errs() << at_line(kernel_) << "warning: '" << readable(kernel_)
                   << "' writes volatile shared memory in " << meetings.size()
                   << " places, too many to keep the lanes of a warp in step: say __syncwarp()\n";
      return false;
    }
    for (auto* place : meetings) meet_before(*place);
    return true;
  }

 private:
  bool is_shared(const llvm::Value* address) const {
    llvm::SmallVector<const llvm::Value*, 4> objects;
    llvm::getUnderlyingObjects(address, objects, nullptr, 0);
    return std::any_of(objects.begin(), objects.end(), [&](const llvm::Value* object) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(object);
      return shared_.count(object) != 0 ||
             (instruction != nullptr && intrinsic_of(*instruction) == Intrinsic::dynamic_shared);
    });
  }
  bool is_volatile_shared(const llvm::Instruction& instruction) const {
    const auto* address = llvm::getLoadStorePointerOperand(&instruction);
    return address != nullptr && instruction.isVolatile() && is_shared(address);
  }
  bool is_access(llvm::Instruction& instruction) const { return accesses_.count(&instruction) != 0; }
  bool is_write(llvm::Instruction& instruction) const {
    return is_access(instruction) && llvm::isa<llvm::StoreInst>(instruction);
  }
  bool is_read(llvm::Instruction& instruction) const {
    return is_access(instruction) && llvm::isa<llvm::LoadInst>(instruction);
  }

  /// Whether some write is followed by a read with no barrier between.
  bool reads_in_step() {
    std::set<llvm::BasicBlock*> entered;  // behind a write
    std::vector<llvm::BasicBlock*> work;
    auto walk = [&](llvm::BasicBlock& block, bool written) {
      for (auto& instruction : block) {
        if (written && is_read(instruction)) return true;
        if (suspends(instruction)) written = false;
        written |= is_write(instruction);
      }
      if (written) work.insert(work.end(), llvm::succ_begin(&block), llvm::succ_end(&block));
      return false;
    };
    for (auto& block : kernel_) {
      if (walk(block, false)) return true;
    }
    while (!work.empty()) {
      auto* block = work.back();
      work.pop_back();
      if (entered.insert(block).second && walk(*block, true)) return true;
    }
    return false;
  }

  /// Blocks where lanes come together that parted around an access.
  std::set<llvm::BasicBlock*> find_joins() {
    const Uniformity uniformity(kernel_);
    const llvm::PostDominatorTree post_dominators(kernel_);
    std::set<llvm::BasicBlock*> joins;
    for (auto& block : kernel_) {
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (branch != nullptr && (branch->isUnconditional() || uniformity.is_uniform(*branch->getCondition())))
        continue;
      if (block.getTerminator()->getNumSuccessors() < 2) continue;
      const auto* node = post_dominators.getNode(&block);
      const auto* next = node != nullptr ? node->getIDom() : nullptr;
      auto* join = next != nullptr ? next->getBlock() : nullptr;
      if (join != nullptr && has_access_before(block, *join)) joins.insert(join);
    }
    return joins;
  }

  bool has_access_before(llvm::BasicBlock& parting, llvm::BasicBlock& join) {
    std::set<llvm::BasicBlock*> seen{&join};
    std::vector<llvm::BasicBlock*> work(llvm::succ_begin(&parting), llvm::succ_end(&parting));
    while (!work.empty()) {
      auto* block = work.back();
      work.pop_back();
      if (!seen.insert(block).second) continue;
      if (std::any_of(block->begin(), block->end(), [&](auto& i) { return is_access(i); })) return true;
      work.insert(work.end(), llvm::succ_begin(block), llvm::succ_end(block));
    }
    return false;
  }

  void find_meetings(llvm::BasicBlock& block, const std::set<llvm::BasicBlock*>& joins,
                     std::vector<llvm::Instruction*>& meetings) {
    bool met = false;   // with no write since
    bool read = false;  // since they met
    auto meet = [&](llvm::Instruction& before) {
      if (!suspends(before)) meetings.push_back(&before);
      met = true;
      read = false;
    };
    if (joins.count(&block) != 0) meet(*block.getFirstInsertionPt());
    for (auto& instruction : block) {
      if (suspends(instruction)) {
        met = true;
        read = false;
      } else if (is_read(instruction)) {
        if (!met) meet(instruction);
        read = true;
      } else if (is_write(instruction)) {
        if (!met || read) meet(instruction);
        meet(*instruction.getNextNode());
      }
    }
  }

  void meet_before(llvm::Instruction& place) {
    auto& context = kernel_.getContext();
    auto* word = llvm::Type::getInt32Ty(context);
    auto meet = kernel_.getParent()->getOrInsertFunction("__nuna_warp_barrier", word, word, word);
    llvm::cast<llvm::Function>(meet.getCallee())->addFnAttr(llvm::Attribute::Convergent);
    auto* zero = llvm::ConstantInt::get(word, 0);
    // Of the lanes that come by together: of those that are elsewhere, none is waited for.
    auto* call = llvm::CallInst::Create(meet, {zero, zero}, "", place.getIterator());
    call->setDebugLoc(place.getDebugLoc());
  }

  llvm::Function& kernel_;
  std::set<const llvm::Value*> shared_;
  std::set<llvm::Instruction*> accesses_;
};

}  // namespace

bool keep_warps_in_step(llvm::Function& kernel, const std::vector<SharedVariable>& shared) {
  return Stepper(kernel, shared).run();
}

}  // namespace nuna::compiler
