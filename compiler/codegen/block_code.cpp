#include "codegen/block_code.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstddef>

#include "codegen/block_call.hpp"
#include "codegen/loops.hpp"
#include "codegen/memory_scopes.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

using llvm::Value;

constexpr unsigned kWarp = 32;
constexpr std::size_t kLargeCode = 1500;  ///< instructions; above, code is not copied for speed

/// The thread whose code is being made.
struct Thread {
  Value* index[3] = {};     ///< i32
  Value* linear = nullptr;  ///< i64
  Value* lane = nullptr;    ///< i32
};

class BlockFunction {
 public:
  BlockFunction(const ThreadCode& code, const BlockMemory& memory, const Shape& shape,
                const std::string& name)
      : code_(code),
        memory_(memory),
        shape_(shape),
        context_(code.function->getContext()),
        at_(context_),
        scopes_(context_) {
    auto* type = llvm::FunctionType::get(at_.getVoidTy(), {at_.getPtrTy()}, false);
    function_ =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, code.function->getParent());
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    function_->addFnAttr("prefer-vector-width", "512");
    function_->addParamAttr(0, llvm::Attribute::NoAlias);
    function_->addParamAttr(0, llvm::Attribute::ReadOnly);
    copy_subprogram();
  }

  llvm::Function* make() {
    entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
    at_.SetInsertPoint(entry_);
    read_call();
    find_memory();
    auto* body = llvm::BasicBlock::Create(context_, "blocks", function_);
    at_.CreateBr(body);
    at_.SetInsertPoint(body);
    build_loop(at_, first_[2], last_[2], "block.z", [&](Value* z) {
      build_loop(at_, first_[1], last_[1], "block.y", [&](Value* y) {
        build_loop(at_, first_[0], last_[0], "block.x", [&](Value* x) {
          block_index_[0] = x;
          block_index_[1] = y;
          block_index_[2] = z;
          run_block();
        });
      });
    });
    at_.CreateRetVoid();
    return function_;
  }

 private:
  // --- what the function knows from its call ---

  void read_call() {
    for (unsigned a = 0; a < 3; ++a) {
      grid_[a] = call().grid(a);
      block_[a] = call().block(a);
      first_[a] = call().first(a);
      last_[a] = call().last(a);
    }
    if (shape_.x != 0) block_[0] = at_.getInt32(shape_.x);
    for (auto& argument : code_.function->args()) given_[&argument] = call().argument(argument);
  }
  BlockCall call() { return {at_, *function_}; }

  void find_memory() {
    scratch_ = call().scratch();
    auto* row = at_.CreateMul(block_[0], block_[1], "", true, true);
    threads_ = at_.CreateMul(row, block_[2], "threads", true, true);
    auto* more = at_.CreateAdd(at_.CreateZExt(threads_, at_.getInt64Ty()), at_.getInt64(63), "", true, true);
    places_ = at_.CreateAnd(more, at_.getInt64(~63ull), "places");
    auto* kept = at_.CreateMul(places_, at_.getInt64(memory_.thread_bytes), "", true, true);
    dynamic_ = at_.CreatePtrAdd(
        scratch_, at_.CreateAdd(kept, at_.getInt64(memory_.fixed_bytes), "", true, true), "dynamic");
    for (const auto& [variable, offset] : memory_.shared) given_[variable] = in_scratch(offset);
    for (const auto& [home, place] : memory_.per_thread) per_thread_[home] = per_thread_base(place);
    if (code_.diverges) {
      counters_ = per_thread_base(memory_.counters);
      if (code_.warps) masks_ = per_thread_base(memory_.masks);
      chosen_ = at_.CreateAlloca(at_.getInt32Ty(), nullptr, "chosen");
    }
    next_ = at_.CreateAlloca(at_.getInt32Ty(), nullptr, "next");
    for (const auto& value : code_.values) {
      if (value.how == KeptValue::How::per_thread && memory_.per_thread.count(value.home) == 0) {
        auto* lanes = llvm::ArrayType::get(kept_type(value.home->getAllocatedType()), kWarp);
        auto* array = at_.CreateAlloca(lanes, nullptr, "lanes");
        array->setAlignment(llvm::Align(kCacheLine));
        by_lane_[value.home] = array;
      }
      if (value.how == KeptValue::How::uniform && memory_.uniform.count(value.home) == 0) {
        uniform_[value.home] = at_.CreateAlloca(value.home->getAllocatedType(), nullptr, "uniform");
      }
    }
    for (auto* array : code_.local_arrays) {
      auto* local = at_.CreateAlloca(array->getAllocatedType(), nullptr, "array");
      local->setAlignment(array->getAlign());
      given_[array] = local;
    }
    state_ = nullptr;
    if (code_.calls_with_state) {
      auto type = llvm::FunctionType::get(at_.getPtrTy(), false);
      state_ = at_.CreateCall(function_->getParent()->getOrInsertFunction("__nuna_thread_state", type), {},
                              "state");
      for (unsigned a = 0; a < 3; ++a) {
        tell(offsetof(nuna_thread_state, block) + 4 * a, block_[a]);
        tell(offsetof(nuna_thread_state, grid) + 4 * a, grid_[a]);
      }
      tell(offsetof(nuna_thread_state, shared), scratch_);
      tell(offsetof(nuna_thread_state, dynamic_shared), dynamic_);
      tell(offsetof(nuna_thread_state, dynamic_shared_bytes), call().dynamic_shared_bytes());
    }
  }

  Value* in_scratch(std::uint64_t offset) {
    return at_.CreateConstInBoundsGEP1_64(at_.getInt8Ty(), scratch_, offset);
  }
  Value* per_thread_base(const PerThread& place) {
    auto* before = at_.CreateMul(places_, at_.getInt64(place.before), "", true, true);
    return at_.CreatePtrAdd(scratch_,
                            at_.CreateAdd(before, at_.getInt64(memory_.fixed_bytes), "", true, true));
  }
  void tell(std::size_t offset, Value* value) {
    at_.CreateStore(value, at_.CreateConstInBoundsGEP1_64(at_.getInt8Ty(), state_, offset));
  }

  // --- one block ---

  void run_block() {
    if (state_ != nullptr) {
      for (unsigned a = 0; a < 3; ++a)
        tell(offsetof(nuna_thread_state, block_index) + 4 * a, block_index_[a]);
    }
    if (code_.addresses.count(Intrinsic::block_cells) != 0)
      at_.CreateMemSet(in_scratch(memory_.cells), at_.getInt8(0), 16, llvm::Align(kCacheLine));
    end_ = llvm::BasicBlock::Create(context_, "block.end", function_);
    heads_.clear();
    for (std::size_t r = 0; r < code_.regions.size(); ++r)
      heads_.push_back(llvm::BasicBlock::Create(context_, "region", function_));
    if (code_.diverges) {
      run_diverging();
    } else if (code_.warps) {
      run_warps_together();
    } else {
      at_.CreateBr(heads_[0]);
      for (unsigned r = 0; r < heads_.size(); ++r) {
        at_.SetInsertPoint(heads_[r]);
        run_threads(r, nullptr);
        go_on(r, [&](unsigned next) { return heads_[next]; }, end_);
      }
    }
    at_.SetInsertPoint(end_);
  }

  /// Branches from region `r` to what follows, where all threads agree.
  void go_on(unsigned r, llvm::function_ref<llvm::BasicBlock*(unsigned)> follow, llvm::BasicBlock* ended) {
    const auto& region = code_.regions[r];
    if (region.next.empty()) {
      at_.CreateBr(ended);
      return;
    }
    if (region.next.size() == 1 && !region.may_end) {
      at_.CreateBr(follow(region.next[0]));
      return;
    }
    auto* next = at_.CreateLoad(at_.getInt32Ty(), next_);
    auto* choice = at_.CreateSwitch(next, region.may_end ? ended : follow(region.next[0]),
                                    static_cast<unsigned>(region.next.size()));
    for (const unsigned to : region.next) choice->addCase(at_.getInt32(to), follow(to));
  }

  Value* warps() {
    return at_.CreateLShr(at_.CreateAdd(threads_, at_.getInt32(kWarp - 1), "", true, true), 5);
  }
  Value* lanes(Value* warp) {
    if (shape_.whole_warps) return at_.getInt32(kWarp);
    auto* left = at_.CreateSub(threads_, at_.CreateShl(warp, 5, "", true, true), "", true, true);
    return at_.CreateSelect(at_.CreateICmpULT(left, at_.getInt32(kWarp)), left, at_.getInt32(kWarp));
  }
  Value* all_lanes(Value* lanes) {
    if (shape_.whole_warps) return at_.getInt32(~0u);
    return at_.CreateLShr(at_.getInt32(~0u), at_.CreateSub(at_.getInt32(kWarp), lanes));
  }

  /// Lanes of a warp agree on what comes next; warps run up to the block's next barrier, one after the other.
  void run_warps_together() {
    auto counter = [&] {
      return at_.CreateInBoundsGEP(at_.getInt32Ty(), in_scratch(memory_.warp_counters), warp_);
    };
    build_loop(at_, at_.getInt32(0), warps(), "start", [&](Value* warp) {
      warp_ = warp;
      at_.CreateStore(at_.getInt32(0), counter());
    });
    auto* waiting = scalar("waiting");
    auto* round = llvm::BasicBlock::Create(context_, "round", function_);
    at_.CreateBr(round);
    at_.SetInsertPoint(round);
    at_.CreateStore(at_.getInt32(0), waiting);
    build_loop(at_, at_.getInt32(0), warps(), "warp", [&](Value* warp) {
      begin_warp(warp);
      auto* done = llvm::BasicBlock::Create(context_, "warp.done", function_);
      auto* choice = at_.CreateSwitch(at_.CreateLoad(at_.getInt32Ty(), counter()), done, 4);
      for (unsigned r = 0; r < heads_.size(); ++r) {
        if (!code_.regions[r].after_warp) choice->addCase(at_.getInt32(r), heads_[r]);
      }
      auto leave = [&](unsigned to) {  // to the block's barrier, or to the end
        auto* block = llvm::BasicBlock::Create(context_, "leave", function_);
        const llvm::IRBuilderBase::InsertPointGuard guard(at_);
        at_.SetInsertPoint(block);
        at_.CreateStore(at_.getInt32(to), counter());
        if (to != NUNA_ENDED) at_.CreateStore(at_.getInt32(1), waiting);
        at_.CreateBr(done);
        return block;
      };
      for (unsigned r = 0; r < heads_.size(); ++r) {
        at_.SetInsertPoint(heads_[r]);
        group_ = all_lanes(lanes_);
        run_threads(r, nullptr);
        go_on(
            r, [&](unsigned next) { return code_.regions[next].after_warp ? heads_[next] : leave(next); },
            leave(NUNA_ENDED));
      }
      at_.SetInsertPoint(done);
    });
    at_.CreateCondBr(at_.CreateICmpNE(at_.CreateLoad(at_.getInt32Ty(), waiting), at_.getInt32(0)), round,
                     end_);
  }

  /// Every thread has a program counter: those that are furthest behind run first, as far as they can, until all wait for the
  /// block's barrier.
  void run_diverging() {
    auto* i32 = at_.getInt32Ty();
    auto* ptr = at_.getPtrTy();
    auto runtime = [&](const char* name, std::vector<llvm::Type*> types) {
      return function_->getParent()->getOrInsertFunction(name, llvm::FunctionType::get(i32, types, false));
    };
    const auto bytes = at_.CreateMul(places_, at_.getInt64(4), "", true, true);
    at_.CreateMemSet(counters_, at_.getInt8(0), bytes, llvm::Align(kCacheLine));
    if (masks_ != nullptr) at_.CreateMemSet(masks_, at_.getInt8(0), bytes, llvm::Align(kCacheLine));
    auto* round = llvm::BasicBlock::Create(context_, "round", function_);
    at_.CreateBr(round);
    at_.SetInsertPoint(round);
    auto run_group = [&](llvm::BasicBlock* done, llvm::function_ref<Value*()> pick) {
      auto* picking = llvm::BasicBlock::Create(context_, "pick", function_);
      at_.CreateBr(picking);
      at_.SetInsertPoint(picking);
      auto* choice = at_.CreateSwitch(pick(), done, static_cast<unsigned>(heads_.size()));
      for (unsigned r = 0; r < heads_.size(); ++r) {
        choice->addCase(at_.getInt32(r), heads_[r]);
        at_.SetInsertPoint(heads_[r]);
        if (code_.instructions > kLargeCode) {  // one copy, that asks every thread
          run_threads(r, [&](const Thread& thread) { return is_member(r, thread); });
          at_.CreateBr(picking);
          continue;
        }
        auto* everybody = llvm::BasicBlock::Create(context_, "everybody", function_);
        auto* some = llvm::BasicBlock::Create(context_, "some", function_);
        auto* all = code_.warps ? at_.CreateICmpEQ(group_, all_lanes(lanes_))
                                : at_.CreateICmpNE(group_, at_.getInt32(0));
        at_.CreateCondBr(all, everybody, some);
        at_.SetInsertPoint(everybody);
        run_threads(r, nullptr);
        at_.CreateBr(picking);
        at_.SetInsertPoint(some);
        run_threads(r, [&](const Thread& thread) { return is_member(r, thread); });
        at_.CreateBr(picking);
      }
      at_.SetInsertPoint(done);
    };
    if (code_.warps) {
      build_loop(at_, at_.getInt32(0), warps(), "warp", [&](Value* warp) {
        begin_warp(warp);
        auto* first = at_.CreateShl(warp, 5, "", true, true);
        auto* counters = at_.CreateInBoundsGEP(i32, counters_, first);
        auto* masks = at_.CreateInBoundsGEP(i32, masks_, first);
        run_group(llvm::BasicBlock::Create(context_, "warp.done", function_), [&] {
          auto* picked = at_.CreateCall(runtime("__nuna_pick_lanes", {ptr, ptr, i32, ptr}),
                                        {counters, masks, lanes_, chosen_});
          group_ = at_.CreateLoad(i32, chosen_);
          return picked;
        });
      });
    } else {
      run_group(llvm::BasicBlock::Create(context_, "threads.done", function_), [&] {
        auto* picked =
            at_.CreateCall(runtime("__nuna_pick_threads", {ptr, i32, ptr}), {counters_, threads_, chosen_});
        group_ = at_.CreateLoad(i32, chosen_);
        return picked;
      });
    }
    auto* more = at_.CreateCall(runtime("__nuna_next_round", {ptr, i32}), {counters_, threads_});
    at_.CreateCondBr(at_.CreateICmpNE(more, at_.getInt32(0)), round, end_);
  }

  Value* is_member(unsigned r, const Thread& thread) {
    if (code_.warps) return at_.CreateTrunc(at_.CreateLShr(group_, thread.lane), at_.getInt1Ty());
    return at_.CreateICmpEQ(mark(at_.CreateLoad(at_.getInt32Ty(), counter_of(thread))), at_.getInt32(r));
  }
  Value* counter_of(const Thread& thread) {
    return at_.CreateInBoundsGEP(at_.getInt32Ty(), counters_, thread.linear);
  }

  void begin_warp(Value* warp) {
    warp_ = warp;
    lanes_ = lanes(warp);
  }

  // --- the threads of a block, or of a warp ---

  using Member = llvm::function_ref<Value*(const Thread&)>;

  void run_threads(unsigned r, Member member) {
    group_of_loop_ = scopes_.make_group();
    load_uniform(r);
    auto* zero = at_.getInt32(0);
    if (code_.warps) {
      Thread start = first_of_warp();
      auto* branch = build_loop(at_, zero, lanes_, "lane", [&](Value* lane) {
        Thread thread = at_lane(start, lane);
        run_thread(r, thread, member);
      });
      scopes_.mark_parallel(*branch, group_of_loop_);
      return;
    }
    Thread thread;
    build_loop(at_, zero, block_[2], "z", [&](Value* z) {
      build_loop(at_, zero, block_[1], "y", [&](Value* y) {
        auto* row =
            at_.CreateMul(at_.CreateAdd(at_.CreateMul(z, block_[1], "", true, true), y, "", true, true),
                          block_[0], "", true, true);
        auto* branch = build_loop(at_, zero, block_[0], "x", [&](Value* x) {
          thread.index[0] = x;
          thread.index[1] = y;
          thread.index[2] = z;
          auto* linear = at_.CreateAdd(row, x, "", true, true);
          thread.linear = at_.CreateZExt(linear, at_.getInt64Ty());
          thread.lane = at_.CreateAnd(linear, kWarp - 1);
          run_thread(r, thread, member);
        });
        scopes_.mark_parallel(*branch, group_of_loop_);
      });
    });
  }

  /// Indices of a warp's first thread.
  Thread first_of_warp() {
    Thread first;
    auto* linear = at_.CreateShl(warp_, 5, "", true, true);
    auto* row = at_.CreateUDiv(linear, block_[0]);
    first.index[0] = at_.CreateURem(linear, block_[0]);
    first.index[1] = at_.CreateURem(row, block_[1]);
    first.index[2] = at_.CreateUDiv(row, block_[1]);
    first.linear = at_.CreateZExt(linear, at_.getInt64Ty());
    return first;
  }

  Thread at_lane(const Thread& first, Value* lane) {
    Thread thread = first;
    thread.lane = lane;
    auto* wide = at_.CreateZExt(lane, at_.getInt64Ty());
    thread.linear = at_.CreateAdd(first.linear, wide, "", true, true);
    if (shape_.whole_warps) {  // a warp lies in one row
      thread.index[0] = at_.CreateAdd(first.index[0], lane, "", true, true);
    } else {
      auto* linear = at_.CreateTrunc(thread.linear, at_.getInt32Ty());
      auto* row = at_.CreateUDiv(linear, block_[0]);
      thread.index[0] = at_.CreateURem(linear, block_[0]);
      thread.index[1] = at_.CreateURem(row, block_[1]);
      thread.index[2] = at_.CreateUDiv(row, block_[1]);
    }
    return thread;
  }

  /// The thread's run through region `r`: the builder ends behind it, wherever it stopped.
  void run_thread(unsigned r, const Thread& thread, Member member) {
    done_ = llvm::BasicBlock::Create(context_, "thread.done", function_);
    if (member) {
      auto* mine = llvm::BasicBlock::Create(context_, "mine", function_);
      at_.CreateCondBr(member(thread), mine, done_);
      at_.SetInsertPoint(mine);
    }
    if (state_ != nullptr) {
      for (unsigned a = 0; a < 3; ++a) tell(offsetof(nuna_thread_state, thread) + 4 * a, thread.index[a]);
    }
    llvm::ValueToValueMapTy map;
    give(thread, map);
    bring(r, thread, map);
    auto* start = clone(r, thread, map);
    at_.CreateBr(start);
    at_.SetInsertPoint(done_);
  }

  void give(const Thread& thread, llvm::ValueToValueMapTy& map) {
    if (auto* subprogram = code_.function->getSubprogram())
      map.MD()[subprogram].reset(function_->getSubprogram());
    for (const auto& [from, to] : given_) map[from] = to;
    for (const auto* variable : code_.dynamic_shared) map[variable] = dynamic_;
    for (auto* array : code_.arrays) map[array] = place_of(array, thread);
    for (unsigned k = 0; k < kSpecialRegisters; ++k) {
      if (code_.registers[k] != nullptr) map[code_.registers[k]] = register_value(k, thread);
    }
    for (const auto& [intrinsic, call] : code_.addresses) map[call] = address(intrinsic, thread);
  }

  Value* register_value(unsigned k, const Thread& thread) {
    if (k == kLane) return thread.lane;
    if (k < kBlockIdx) return thread.index[k];
    if (k < kBlockDim) return block_index_[k - kBlockIdx];
    return k < kGridDim ? block_[k - kBlockDim] : grid_[k - kGridDim];
  }

  Value* address(Intrinsic intrinsic, const Thread& thread) {
    if (intrinsic == Intrinsic::block_cells) return in_scratch(memory_.cells);
    if (intrinsic == Intrinsic::dynamic_shared) return dynamic_;
    if (intrinsic == Intrinsic::dynamic_shared_bytes) return call().dynamic_shared_bytes();
    auto* warp = at_.CreateLShr(thread.linear, 5);
    return at_.CreatePtrAdd(in_scratch(memory_.slots),
                            at_.CreateMul(warp, at_.getInt64(kSlotWords * 8), "", true, true));
  }

  Value* place_of(const llvm::AllocaInst* kept, const Thread& thread) {
    const auto lanes = by_lane_.find(kept);
    if (lanes != by_lane_.end())
      return at_.CreateInBoundsGEP(lanes->second->getAllocatedType(), lanes->second,
                                   {at_.getInt32(0), thread.lane});
    const auto bytes = memory_.per_thread.at(kept).bytes;
    auto* type = kept->getAllocatedType();
    auto* base = per_thread_.at(kept);
    if (code_.function->getParent()->getDataLayout().getTypeAllocSize(type) == bytes &&
        !kept->isArrayAllocation()) {
      return at_.CreateInBoundsGEP(type, base, thread.linear);
    }
    return at_.CreatePtrAdd(base, at_.CreateMul(thread.linear, at_.getInt64(bytes), "", true, true));
  }

  // --- values that live across suspensions ---

  /// Memory of 1-bit values does not vectorise: they are kept in bytes.
  llvm::Type* kept_type(llvm::Type* type) { return type->isIntegerTy(1) ? at_.getInt8Ty() : type; }
  Value* load_kept(llvm::Type* type, Value* place) {
    auto* value = mark(at_.CreateLoad(kept_type(type), place));
    return type->isIntegerTy(1) ? at_.CreateTrunc(value, type) : value;
  }
  void store_kept(Value* value, Value* place) {
    auto* type = kept_type(value->getType());
    auto* wide = type != value->getType() ? at_.CreateZExt(value, type) : value;
    mark(at_.CreateStore(wide, place));
  }
  template <class Access>
  Access* mark(Access* access) {
    scopes_.mark_kept(*access, group_of_loop_);
    return access;
  }

  Value* uniform_place(const KeptValue& value) {
    const auto in_memory = memory_.uniform.find(value.home);
    if (in_memory == memory_.uniform.end()) return uniform_.at(value.home);
    return at_.CreateInBoundsGEP(at_.getInt64Ty(), in_scratch(in_memory->second), warp_);
  }

  void load_uniform(unsigned r) {
    for (const auto& value : code_.values) {
      if (value.how == KeptValue::How::uniform && value.live_in[r]) {
        uniform_value_[value.home] = at_.CreateLoad(value.home->getAllocatedType(), uniform_place(value));
      }
    }
  }

  /// Gives the region a home of its own for every kept value that it uses.
  void bring(unsigned r, const Thread& thread, llvm::ValueToValueMapTy& map) {
    for (const auto& value : code_.values) {
      if (!value.live_in[r] && !is_used(value, r)) continue;
      auto* type = value.home->getAllocatedType();
      auto* home = scalar("home", type);
      map[value.home] = home;
      if (!value.live_in[r]) continue;
      switch (value.how) {
        case KeptValue::How::recompute:
          at_.CreateStore(recompute(value.recipe, map), home);
          break;
        case KeptValue::How::uniform:
          at_.CreateStore(uniform_value_.at(value.home), home);
          break;
        case KeptValue::How::per_thread:
          at_.CreateStore(load_kept(type, place_of(value.home, thread)), home);
          break;
      }
    }
  }

  bool is_used(const KeptValue& value, unsigned r) const {
    const auto& blocks = code_.regions[r].blocks;
    for (const auto* user : value.home->users()) {
      const auto* block = llvm::cast<llvm::Instruction>(user)->getParent();
      if (std::find(blocks.begin(), blocks.end(), block) != blocks.end()) return true;
    }
    return false;
  }
  bool is_stored(const KeptValue& value, unsigned r) const {
    const auto& blocks = code_.regions[r].blocks;
    for (const auto* user : value.home->users()) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (store != nullptr && std::find(blocks.begin(), blocks.end(), store->getParent()) != blocks.end())
        return true;
    }
    return false;
  }

  Value* recompute(const Recipe& recipe, llvm::ValueToValueMapTy& outer) {
    llvm::ValueToValueMapTy map;
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

  void keep(unsigned r, unsigned next, const Thread& thread, llvm::ValueToValueMapTy& map) {
    for (const auto& value : code_.values) {
      if (value.how == KeptValue::How::recompute || !value.live_in[next] || !is_stored(value, r)) continue;
      Value* newest = at_.CreateLoad(value.home->getAllocatedType(), map[value.home]);
      if (value.how == KeptValue::How::per_thread) {
        store_kept(newest, place_of(value.home, thread));
      } else {
        mark(at_.CreateStore(newest, uniform_place(value)));
      }
    }
  }

  // --- the region's own code ---

  llvm::BasicBlock* clone(unsigned r, const Thread& thread, llvm::ValueToValueMapTy& map) {
    const auto& region = code_.regions[r];
    llvm::SmallVector<llvm::BasicBlock*, 16> clones;
    for (auto* block : region.blocks) {
      auto* made = llvm::CloneBasicBlock(block, map, "", function_);
      map[block] = made;
      clones.push_back(made);
    }
    drop_absent_predecessors(region, map);
    llvm::remapInstructionsInBlocks(clones, map);
    if (region.group != nullptr) {
      auto* group = llvm::cast<llvm::Instruction>(static_cast<Value*>(map[region.group]));
      group->replaceAllUsesWith(group_);
      group->eraseFromParent();
    }
    for (auto* block : clones) {
      for (auto& instruction : *block) {
        scopes_.mark_users(instruction, group_of_loop_);
        move_location(instruction);
      }
    }
    for (auto* block : region.blocks) leave(r, *block, thread, map);
    return llvm::cast<llvm::BasicBlock>(static_cast<Value*>(map[region.start]));
  }

  /// Where an instruction stands in the source, as of this function's subprogram: remapping leaves that alone.
  void move_location(llvm::Instruction& instruction) {
    auto* subprogram = function_->getSubprogram();
    if (subprogram == nullptr) return;
    auto moved = [&](const llvm::DebugLoc& old) {
      return llvm::DebugLoc::replaceInlinedAtSubprogram(old, *subprogram, context_, locations_);
    };
    if (const auto& old = instruction.getDebugLoc()) instruction.setDebugLoc(moved(old));
    llvm::updateLoopMetadataDebugLocations(instruction, [&](llvm::Metadata* part) -> llvm::Metadata* {
      auto* location = llvm::dyn_cast_or_null<llvm::DILocation>(part);
      return location != nullptr ? moved(location).get() : part;
    });
  }

  void drop_absent_predecessors(const Region& region, llvm::ValueToValueMapTy& map) {
    for (auto* block : region.blocks) {
      for (auto& phi : block->phis()) {
        auto* made = llvm::cast<llvm::PHINode>(static_cast<Value*>(map[&phi]));
        for (auto* from : phi.blocks()) {
          const bool inside =
              std::find(region.blocks.begin(), region.blocks.end(), from) != region.blocks.end();
          if ((!inside || code_.suspensions.count(from) != 0) && made->getBasicBlockIndex(from) >= 0) {
            made->removeIncomingValue(from, false);
          }
        }
      }
    }
  }

  /// Ends the thread's run where its block suspends or returns.
  void leave(unsigned r, llvm::BasicBlock& block, const Thread& thread, llvm::ValueToValueMapTy& map) {
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
    if (code_.diverges) {
      const bool waits = suspends && !suspension->second.warp;
      mark(at_.CreateStore(at_.getInt32(waits ? next | NUNA_WAITS : next), counter_of(thread)));
      if (suspends && suspension->second.warp) {
        Value* mask = meet != nullptr ? meet->getArgOperand(0) : at_.getInt32(0);
        mark(at_.CreateStore(mask, at_.CreateInBoundsGEP(at_.getInt32Ty(), masks_, thread.linear)));
      }
    } else if (code_.regions[r].next.size() + (code_.regions[r].may_end ? 1 : 0) > 1) {
      mark(at_.CreateStore(at_.getInt32(next), next_));
    }
    at_.CreateBr(done_);
    end->eraseFromParent();
    if (meet != nullptr) meet->eraseFromParent();
  }

  llvm::AllocaInst* scalar(const char* name, llvm::Type* type = nullptr) {
    llvm::IRBuilder<> first(entry_, entry_->begin());
    return first.CreateAlloca(type != nullptr ? type : first.getInt32Ty(), nullptr, name);
  }

  void copy_subprogram() {
    auto* old = code_.function->getSubprogram();
    if (old == nullptr) return;
    auto copy = old->clone();
    auto* made = llvm::MDNode::replaceWithDistinct(std::move(copy));
    function_->setSubprogram(made);
  }

  const ThreadCode& code_;
  const BlockMemory& memory_;
  const Shape shape_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> at_;
  MemoryScopes scopes_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;

  // Of the call.
  Value* grid_[3] = {};
  Value* block_[3] = {};
  Value* first_[3] = {};
  Value* last_[3] = {};
  Value* scratch_ = nullptr;
  Value* dynamic_ = nullptr;
  Value* threads_ = nullptr;  ///< of a block, i32
  Value* places_ = nullptr;   ///< the same, rounded up to a multiple of 64, i64
  Value* counters_ = nullptr;
  Value* masks_ = nullptr;
  Value* state_ = nullptr;
  llvm::AllocaInst* chosen_ = nullptr;
  llvm::AllocaInst* next_ = nullptr;
  std::map<const Value*, Value*> given_;
  std::map<const llvm::AllocaInst*, Value*> per_thread_;
  std::map<const llvm::AllocaInst*, llvm::AllocaInst*> by_lane_;  ///< what lives within a warp's turn
  std::map<const llvm::AllocaInst*, Value*> uniform_;

  // Of what is being made.
  Value* block_index_[3] = {};
  Value* warp_ = nullptr;
  Value* lanes_ = nullptr;
  Value* group_ = nullptr;  ///< lanes that run together; of a block: not zero when all threads do
  std::map<const llvm::AllocaInst*, Value*> uniform_value_;
  std::vector<llvm::BasicBlock*> heads_;
  llvm::BasicBlock* end_ = nullptr;
  llvm::BasicBlock* done_ = nullptr;
  llvm::MDNode* group_of_loop_ = nullptr;
  llvm::DenseMap<const llvm::MDNode*, llvm::MDNode*> locations_;
};

}  // namespace

llvm::Function* make_block_function(const ThreadCode& code, const BlockMemory& memory, const Shape& shape,
                                    const std::string& name) {
  return BlockFunction(code, memory, shape, name).make();
}

}  // namespace nuna::compiler
