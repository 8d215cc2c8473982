#include "codegen/thread_run.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "nuna_cudart/image.h"

namespace nuna::compiler {

using llvm::Value;

namespace {

bool contains(const Region& region, const llvm::BasicBlock* block) {
  return std::find(region.blocks.begin(), region.blocks.end(), block) != region.blocks.end();
}

}  // namespace

void ThreadRun::load_uniform(unsigned region) {
  for (const auto& value : code_.values) {
    if (value.how != KeptValue::How::uniform || !value.live_in[region]) continue;
    auto* type = value.home->getAllocatedType();
    frame_.uniform_values[value.home] = at_.CreateLoad(type, frame_.uniform_place(value));
  }
}

bool ThreadRun::goes_straight_on(const Region& region, const Region& next, Together together) const {
  return next.after_group && !region.parts && (together == Together::all || !next.waited);
}

void ThreadRun::make(unsigned region, const Thread& thread, Together together) {
  together_ = together;
  done_ = llvm::BasicBlock::Create(at_.getContext(), "thread.done", &frame_.function);
  frame_.begin_thread(thread);
  Map map;
  give(thread, map);
  bring(region, thread, map);
  auto* start = clone(region, thread, map);
  at_.CreateBr(start);
  at_.SetInsertPoint(done_);
}

void ThreadRun::give(const Thread& thread, Map& map) {
  if (auto* subprogram = code_.function->getSubprogram())
    map.MD()[subprogram].reset(frame_.function.getSubprogram());
  for (const auto& [from, to] : frame_.given) map[from] = to;
  for (const auto* variable : code_.dynamic_shared) map[variable] = frame_.dynamic;
  for (auto* array : code_.arrays) map[array] = frame_.place_of(array, thread);
  for (unsigned k = 0; k < kSpecialRegisters; ++k) {
    if (code_.registers[k] != nullptr) map[code_.registers[k]] = frame_.special_register(k, thread);
  }
  for (const auto& [intrinsic, call] : code_.addresses) map[call] = frame_.address(intrinsic, thread);
}

/// Gives the region a home of its own for every kept value that it uses.
void ThreadRun::bring(unsigned region, const Thread& thread, Map& map) {
  for (const auto& value : code_.values) {
    if (!value.live_in[region] && !is_used(value, region)) continue;
    auto* type = value.home->getAllocatedType();
    auto* home = frame_.scalar("home", type);
    map[value.home] = home;
    if (!value.live_in[region]) continue;
    switch (value.how) {
      case KeptValue::How::recompute:
        at_.CreateStore(recompute(value.recipe, map), home);
        break;
      case KeptValue::How::uniform:
        at_.CreateStore(frame_.uniform_values.at(value.home), home);
        break;
      case KeptValue::How::per_thread:
        at_.CreateStore(frame_.load_kept(type, frame_.place_of(value.home, thread)), home);
        break;
    }
  }
}

bool ThreadRun::is_used(const KeptValue& value, unsigned region) const {
  const auto& blocks = code_.regions[region];
  return std::any_of(value.home->user_begin(), value.home->user_end(), [&](const llvm::User* user) {
    return contains(blocks, llvm::cast<llvm::Instruction>(user)->getParent());
  });
}

bool ThreadRun::is_stored(const KeptValue& value, unsigned region) const {
  const auto& blocks = code_.regions[region];
  return std::any_of(value.home->user_begin(), value.home->user_end(), [&](const llvm::User* user) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store != nullptr && contains(blocks, store->getParent());
  });
}

Value* ThreadRun::recompute(const Recipe& recipe, Map& outer) {
  Map map;
  for (const auto& pair : outer) map[pair.first] = pair.second;
  Value* last = nullptr;
  for (const auto* part : recipe) {
    auto* again = part->clone();
    again->setDebugLoc({});
    at_.Insert(again);
    llvm::RemapInstruction(again, map, llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    map[part] = again;
    last = again;
  }
  return last;
}

void ThreadRun::keep(unsigned region, unsigned next, const Thread& thread, Map& map) {
  for (const auto& value : code_.values) {
    if (value.how == KeptValue::How::recompute || !value.live_in[next] || !is_stored(value, region)) continue;
    Value* newest = at_.CreateLoad(value.home->getAllocatedType(), map[value.home]);
    if (value.how == KeptValue::How::per_thread) {
      frame_.store_kept(newest, frame_.place_of(value.home, thread));
    } else {
      frame_.mark(at_.CreateStore(newest, frame_.uniform_place(value)));
    }
  }
}

llvm::BasicBlock* ThreadRun::clone(unsigned r, const Thread& thread, Map& map) {
  const auto& region = code_.regions[r];
  llvm::SmallVector<llvm::BasicBlock*, 16> clones;
  for (auto* block : region.blocks) {
    auto* made = llvm::CloneBasicBlock(block, map, "", &frame_.function);
    map[block] = made;
    clones.push_back(made);
  }
  drop_absent_predecessors(region, map);
  llvm::remapInstructionsInBlocks(clones, map);
  if (region.group != nullptr) {
    auto* group = llvm::cast<llvm::Instruction>(static_cast<Value*>(map[region.group]));
    group->replaceAllUsesWith(frame_.met);
    group->eraseFromParent();
  }
  for (auto* block : clones) {
    for (auto& instruction : *block) {
      frame_.scopes.mark_users(instruction, frame_.loop_group);
      move_location(instruction);
    }
  }
  for (auto* block : region.blocks) leave(r, *block, thread, map);
  return llvm::cast<llvm::BasicBlock>(static_cast<Value*>(map[region.start]));
}

/// Where an instruction stands in the source, as of this function's subprogram: remapping leaves that alone.
void ThreadRun::move_location(llvm::Instruction& instruction) {
  auto* subprogram = frame_.function.getSubprogram();
  if (subprogram == nullptr) return;
  auto moved = [&](const llvm::DebugLoc& old) {
    return llvm::DebugLoc::replaceInlinedAtSubprogram(old, *subprogram, at_.getContext(), locations_);
  };
  if (const auto& old = instruction.getDebugLoc()) instruction.setDebugLoc(moved(old));
  llvm::updateLoopMetadataDebugLocations(instruction, [&](llvm::Metadata* part) -> llvm::Metadata* {
    auto* location = llvm::dyn_cast_or_null<llvm::DILocation>(part);
    return location != nullptr ? moved(location).get() : part;
  });
}

void ThreadRun::drop_absent_predecessors(const Region& region, Map& map) {
  for (auto* block : region.blocks) {
    for (auto& phi : block->phis()) {
      auto* made = llvm::cast<llvm::PHINode>(static_cast<Value*>(map[&phi]));
      for (auto* from : phi.blocks()) {
        if ((!contains(region, from) || code_.suspensions.count(from) != 0) &&
            made->getBasicBlockIndex(from) >= 0) {
          made->removeIncomingValue(from, false);
        }
      }
    }
  }
}

/// Ends the thread's run where its block suspends or returns.
void ThreadRun::leave(unsigned r, llvm::BasicBlock& block, const Thread& thread, Map& map) {
  auto* made = llvm::cast<llvm::BasicBlock>(static_cast<Value*>(map[&block]));
  const auto suspension = code_.suspensions.find(&block);
  auto* end = made->getTerminator();
  const bool suspends = suspension != code_.suspensions.end();
  if (!suspends && !llvm::isa<llvm::ReturnInst>(end)) return;
  const llvm::IRBuilderBase::InsertPointGuard guard(at_);
  at_.SetInsertPoint(end);
  const unsigned next = suspends ? suspension->second.to : NUNA_ENDED;
  if (suspends) keep(r, next, thread, map);
  llvm::CallInst* meet = suspends && suspension->second.call != nullptr
                             ? llvm::cast<llvm::CallInst>(static_cast<Value*>(map[suspension->second.call]))
                             : nullptr;
  const auto& region = code_.regions[r];
  const bool counts =
      code_.diverges && !(suspends && goes_straight_on(region, code_.regions[next], together_));
  if (counts) {
    const bool at_barrier = suspends && !suspension->second.group;
    frame_.mark(
        at_.CreateStore(at_.getInt32(at_barrier ? next | NUNA_WAITS : next), frame_.counter_of(thread)));
    if (suspends && frame_.masks != nullptr) {
      Value* mask = meet != nullptr ? meet->getArgOperand(0) : at_.getInt32(0);
      frame_.mark(
          at_.CreateStore(mask, at_.CreateInBoundsGEP(at_.getInt32Ty(), frame_.masks, thread.linear)));
    }
  }
  if (!region.parts && region.next.size() + (region.may_end ? 1 : 0) > 1)
    frame_.mark(at_.CreateStore(at_.getInt32(next), frame_.next));
  at_.CreateBr(done_);
  end->eraseFromParent();
  if (meet != nullptr) meet->eraseFromParent();
}

}  // namespace nuna::compiler
