#include "codegen/block_memory.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace nuna::compiler {

namespace {

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

bool used_by(const llvm::Value& value, const llvm::Function& function) {
  return std::any_of(value.user_begin(), value.user_end(), [&](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction != nullptr)
      return instruction->getParent() != nullptr && instruction->getFunction() == &function;
    return llvm::isa<llvm::Constant>(user) && !llvm::isa<llvm::GlobalValue>(user) && used_by(*user, function);
  });
}

class Layout {
 public:
  explicit Layout(const llvm::DataLayout& layout) : layout_(layout) {}

  std::uint64_t add(std::uint64_t bytes, std::uint64_t align = kCacheLine) {
    const auto at = rounded(memory.fixed_bytes, align);
    memory.fixed_bytes = at + bytes;
    return at;
  }
  PerThread add_per_thread(std::uint64_t bytes) {
    const PerThread place{memory.thread_bytes, bytes};
    memory.thread_bytes += bytes;
    return place;
  }
  std::uint64_t size(llvm::Type* type) const { return layout_.getTypeAllocSize(type); }

  BlockMemory memory;

 private:
  const llvm::DataLayout& layout_;
};

}  // namespace

std::uint64_t bytes_of_group(std::uint64_t bytes) { return rounded(bytes, 8); }

BlockMemory lay_out(const ThreadCode& code, const DeviceModule& device, const CommonShared& common) {
  const auto& function = *code.function;
  Layout to(device.module->getDataLayout());
  std::uint64_t end = 0;
  for (const auto& [variable, at] : common) {
    to.memory.shared[variable] = at;
    end = std::max(end, at + to.size(variable->getValueType()));
  }
  to.memory.fixed_bytes = end;
  for (const auto& [variable, dynamic] : device.shared) {
    if (dynamic || common.count(variable) != 0 || !used_by(*variable, function)) continue;
    to.memory.shared[variable] =
        to.add(to.size(variable->getValueType()),
               std::max<std::uint64_t>(16, variable->getAlign().valueOrOne().value()));
  }
  to.memory.shared_bytes = to.memory.fixed_bytes;
  to.memory.cells = to.add(kCacheLine);
  const bool groups = code.grouping != Grouping::none;
  const auto most = code.grouping == Grouping::warps ? kMaxWarps : kMaxRowParts;
  if (code.addresses.count(Intrinsic::warp_slots) != 0) to.memory.slots = to.add(kMaxWarps * kSlotWords * 8);
  if (groups) to.memory.group_counters = to.add(most * 4);
  for (const auto& value : code.values) {
    const auto bytes = to.size(value.home->getAllocatedType());
    if (value.how == KeptValue::How::per_thread) {
      if (groups && !value.across_barrier) continue;  // BlockFrame keeps it by lane
      to.memory.per_thread[value.home] = to.add_per_thread(bytes);
    } else if (value.how == KeptValue::How::uniform && groups && value.across_barrier) {
      to.memory.uniform[value.home] = to.add(most * bytes_of_group(bytes));
    }
  }
  for (const auto* array : code.arrays)
    to.memory.per_thread[array] =
        to.add_per_thread(rounded(to.size(array->getAllocatedType()), array->getAlign().value()));
  if (code.diverges) {
    to.memory.counters = to.add_per_thread(4);
    if (groups) to.memory.masks = to.add_per_thread(4);
  }
  to.memory.fixed_bytes = rounded(to.memory.fixed_bytes, kCacheLine);
  return to.memory;
}

}  // namespace nuna::compiler
