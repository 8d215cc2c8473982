#include "codegen/thread_code.hpp"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <set>

namespace nuna::compiler {

namespace {

using Blocks = std::set<llvm::BasicBlock*>;

constexpr std::size_t kLongestRecipe = 24;

class Planner {
 public:
  Planner(llvm::Function& function, Among among) : among_(among) { code_.function = &function; }

  ThreadCode plan() {
    gather_entry();
    cut();
    if (knows_warps()) code_.grouping = Grouping::warps;
    find_regions();
    const Uniformity uniformity(*code_.function, among_);
    for (auto& region : code_.regions) code_.diverges |= region.parts = parts(region, uniformity);
    find_crossing();
    for (auto* value : crossing_) decide(*value, uniformity);
    sort_arrays();
    for (auto* value : crossing_) demote(*value);
    for (const auto& region : code_.regions) {
      for (const auto* block : region.blocks) code_.instructions += block->size();
    }
    return std::move(code_);
  }

 private:
  llvm::Function& function() { return *code_.function; }

  /// The entry block holds the thread's own arrays and one read of each special register; the rest follows.
  void gather_entry() {
    auto& entry = function().getEntryBlock();
    std::vector<llvm::Instruction*> gone;
    std::vector<llvm::Instruction*> kept;
    for (auto& instruction : llvm::instructions(function())) {
      if (instruction.isLifetimeStartOrEnd()) gone.push_back(&instruction);
      auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (alloca != nullptr && alloca->isStaticAlloca()) kept.push_back(alloca);
      const auto intrinsic = intrinsic_of(instruction);
      if (!intrinsic || suspends(instruction)) continue;
      const auto k = special_register_of(instruction);
      if (intrinsic == Intrinsic::special_register && !k) continue;  // refused by the headers
      auto*& one = k ? code_.registers[*k] : code_.addresses[*intrinsic];
      if (one != nullptr) {
        instruction.replaceAllUsesWith(one);
        gone.push_back(&instruction);
      } else {
        one = &instruction;
        kept.push_back(one);
      }
    }
    for (auto* instruction : gone) instruction->eraseFromParent();
    auto* marker = new llvm::UnreachableInst(entry.getContext(), entry.begin());
    for (auto* instruction : kept) instruction->moveBefore(marker);
    auto next = std::next(marker->getIterator());
    marker->eraseFromParent();
    body_ = entry.splitBasicBlock(next, "body");
  }

  void cut() {
    std::vector<llvm::Instruction*> points;
    for (auto& instruction : llvm::instructions(function())) {
      if (suspends(instruction)) points.push_back(&instruction);
    }
    code_.regions.push_back({body_, {}, nullptr, 0, {}, false, false, false, false});
    for (auto* point : points) {
      auto* block = point->getParent();
      auto* behind = block->splitBasicBlock(std::next(point->getIterator()), "resumed");
      const bool warp = intrinsic_of(*point) != Intrinsic::barrier;
      llvm::Instruction* group = nullptr;
      std::uint8_t kind = 0;
      const bool waits = intrinsic_of(*point) != Intrinsic::lanes_meet;
      Suspension suspension{warp, nullptr, static_cast<unsigned>(code_.regions.size())};
      if (warp) code_.grouping = Grouping::row_parts;
      if (intrinsic_of(*point) == Intrinsic::warp_barrier) {
        suspension.call = llvm::cast<llvm::CallInst>(point);
        // Until code is made, a load stands for the group: it is divergent, and no pass runs that could remove it.
        auto* place = llvm::ConstantPointerNull::get(llvm::PointerType::get(point->getContext(), 0));
        group = new llvm::LoadInst(point->getType(), place, "group", behind->begin());
        point->replaceAllUsesWith(group);
        kind = static_cast<std::uint8_t>(
            llvm::cast<llvm::ConstantInt>(suspension.call->getArgOperand(1))->getZExtValue());
      }
      code_.regions.push_back({behind, {}, group, kind, {}, false, warp, waits, false});
      code_.suspensions[block] = suspension;
      if (group == nullptr) point->eraseFromParent();
    }
  }

  /// Whether threads suspend in groups, and may tell that these are warps.
  bool knows_warps() const {
    if (code_.grouping == Grouping::none) return false;
    if (code_.registers[kLane] != nullptr || code_.addresses.count(Intrinsic::warp_slots) != 0) return true;
    return std::any_of(code_.regions.begin(), code_.regions.end(),
                       [](const Region& region) { return region.group != nullptr; });
  }

  std::vector<llvm::BasicBlock*> successors_in_region(llvm::BasicBlock* block) {
    if (code_.suspensions.count(block) != 0) return {};
    return {llvm::succ_begin(block), llvm::succ_end(block)};
  }

  void find_regions() {
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function());
    for (auto& region : code_.regions) {
      Blocks inside;
      std::vector<llvm::BasicBlock*> work{region.start};
      while (!work.empty()) {
        auto* block = work.back();
        work.pop_back();
        if (!inside.insert(block).second) continue;
        for (auto* next : successors_in_region(block)) work.push_back(next);
      }
      std::set<unsigned> next;
      for (auto* block : order) {
        if (inside.count(block) == 0) continue;
        region.blocks.push_back(block);
        const auto suspension = code_.suspensions.find(block);
        if (suspension != code_.suspensions.end()) {
          next.insert(suspension->second.to);
        } else if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) {
          region.may_end = true;
        }
      }
      region.next.assign(next.begin(), next.end());
    }
  }

  /// Whether some branch on a value that differs between threads decides which way the region is left.
  bool parts(const Region& region, const Uniformity& uniformity) {
    if (region.next.size() + (region.may_end ? 1 : 0) < 2) return false;
    const auto exits = exits_of(region);
    const auto meetings = meetings_of(region);
    for (auto* block : region.blocks) {
      auto* branch = block->getTerminator();
      if (code_.suspensions.count(block) != 0 || branch->getNumSuccessors() < 2) continue;
      if (exits.at(block).size() < 2 || meetings.at(block)) continue;
      auto* conditional = llvm::dyn_cast<llvm::BranchInst>(branch);
      auto* chosen = llvm::dyn_cast<llvm::SwitchInst>(branch);
      const llvm::Value* condition = conditional != nullptr ? conditional->getCondition()
                                     : chosen != nullptr    ? chosen->getCondition()
                                                            : nullptr;
      if (condition == nullptr || !uniformity.is_uniform(*condition)) return true;
    }
    return false;
  }

  /// For each block of a region, the ways out that can be reached from it: blocks with a suspension, or null for the end.
  std::map<llvm::BasicBlock*, Blocks> exits_of(const Region& region) {
    std::map<llvm::BasicBlock*, Blocks> exits;
    for (auto* block : region.blocks) exits[block];
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = region.blocks.rbegin(); block != region.blocks.rend(); ++block) {
        auto& mine = exits[*block];
        const auto before = mine.size();
        if (code_.suspensions.count(*block) != 0) {
          mine.insert(*block);
        } else if (llvm::isa<llvm::ReturnInst>((*block)->getTerminator())) {
          mine.insert(nullptr);
        }
        for (auto* next : successors_in_region(*block)) mine.insert(exits[next].begin(), exits[next].end());
        changed |= mine.size() != before;
      }
    }
    return exits;
  }

  /// For each block of a region, whether all ways on from it meet in another block before they leave the region.
  std::map<llvm::BasicBlock*, bool> meetings_of(const Region& region) {
    const auto count = static_cast<unsigned>(region.blocks.size());
    std::map<llvm::BasicBlock*, unsigned> number;
    for (unsigned i = 0; i < count; ++i) number[region.blocks[i]] = i;
    std::vector<llvm::BitVector> behind(count,
                                        llvm::BitVector(count, true));  // by post-dominators, others too
    auto common = [&](unsigned i) {
      const auto successors = successors_in_region(region.blocks[i]);
      llvm::BitVector all(count, !successors.empty());
      for (auto* next : successors) all &= behind[number.at(next)];
      return all;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned i = count; i-- > 0;) {
        auto now = common(i);
        now.set(i);
        changed |= now != behind[i];
        behind[i] = std::move(now);
      }
    }
    std::map<llvm::BasicBlock*, bool> meet;
    for (unsigned i = 0; i < count; ++i) {
      auto others = common(i);
      others.reset(i);
      meet[region.blocks[i]] = others.any();
    }
    return meet;
  }

  /// Values that are live where a region starts, by the usual walk from uses up to the definition.
  void find_crossing() {
    if (code_.regions.size() == 1) return;
    std::map<llvm::BasicBlock*, unsigned> starts;
    for (unsigned r = 0; r < code_.regions.size(); ++r) starts[code_.regions[r].start] = r;
    for (auto& block : function()) {
      if (&block == &function().getEntryBlock()) continue;
      for (auto& value : block) {
        if (value.use_empty()) continue;
        std::vector<bool> live(code_.regions.size());
        Blocks seen;
        std::vector<llvm::BasicBlock*> work;
        for (auto& use : value.uses()) {
          auto* user = llvm::cast<llvm::Instruction>(use.getUser());
          auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
          if (phi != nullptr) {
            auto* from = phi->getIncomingBlock(use);
            if (from != &block) work.push_back(from);
          } else if (user->getParent() != &block) {
            work.push_back(user->getParent());
          }
        }
        while (!work.empty()) {
          auto* at = work.back();
          work.pop_back();
          if (at == &block || !seen.insert(at).second) continue;
          const auto start = starts.find(at);
          if (start != starts.end()) live[start->second] = true;
          for (auto* before : llvm::predecessors(at)) work.push_back(before);
        }
        if (std::find(live.begin(), live.end(), true) == live.end()) continue;
        crossing_.push_back(&value);
        live_in_[&value] = live;
      }
    }
  }

  bool is_given(const llvm::Value& value) {
    if (llvm::isa<llvm::Constant, llvm::Argument, llvm::AllocaInst>(value)) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    return instruction != nullptr && instruction->getParent() == &function().getEntryBlock();
  }

  bool can_recompute(llvm::Instruction& value, std::set<llvm::Instruction*>& parts) {
    if (parts.count(&value) != 0) return true;
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::CallBase>(value) || value.mayReadOrWriteMemory())
      return false;
    if (!llvm::isSafeToSpeculativelyExecute(&value)) return false;
    for (auto& operand : value.operands()) {
      if (is_given(*operand)) continue;
      auto* part = llvm::dyn_cast<llvm::Instruction>(operand);
      if (part == nullptr || !can_recompute(*part, parts)) return false;
    }
    parts.insert(&value);
    return parts.size() <= kLongestRecipe;
  }

  Recipe recipe_of(llvm::Instruction& value, const std::set<llvm::Instruction*>& parts) {
    Recipe recipe;
    std::map<llvm::Value*, llvm::Instruction*> clones;
    auto add = [&](auto&& self, llvm::Instruction& part) -> void {
      if (clones.count(&part) != 0) return;
      for (auto& operand : part.operands()) {
        auto* before = llvm::dyn_cast<llvm::Instruction>(operand);
        if (before != nullptr && parts.count(before) != 0) self(self, *before);
      }
      auto* clone = part.clone();
      for (auto& operand : clone->operands()) {
        const auto made = clones.find(operand);
        if (made != clones.end()) operand.set(made->second);
      }
      clones[&part] = clone;
      recipe.push_back(clone);
    };
    add(add, value);
    return recipe;
  }

  void decide(llvm::Instruction& value, const Uniformity& uniformity) {
    auto& kept = kept_[&value];
    kept.live_in = live_in_[&value];
    std::set<llvm::Instruction*> parts;
    if (can_recompute(value, parts)) {
      kept.how = KeptValue::How::recompute;
      kept.recipe = recipe_of(value, parts);
    } else if (!code_.diverges && uniformity.is_uniform(value)) {
      kept.how = KeptValue::How::uniform;
    }
    for (unsigned r = 1; r < code_.regions.size(); ++r) {
      if (kept.live_in[r] && !code_.regions[r].after_group) kept.across_barrier = true;
    }
  }

  /// A thread's own array needs memory of its own unless it is used in one region only, which does not follow itself.
  void sort_arrays() {
    for (auto& instruction : function().getEntryBlock()) {
      auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (array == nullptr) continue;
      (stays_in_one_region(*array) ? code_.local_arrays : code_.arrays).push_back(array);
    }
  }

  /// Whether the user of an address may keep it somewhere, or give it back.
  static bool escapes(const llvm::Instruction& user, const llvm::Value& address) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
      return store->getValueOperand() == &address;
    return llvm::isa<llvm::CallBase>(user) && !llvm::isa<llvm::IntrinsicInst>(user);
  }

  bool stays_in_one_region(llvm::AllocaInst& array) {
    if (code_.regions.size() == 1) return true;
    Blocks used;
    std::vector<llvm::Value*> work{&array};
    std::set<llvm::Value*> seen;
    while (!work.empty()) {
      auto* value = work.back();
      work.pop_back();
      if (!seen.insert(value).second) continue;
      for (auto* user : value->users()) {
        auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
        if (instruction == nullptr) return false;
        used.insert(instruction->getParent());
        if (escapes(*instruction, *value)) return false;
        if (llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::CastInst,
                      llvm::FreezeInst>(instruction)) {
          work.push_back(instruction);
        }
      }
    }
    unsigned home = 0;
    unsigned homes = 0;
    for (unsigned r = 0; r < code_.regions.size(); ++r) {
      const auto& blocks = code_.regions[r].blocks;
      if (std::any_of(blocks.begin(), blocks.end(), [&](auto* block) { return used.count(block) != 0; })) {
        home = r;
        ++homes;
      }
    }
    return homes <= 1 && !follows_itself(home);
  }

  bool follows_itself(unsigned region) {
    std::set<unsigned> seen;
    std::vector<unsigned> work = code_.regions[region].next;
    while (!work.empty()) {
      const unsigned r = work.back();
      work.pop_back();
      if (r == region) return true;
      if (!seen.insert(r).second) continue;
      work.insert(work.end(), code_.regions[r].next.begin(), code_.regions[r].next.end());
    }
    return false;
  }

  void demote(llvm::Instruction& value) {
    auto kept = std::move(kept_[&value]);
    kept.home = llvm::DemoteRegToStack(value, false, function().getEntryBlock().begin());
    code_.values.push_back(std::move(kept));
  }

  const Among among_;
  ThreadCode code_;
  llvm::BasicBlock* body_ = nullptr;
  std::vector<llvm::Instruction*> crossing_;
  std::map<llvm::Instruction*, std::vector<bool>> live_in_;
  std::map<llvm::Instruction*, KeptValue> kept_;
};

}  // namespace

ThreadCode::~ThreadCode() {
  for (auto& value : values) {
    for (auto part = value.recipe.rbegin(); part != value.recipe.rend(); ++part) (*part)->deleteValue();
  }
}

ThreadCode plan_threads(llvm::Function& function, Among among) { return Planner(function, among).plan(); }

}  // namespace nuna::compiler
