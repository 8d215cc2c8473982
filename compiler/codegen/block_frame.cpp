#include "codegen/block_frame.hpp"

#include <cstddef>

#include "nuna_cudart/image.h"

namespace nuna::compiler {

using llvm::Value;

BlockFrame::BlockFrame(llvm::IRBuilder<>& builder, llvm::Function& made, const ThreadCode& plan,
                       const BlockMemory& layout, const Shape& blocks)
    : at(builder), function(made), code(plan), memory(layout), shape(blocks), scopes(made.getContext()) {
  const BlockCall call(at, function);
  for (unsigned axis = 0; axis < 3; ++axis) {
    grid[axis] = call.grid(axis);
    block[axis] = call.block(axis);
    first[axis] = call.first(axis);
    last[axis] = call.last(axis);
  }
  if (shape.x != 0) block[0] = at.getInt32(shape.x);
  for (auto& argument : code.function->args()) given[&argument] = call.argument(argument);
  scratch = call.scratch();
  dynamic_bytes = call.dynamic_shared_bytes();
  noted_block_ = call.block_index();
  find_memory();
  if (code.calls_with_state) tell_launch();
}

void BlockFrame::find_memory() {
  auto* layer = at.CreateMul(block[0], block[1], "", true, true);
  threads = at.CreateMul(layer, block[2], "threads", true, true);
  auto* more = at.CreateAdd(at.CreateZExt(threads, at.getInt64Ty()), at.getInt64(63), "", true, true);
  places = at.CreateAnd(more, at.getInt64(~63ull), "places");
  auto* kept = at.CreateMul(places, at.getInt64(memory.thread_bytes), "", true, true);
  dynamic = at.CreatePtrAdd(scratch, at.CreateAdd(kept, at.getInt64(memory.fixed_bytes), "", true, true),
                            "dynamic");
  for (const auto& [variable, offset] : memory.shared) given[variable] = in_scratch(offset);
  for (const auto& [home, place] : memory.per_thread) per_thread_[home] = per_thread_base(place);
  if (code.diverges) {
    counters = per_thread_base(memory.counters);
    if (code.grouping != Grouping::none) masks = per_thread_base(memory.masks);
  }
  next = at.CreateAlloca(at.getInt32Ty(), nullptr, "next");
  for (const auto& value : code.values) {
    auto* type = value.home->getAllocatedType();
    if (value.how == KeptValue::How::per_thread && memory.per_thread.count(value.home) == 0) {
      auto* array = at.CreateAlloca(llvm::ArrayType::get(kept_type(type), kLanes), nullptr, "lanes");
      array->setAlignment(llvm::Align(kCacheLine));
      by_lane_[value.home] = array;
    }
    if (value.how == KeptValue::How::uniform && memory.uniform.count(value.home) == 0)
      uniform_[value.home] = at.CreateAlloca(type, nullptr, "uniform");
  }
  for (auto* array : code.local_arrays) {
    auto* local = at.CreateAlloca(array->getAllocatedType(), nullptr, "array");
    local->setAlignment(array->getAlign());
    given[array] = local;
    scopes.add_array(*local);
  }
}

void BlockFrame::tell_launch() {
  auto* type = llvm::FunctionType::get(at.getPtrTy(), false);
  state_ = at.CreateCall(function.getParent()->getOrInsertFunction("__nuna_thread_state", type), {}, "state");
  for (unsigned axis = 0; axis < 3; ++axis) {
    tell(offsetof(nuna_thread_state, block) + 4 * axis, block[axis]);
    tell(offsetof(nuna_thread_state, grid) + 4 * axis, grid[axis]);
  }
  tell(offsetof(nuna_thread_state, shared), scratch);
  tell(offsetof(nuna_thread_state, dynamic_shared), dynamic);
  tell(offsetof(nuna_thread_state, dynamic_shared_bytes), dynamic_bytes);
}

void BlockFrame::tell(std::size_t offset, Value* value) const {
  at.CreateStore(value, at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), state_, offset));
}

// Volatile, as nothing in the code reads it.
void BlockFrame::note_block(unsigned axis, Value* index) const {
  auto* place = at.CreateConstInBoundsGEP1_64(at.getInt32Ty(), noted_block_, axis);
  scopes.mark_kept(*at.CreateStore(index, place, true), nullptr);
}

void BlockFrame::begin_block(Value* x, Value* y, Value* z) {
  block_index[0] = x;
  block_index[1] = y;
  block_index[2] = z;
  for (unsigned axis = 0; state_ != nullptr && axis < 3; ++axis)
    tell(offsetof(nuna_thread_state, block_index) + 4 * axis, block_index[axis]);
  if (code.addresses.count(Intrinsic::block_cells) != 0)
    at.CreateMemSet(in_scratch(memory.cells), at.getInt8(0), 16, llvm::Align(kCacheLine));
}

void BlockFrame::begin_thread(const Thread& thread) {
  for (unsigned axis = 0; state_ != nullptr && axis < 3; ++axis)
    tell(offsetof(nuna_thread_state, thread) + 4 * axis, thread.index[axis]);
}

Value* BlockFrame::in_scratch(std::uint64_t offset) const {
  return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), scratch, offset);
}

Value* BlockFrame::per_thread_base(const PerThread& place) const {
  auto* before = at.CreateMul(places, at.getInt64(place.before), "", true, true);
  return at.CreatePtrAdd(scratch, at.CreateAdd(before, at.getInt64(memory.fixed_bytes), "", true, true));
}

Value* BlockFrame::special_register(unsigned k, const Thread& thread) const {
  if (k == kLane) return thread.lane;
  if (k < kBlockIdx) return thread.index[k];
  if (k < kBlockDim) return block_index[k - kBlockIdx];
  return k < kGridDim ? block[k - kBlockDim] : grid[k - kGridDim];
}

Value* BlockFrame::address(Intrinsic intrinsic, const Thread& thread) const {
  if (intrinsic == Intrinsic::block_cells) return in_scratch(memory.cells);
  if (intrinsic == Intrinsic::dynamic_shared) return dynamic;
  if (intrinsic == Intrinsic::dynamic_shared_bytes) return dynamic_bytes;
  auto* warp = code.grouping == Grouping::warps ? at.CreateZExt(group, at.getInt64Ty())
                                                : at.CreateLShr(thread.linear, 5);
  return at.CreatePtrAdd(in_scratch(memory.slots),
                         at.CreateMul(warp, at.getInt64(kSlotWords * 8), "", true, true));
}

Value* BlockFrame::place_of(const llvm::AllocaInst* kept, const Thread& thread) const {
  const auto lanes = by_lane_.find(kept);
  if (lanes != by_lane_.end())
    return at.CreateInBoundsGEP(lanes->second->getAllocatedType(), lanes->second,
                                {at.getInt32(0), thread.lane});
  const auto bytes = memory.per_thread.at(kept).bytes;
  auto* type = kept->getAllocatedType();
  auto* base = per_thread_.at(kept);
  if (function.getParent()->getDataLayout().getTypeAllocSize(type) == bytes && !kept->isArrayAllocation())
    return at.CreateInBoundsGEP(type, base, thread.linear);
  return at.CreatePtrAdd(base, at.CreateMul(thread.linear, at.getInt64(bytes), "", true, true));
}

Value* BlockFrame::uniform_place(const KeptValue& value) const {
  const auto in_memory = memory.uniform.find(value.home);
  if (in_memory == memory.uniform.end()) return uniform_.at(value.home);
  const auto bytes = function.getParent()->getDataLayout().getTypeAllocSize(value.home->getAllocatedType());
  auto* before = at.CreateMul(at.CreateZExt(group, at.getInt64Ty()), at.getInt64(bytes_of_group(bytes)));
  return at.CreatePtrAdd(in_scratch(in_memory->second), before);
}

Value* BlockFrame::counter_of(const Thread& thread) const {
  return at.CreateInBoundsGEP(at.getInt32Ty(), counters, thread.linear);
}

llvm::AllocaInst* BlockFrame::scalar(const char* name, llvm::Type* type) const {
  auto& entry = function.getEntryBlock();
  llvm::IRBuilder<> beginning(&entry, entry.begin());
  return beginning.CreateAlloca(type != nullptr ? type : at.getInt32Ty(), nullptr, name);
}

Value* BlockFrame::load_kept(llvm::Type* type, Value* place) const {
  auto* value = mark(at.CreateLoad(kept_type(type), place));
  return type->isIntegerTy(1) ? at.CreateTrunc(value, type) : value;
}

void BlockFrame::store_kept(Value* value, Value* place) const {
  auto* type = kept_type(value->getType());
  mark(at.CreateStore(type != value->getType() ? at.CreateZExt(value, type) : value, place));
}

}  // namespace nuna::compiler
