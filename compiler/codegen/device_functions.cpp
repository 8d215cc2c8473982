#include "codegen/device_functions.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>
#include <cstddef>

#include "codegen/intrinsics.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

bool is_kernel(const DeviceModule& device, const llvm::Function* function) {
  return std::any_of(device.kernels.begin(), device.kernels.end(),
                     [&](const Kernel& k) { return k.function == function; });
}

bool used_outside_kernels(const DeviceModule& device, const llvm::GlobalVariable& variable) {
  return std::any_of(variable.user_begin(), variable.user_end(), [&](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    return instruction != nullptr && !is_kernel(device, instruction->getFunction());
  });
}

class StateReader {
 public:
  StateReader(DeviceModule& device, const CommonShared& common) : device_(device), common_(common) {}

  bool rewrite(llvm::Function& function) {
    std::vector<llvm::CallBase*> calls;
    for (auto& instruction : llvm::instructions(function)) {
      if (intrinsic_of(instruction)) calls.push_back(llvm::cast<llvm::CallBase>(&instruction));
    }
    state_ = nullptr;
    for (auto* call : calls) {
      llvm::IRBuilder<> at(call);
      if (auto* value = value_of(at, *call, function)) call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
    for (const auto& shared : device_.shared) {
      shared.variable->replaceUsesWithIf(address_of(shared, function), [&](const llvm::Use& use) {
        const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
        return user != nullptr && user->getFunction() == &function;
      });
    }
    return state_ != nullptr;
  }

 private:
  llvm::Value* field(llvm::Function& function, std::size_t offset, llvm::Type* type) {
    auto& entry = function.getEntryBlock();
    llvm::IRBuilder<> at(&entry,
                         state_ != nullptr ? std::next(state_->getIterator()) : entry.getFirstInsertionPt());
    if (state_ == nullptr) {
      auto of = device_.module->getOrInsertFunction("__nuna_thread_state",
                                                    llvm::FunctionType::get(at.getPtrTy(), false));
      state_ = at.CreateCall(of);
    }
    return at.CreateLoad(type, at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), state_, offset));
  }

  llvm::Value* value_of(llvm::IRBuilder<>& at, llvm::CallBase& call, llvm::Function& function) {
    auto* i32 = at.getInt32Ty();
    if (const auto k = special_register_of(call)) {
      if (*k == kLane) return lane(at, function);
      const std::size_t first[] = {offsetof(nuna_thread_state, thread),
                                   offsetof(nuna_thread_state, block_index),
                                   offsetof(nuna_thread_state, block), offsetof(nuna_thread_state, grid)};
      return field(function, first[*k / 3] + 4 * (*k % 3), i32);
    }
    switch (*intrinsic_of(call)) {
      case Intrinsic::dynamic_shared:
        return field(function, offsetof(nuna_thread_state, dynamic_shared), at.getPtrTy());
      case Intrinsic::dynamic_shared_bytes:
        return field(function, offsetof(nuna_thread_state, dynamic_shared_bytes), at.getInt64Ty());
      default:
        return llvm::PoisonValue::get(call.getType());  // simplify() has refused what suspends
    }
  }

  llvm::Value* lane(llvm::IRBuilder<>& at, llvm::Function& function) {
    auto read = [&](std::size_t offset) { return field(function, offset, at.getInt32Ty()); };
    llvm::Value* x = read(offsetof(nuna_thread_state, thread));
    llvm::Value* y = read(offsetof(nuna_thread_state, thread) + 4);
    llvm::Value* z = read(offsetof(nuna_thread_state, thread) + 8);
    auto* row = at.CreateAdd(at.CreateMul(z, read(offsetof(nuna_thread_state, block) + 4)), y);
    return at.CreateAnd(at.CreateAdd(at.CreateMul(row, read(offsetof(nuna_thread_state, block))), x), 31);
  }

  llvm::Value* address_of(const SharedVariable& shared, llvm::Function& function) {
    const bool used =
        std::any_of(shared.variable->user_begin(), shared.variable->user_end(), [&](const llvm::User* user) {
          const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
          return instruction != nullptr && instruction->getFunction() == &function;
        });
    if (!used) return shared.variable;
    auto* pointer = llvm::PointerType::get(function.getContext(), 0);
    if (shared.dynamic) return field(function, offsetof(nuna_thread_state, dynamic_shared), pointer);
    auto* base = llvm::cast<llvm::Instruction>(field(function, offsetof(nuna_thread_state, shared), pointer));
    llvm::IRBuilder<> at(base->getParent(), std::next(base->getIterator()));
    return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), base, common_.at(shared.variable));
  }

  DeviceModule& device_;
  const CommonShared& common_;
  llvm::CallInst* state_ = nullptr;
};

}  // namespace

CommonShared common_shared(const DeviceModule& device) {
  CommonShared common;
  std::uint64_t end = 0;
  for (const auto& shared : device.shared) {
    if (shared.dynamic || !used_outside_kernels(device, *shared.variable)) continue;
    common[shared.variable] = end;
    const auto bytes =
        device.module->getDataLayout().getTypeAllocSize(shared.variable->getValueType()).getFixedValue();
    end = (end + bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  return common;
}

bool read_thread_state(DeviceModule& device, const CommonShared& common) {
  StateReader reader(device, common);
  bool some = false;
  for (auto& function : *device.module) {
    if (!function.isDeclaration() && !is_kernel(device, &function)) some |= reader.rewrite(function);
  }
  return some;
}

}  // namespace nuna::compiler
