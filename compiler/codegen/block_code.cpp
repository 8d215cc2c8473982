#include "codegen/block_code.hpp"

#include <llvm/IR/DebugInfoMetadata.h>

#include "codegen/block_frame.hpp"
#include "codegen/loops.hpp"
#include "codegen/optimise.hpp"
#include "codegen/shared_atomics.hpp"
#include "codegen/thread_run.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

using llvm::Value;

constexpr std::size_t kLargeCode = 1500;  ///< instructions; above, code is not copied for speed
constexpr std::size_t kSmallCode =
    300;                           ///< instructions; above, few passes are spent on code for the rare block
constexpr unsigned kLongRow = 64;  ///< threads; above, the loop over them is not unrolled whole
constexpr std::size_t kInlinedCode = 100;  ///< instructions; above, code for blocks is called

/// Whether passes over the code are not worth their time.
bool is_rarely_run(const ThreadCode& code, const Shape& shape) {
  return shape.small && (code.diverges || code.instructions > kSmallCode);
}

/// Threads that suspend together without the rest of their block: a warp, or part of a row.
struct Group {
  Value* number = nullptr;  ///< in its block
  Thread first;
  Value* lanes = nullptr;
};

/// Which block, which region and which threads run next.
class Schedule {
 public:
  explicit Schedule(BlockFrame& frame) : frame_(frame), at_(frame.at), code_(frame.code), run_(frame) {}

  void run_block() {
    end_ = make_block("block.end");
    heads_.clear();
    for (std::size_t r = 0; r < code_.regions.size(); ++r) heads_.push_back(make_block("region"));
    if (code_.diverges) {
      run_diverging();
    } else if (code_.grouping != Grouping::none) {
      run_groups_together();
    } else {
      at_.CreateBr(heads_[0]);
      for (unsigned r = 0; r < heads_.size(); ++r) {
        at_.SetInsertPoint(heads_[r]);
        run_threads(r, nullptr, Together::all, nullptr);
        go_on(r, [&](unsigned next) { return heads_[next]; }, end_);
      }
    }
    at_.SetInsertPoint(end_);
  }

 private:
  using Member = llvm::function_ref<Value*(const Thread&)>;

  llvm::BasicBlock* make_block(const char* name) {
    return llvm::BasicBlock::Create(at_.getContext(), name, &frame_.function);
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
    auto* next = at_.CreateLoad(at_.getInt32Ty(), frame_.next);
    auto* choice = at_.CreateSwitch(next, region.may_end ? ended : follow(region.next[0]),
                                    static_cast<unsigned>(region.next.size()));
    for (const unsigned to : region.next) choice->addCase(at_.getInt32(to), follow(to));
  }

  // --- groups ---

  Value* least_of(Value* a, Value* b) { return at_.CreateSelect(at_.CreateICmpULT(a, b), a, b); }
  Value* rounds_of(Value* threads) {
    return at_.CreateLShr(at_.CreateAdd(threads, at_.getInt32(kLanes - 1), "", true, true), 5);
  }
  Value* lanes_from(Value* first, Value* end) {
    if (frame_.shape.whole_warps) return at_.getInt32(kLanes);
    return least_of(at_.CreateSub(end, first, "", true, true), at_.getInt32(kLanes));
  }

  void for_groups(const char* name, llvm::function_ref<void(const Group&)> body) {
    if (code_.grouping == Grouping::warps) {
      build_loop(at_, at_.getInt32(0), rounds_of(frame_.threads), name, [&](Value* warp) {
        Group group{warp, first_of_warp(warp), nullptr};
        group.lanes = lanes_from(at_.CreateShl(warp, 5, "", true, true), frame_.threads);
        begin_group(group, body);
      });
      return;
    }
    auto* zero = at_.getInt32(0);
    const bool one = frame_.shape.x != 0 && frame_.shape.x <= kLanes;
    auto* parts = rounds_of(frame_.block[0]);
    build_loop(at_, zero, frame_.block[2], name, [&](Value* z) {
      build_loop(at_, zero, frame_.block[1], name, [&](Value* y) {
        auto* row = row_of(y, z);
        auto make = [&](Value* part) {
          Group group;
          group.number = at_.CreateAdd(at_.CreateMul(row, parts, "", true, true), part, "", true, true);
          group.first.index[0] = at_.CreateShl(part, 5, "", true, true);
          group.first.index[1] = y;
          group.first.index[2] = z;
          group.first.linear = linear_of(row, group.first.index[0]);
          group.lanes = one ? frame_.block[0] : lanes_from(group.first.index[0], frame_.block[0]);
          begin_group(group, body);
        };
        if (one) {
          make(zero);
        } else {
          build_loop(at_, zero, parts, name, make);
        }
      });
    });
  }

  void begin_group(const Group& group, llvm::function_ref<void(const Group&)> body) {
    frame_.group = group.number;
    body(group);
  }

  Value* row_of(Value* y, Value* z) {
    return at_.CreateAdd(at_.CreateMul(z, frame_.block[1], "", true, true), y, "", true, true);
  }
  Value* linear_of(Value* row, Value* x) {
    auto* before = at_.CreateMul(row, frame_.block[0], "", true, true);
    return at_.CreateZExt(at_.CreateAdd(before, x, "", true, true), at_.getInt64Ty());
  }

  Thread first_of_warp(Value* warp) {
    Thread first;
    place(first, at_.CreateShl(warp, 5, "", true, true));
    return first;
  }

  void place(Thread& thread, Value* linear) {
    auto* row = at_.CreateUDiv(linear, frame_.block[0]);
    thread.index[0] = at_.CreateURem(linear, frame_.block[0]);
    thread.index[1] = at_.CreateURem(row, frame_.block[1]);
    thread.index[2] = at_.CreateUDiv(row, frame_.block[1]);
    thread.linear = at_.CreateZExt(linear, at_.getInt64Ty());
  }

  Thread at_lane(const Group& group, Value* lane) {
    Thread thread = group.first;
    thread.lane = lane;
    auto* wide = at_.CreateZExt(lane, at_.getInt64Ty());
    thread.linear = at_.CreateAdd(group.first.linear, wide, "", true, true);
    if (code_.grouping == Grouping::row_parts || frame_.shape.whole_warps) {  // it lies in one row
      thread.index[0] = at_.CreateAdd(group.first.index[0], lane, "", true, true);
    } else {
      place(thread, at_.CreateTrunc(thread.linear, at_.getInt32Ty()));
    }
    return thread;
  }

  Value* all_of(const Group& group) {
    return at_.CreateLShr(at_.getInt32(~0u), at_.CreateSub(at_.getInt32(kLanes), group.lanes));
  }

  /// Lanes of a group agree on what comes next; groups run up to the block's next barrier, one after the other.
  void run_groups_together() {
    auto counter = [&] {
      return at_.CreateInBoundsGEP(at_.getInt32Ty(), frame_.in_scratch(frame_.memory.group_counters),
                                   frame_.group);
    };
    for_groups("start", [&](const Group&) { at_.CreateStore(at_.getInt32(0), counter()); });
    auto* waiting = frame_.scalar("waiting");
    auto* round = make_block("round");
    at_.CreateBr(round);
    at_.SetInsertPoint(round);
    at_.CreateStore(at_.getInt32(0), waiting);
    for_groups("group", [&](const Group& group) {
      auto* done = make_block("group.done");
      auto* choice = at_.CreateSwitch(at_.CreateLoad(at_.getInt32Ty(), counter()), done, 4);
      for (unsigned r = 0; r < heads_.size(); ++r) {
        if (!code_.regions[r].after_group) choice->addCase(at_.getInt32(r), heads_[r]);
      }
      auto leave = [&](unsigned to) {  // to the block's barrier, or to the end
        auto* block = make_block("leave");
        const llvm::IRBuilderBase::InsertPointGuard guard(at_);
        at_.SetInsertPoint(block);
        at_.CreateStore(at_.getInt32(to), counter());
        if (to != NUNA_ENDED) at_.CreateStore(at_.getInt32(1), waiting);
        at_.CreateBr(done);
        return block;
      };
      for (unsigned r = 0; r < heads_.size(); ++r) {
        at_.SetInsertPoint(heads_[r]);
        frame_.members = frame_.met = all_of(group);
        run_threads(r, &group, Together::all, nullptr);
        go_on(
            r, [&](unsigned next) { return code_.regions[next].after_group ? heads_[next] : leave(next); },
            leave(NUNA_ENDED));
      }
      at_.SetInsertPoint(done);
    });
    at_.CreateCondBr(at_.CreateICmpNE(at_.CreateLoad(at_.getInt32Ty(), waiting), at_.getInt32(0)), round,
                     end_);
  }

  // --- threads with program counters of their own ---

  Value* call_runtime(const char* name, llvm::ArrayRef<Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (auto* argument : arguments) types.push_back(argument->getType());
    auto* type = llvm::FunctionType::get(at_.getInt32Ty(), types, false);
    return at_.CreateCall(frame_.function.getParent()->getOrInsertFunction(name, type), arguments);
  }

  llvm::Constant* kinds_of_regions() {
    std::vector<std::uint8_t> kinds;
    for (const auto& region : code_.regions) kinds.push_back(region.kind);
    auto* all = llvm::ConstantDataArray::get(at_.getContext(), kinds);
    return new llvm::GlobalVariable(*frame_.function.getParent(), all->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, all, "kinds");
  }

  /// Every thread has a program counter: those that are furthest behind run first, as far as they can, until all wait for the
  /// block's barrier.
  void run_diverging() {
    auto* i32 = at_.getInt32Ty();
    const auto bytes = at_.CreateMul(frame_.places, at_.getInt64(4), "", true, true);
    at_.CreateMemSet(frame_.counters, at_.getInt8(0), bytes, llvm::Align(kCacheLine));
    if (frame_.masks != nullptr)
      at_.CreateMemSet(frame_.masks, at_.getInt8(0), bytes, llvm::Align(kCacheLine));
    auto* chosen = frame_.scalar("chosen");
    auto* met = frame_.scalar("met");
    auto* round = make_block("round");
    at_.CreateBr(round);
    at_.SetInsertPoint(round);
    if (code_.grouping != Grouping::none) {
      auto* kinds = kinds_of_regions();
      for_groups("group", [&](const Group& group) {
        auto* counters = at_.CreateInBoundsGEP(i32, frame_.counters, group.first.linear);
        auto* masks = at_.CreateInBoundsGEP(i32, frame_.masks, group.first.linear);
        run_picked(&group, [&] {
          auto* picked =
              call_runtime("__nuna_pick_lanes", {counters, masks, kinds, group.lanes, chosen, met});
          frame_.members = at_.CreateLoad(i32, chosen);
          frame_.met = at_.CreateLoad(i32, met);
          return picked;
        });
      });
    } else {
      run_picked(nullptr, [&] {
        auto* picked = call_runtime("__nuna_pick_threads", {frame_.counters, frame_.threads, chosen});
        frame_.members = at_.CreateLoad(i32, chosen);
        return picked;
      });
    }
    auto* more = call_runtime("__nuna_next_round", {frame_.counters, frame_.threads});
    at_.CreateCondBr(at_.CreateICmpNE(more, at_.getInt32(0)), round, end_);
  }

  /// Has the picked threads of a group, or of the block, run the region at which they are, until none can run.
  void run_picked(const Group* group, llvm::function_ref<Value*()> pick) {
    auto* done = make_block("done");
    auto* picking = make_block("pick");
    at_.CreateBr(picking);
    at_.SetInsertPoint(picking);
    auto* choice = at_.CreateSwitch(pick(), done, static_cast<unsigned>(heads_.size()));
    const bool copies = !frame_.shape.small &&
                        code_.instructions <= kLargeCode;  // code that asks no thread, for all together
    std::vector<llvm::BasicBlock*> all;
    std::vector<llvm::BasicBlock*> some;
    for (unsigned r = 0; r < heads_.size(); ++r) {
      choice->addCase(at_.getInt32(r), heads_[r]);
      all.push_back(copies ? make_block("all") : nullptr);
      some.push_back(copies ? make_block("some") : heads_[r]);
    }
    for (unsigned r = 0; r < heads_.size(); ++r) {
      if (copies) {
        at_.SetInsertPoint(heads_[r]);
        auto* together = group != nullptr ? at_.CreateICmpEQ(frame_.members, all_of(*group))
                                          : at_.CreateICmpNE(frame_.members, at_.getInt32(0));
        at_.CreateCondBr(together, all[r], some[r]);
        at_.SetInsertPoint(all[r]);
        run_threads(r, group, Together::all, nullptr);
        go_straight_on(r, Together::all, all, picking);
      }
      at_.SetInsertPoint(some[r]);
      run_threads(r, group, Together::some, [&](const Thread& thread) -> Value* {
        if (group != nullptr)
          return at_.CreateTrunc(at_.CreateLShr(frame_.members, thread.lane), at_.getInt1Ty());
        auto* counter = frame_.mark(at_.CreateLoad(at_.getInt32Ty(), frame_.counter_of(thread)));
        return at_.CreateICmpEQ(counter, at_.getInt32(r));
      });
      go_straight_on(r, Together::some, some, picking);
    }
    at_.SetInsertPoint(done);
  }

  /// Branches from region `r` to those that follow without a look at program counters, else to `picking`.
  void go_straight_on(unsigned r, Together together, const std::vector<llvm::BasicBlock*>& heads,
                      llvm::BasicBlock* picking) {
    const auto& region = code_.regions[r];
    std::vector<unsigned> straight;
    for (const unsigned next : region.next) {
      if (run_.goes_straight_on(region, code_.regions[next], together)) straight.push_back(next);
    }
    if (straight.empty()) {
      at_.CreateBr(picking);
      return;
    }
    if (region.next.size() == 1 && !region.may_end) {
      at_.CreateBr(heads[straight[0]]);
      return;
    }
    auto* next = at_.CreateLoad(at_.getInt32Ty(), frame_.next);
    auto* choice = at_.CreateSwitch(next, picking, static_cast<unsigned>(straight.size()));
    for (const unsigned to : straight) choice->addCase(at_.getInt32(to), heads[to]);
  }

  // --- the threads of a group, or of the block ---

  void run_threads(unsigned r, const Group* group, Together together, Member member) {
    frame_.loop_group = frame_.scopes.make_group();
    run_.load_uniform(r);
    auto* zero = at_.getInt32(0);
    if (group != nullptr) {
      auto* branch = build_loop(at_, zero, group->lanes, "lane",
                                [&](Value* lane) { run_thread(r, at_lane(*group, lane), together, member); });
      mark_loop(*branch, MemoryScopes::Threads::lanes);
      return;
    }
    const auto row_of_threads =
        frame_.shape.x > kLongRow ? MemoryScopes::Threads::long_row : MemoryScopes::Threads::row;
    build_loop(at_, zero, frame_.block[2], "z", [&](Value* z) {
      build_loop(at_, zero, frame_.block[1], "y", [&](Value* y) {
        auto* row = at_.CreateMul(row_of(y, z), frame_.block[0], "", true, true);
        auto* branch = build_loop(at_, zero, frame_.block[0], "x", [&](Value* x) {
          auto* linear = at_.CreateAdd(row, x, "", true, true);
          Thread thread{{x, y, z}, at_.CreateZExt(linear, at_.getInt64Ty()), nullptr};
          thread.lane = at_.CreateAnd(linear, kLanes - 1);
          run_thread(r, thread, together, member);
        });
        mark_loop(*branch, row_of_threads);
      });
    });
  }

  void mark_loop(llvm::BranchInst& branch, MemoryScopes::Threads threads) {
    if (is_rarely_run(code_, frame_.shape)) {
      frame_.scopes.mark_plain(branch);
    } else {
      frame_.scopes.mark_parallel(branch, frame_.loop_group, threads);
    }
  }

  void run_thread(unsigned r, const Thread& thread, Together together, Member member) {
    if (!member) {
      run_.make(r, thread, together);
      return;
    }
    auto* mine = make_block("mine");
    auto* others = make_block("others");
    at_.CreateCondBr(member(thread), mine, others);
    at_.SetInsertPoint(mine);
    run_.make(r, thread, together);
    at_.CreateBr(others);
    at_.SetInsertPoint(others);
  }

  BlockFrame& frame_;
  llvm::IRBuilder<>& at_;
  const ThreadCode& code_;
  ThreadRun run_;
  std::vector<llvm::BasicBlock*> heads_;
  llvm::BasicBlock* end_ = nullptr;
};

llvm::Function* declare(const ThreadCode& code, const std::string& name) {
  auto& context = code.function->getContext();
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, code.function->getParent());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", "512");
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  if (auto* subprogram = code.function->getSubprogram())
    function->setSubprogram(llvm::MDNode::replaceWithDistinct(subprogram->clone()));
  return function;
}

}  // namespace

llvm::Function* make_block_function(const ThreadCode& code, const BlockMemory& memory, const Shape& shape,
                                    const std::string& name) {
  auto* function = declare(code, name);
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(function->getContext(), "entry", function));
  BlockFrame frame(at, *function, code, memory, shape);
  Schedule schedule(frame);
  build_loop(at, frame.first[2], frame.last[2], "block.z", [&](Value* z) {
    frame.note_block(2, z);
    build_loop(at, frame.first[1], frame.last[1], "block.y", [&](Value* y) {
      frame.note_block(1, y);
      build_loop(at, frame.first[0], frame.last[0], "block.x", [&](Value* x) {
        frame.note_block(0, x);
        frame.begin_block(x, y, z);
        schedule.run_block();
      });
    });
  });
  at.CreateRetVoid();
  lower_shared_atomics(*function);
  if (code.instructions > kInlinedCode) function->addFnAttr(llvm::Attribute::NoInline);
  if (is_rarely_run(code, shape)) mark_rarely_run(*function);
  return function;
}

}  // namespace nuna::compiler
