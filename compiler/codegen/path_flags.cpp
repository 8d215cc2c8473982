#include "codegen/path_flags.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <map>
#include <set>
#include <vector>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

using llvm::Value;

/// Branches between where ways part and where they meet, and instructions that their conditions are made of.
constexpr std::size_t kMostBranches = 8;
constexpr std::size_t kMostParts = 16;

bool is_given(const Value& value) {
  if (llvm::isa<llvm::Constant, llvm::Argument>(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  return instruction != nullptr && special_register_of(*instruction).has_value();
}

/// Whether the value can be computed anywhere; `parts` are the instructions that do it.
bool is_computable(Value& value, std::set<llvm::Instruction*>& parts) {
  if (is_given(value)) return true;
  auto* part = llvm::dyn_cast<llvm::Instruction>(&value);
  if (part == nullptr || parts.count(part) != 0) return part != nullptr;
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::CallBase, llvm::FreezeInst>(part) ||
      part->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(part))
    return false;
  parts.insert(part);
  return parts.size() <= kMostParts &&
         llvm::all_of(part->operands(), [&](auto& operand) { return is_computable(*operand, parts); });
}

class PathFlags {
 public:
  explicit PathFlags(llvm::Function& kernel) : tree_(kernel), at_(kernel.getContext()) {}

  /// The phi as a condition; null where it is none.
  Value* condition_of(llvm::PHINode& phi) {
    auto* node = tree_.getNode(phi.getParent());
    if (node == nullptr || node->getIDom() == nullptr) return nullptr;
    phi_ = &phi;
    ways_.clear();
    std::set<llvm::Instruction*> parts;
    auto* start = node->getIDom()->getBlock();
    if (!can_follow(*start, parts) || !leads_from(*start, *phi.getParent())) return nullptr;
    at_.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
    made_.clear();
    return value_behind(*start);
  }

 private:
  /// Whether all ways from `block` lead to the phi past conditions that can be computed there.
  bool can_follow(llvm::BasicBlock& block, std::set<llvm::Instruction*>& parts) {
    const auto [way, is_new] = ways_.emplace(&block, false);
    if (!is_new) return way->second;  // or it is a loop
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch == nullptr || ways_.size() > kMostBranches) return false;
    if (branch->isConditional() && !is_computable(*branch->getCondition(), parts)) return false;
    way->second = llvm::all_of(branch->successors(), [&](llvm::BasicBlock* next) {
      return next == phi_->getParent() || can_follow(*next, parts);
    });
    return way->second;
  }

  /// Whether nothing but these ways, which begin at `start`, leads to where they meet.
  bool leads_from(const llvm::BasicBlock& start, const llvm::BasicBlock& meeting) const {
    auto comes_along = [&](const llvm::BasicBlock* block) {
      return block == &start || llvm::all_of(llvm::predecessors(block), [&](const llvm::BasicBlock* before) {
               return before != &meeting && ways_.count(before) != 0;
             });
    };
    return comes_along(&meeting) &&
           llvm::all_of(ways_, [&](const auto& way) { return comes_along(way.first); });
  }

  Value* value_behind(llvm::BasicBlock& block) {
    auto* branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
    auto along = [&](unsigned way) {
      auto* next = branch->getSuccessor(way);
      return next == phi_->getParent() ? phi_->getIncomingValueForBlock(&block) : value_behind(*next);
    };
    if (!branch->isConditional()) return along(0);
    auto* first = along(0);
    auto* second = along(1);
    return first == second ? first : at_.CreateSelect(here(*branch->getCondition()), first, second);
  }

  Value* here(Value& value) {
    auto* part = llvm::dyn_cast<llvm::Instruction>(&value);
    if (part == nullptr || tree_.dominates(part, phi_)) return &value;
    auto*& made = made_[part];
    if (made == nullptr) {
      auto* again = part->clone();
      for (auto& operand : again->operands())
        operand.set(here(*operand));  // of a register's: its number, and the function
      again->setDebugLoc({});
      at_.Insert(again);
      made = again;
    }
    return made;
  }

  llvm::DominatorTree tree_;
  llvm::IRBuilder<> at_;
  llvm::PHINode* phi_ = nullptr;
  std::map<const llvm::BasicBlock*, bool> ways_;  ///< whether all is known behind the block
  std::map<llvm::Instruction*, Value*> made_;
};

bool is_flag(const llvm::PHINode& phi) {
  return phi.getType()->isIntegerTy(1) && llvm::all_of(phi.incoming_values(), [](const Value* value) {
           return llvm::isa<llvm::ConstantInt>(value);
         });
}

}  // namespace

void spell_out_path_flags(llvm::Function& kernel) {
  if (llvm::none_of(llvm::instructions(kernel), suspends)) return;
  std::vector<llvm::PHINode*> flags;
  for (auto& block : kernel) {
    for (auto& phi : block.phis()) {
      if (is_flag(phi)) flags.push_back(&phi);
    }
  }
  if (flags.empty()) return;
  PathFlags conditions(kernel);
  for (auto* flag : flags) {
    auto* condition = conditions.condition_of(*flag);
    if (condition == nullptr) continue;
    flag->replaceAllUsesWith(condition);
    flag->eraseFromParent();
  }
}

}  // namespace nuna::compiler
