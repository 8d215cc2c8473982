#pragma once
// What code for blocks reads from its call (nuna_block_call of nuna_cudart/image.h).

#include <llvm/IR/IRBuilder.h>

#include <cstddef>

namespace nuna::compiler {

/// Fields of the call that a function's first argument points to, read where the builder stands.
class BlockCall {
 public:
  BlockCall(llvm::IRBuilder<>& at, llvm::Function& function) : at_(at), call_(function.getArg(0)) {}

  llvm::Value* grid(unsigned axis) const;   ///< blocks: 1 to 2^31 - 1
  llvm::Value* block(unsigned axis) const;  ///< threads: 1 to 1024
  llvm::Value* first(unsigned axis) const;
  llvm::Value* last(unsigned axis) const;
  llvm::Value* scratch() const;
  llvm::Value* dynamic_shared_bytes() const;
  llvm::Value* block_index() const;  ///< where the code keeps it for others
  /// The value of `parameter`, an argument of the kernel, or its address where it is passed by reference.
  llvm::Value* argument(const llvm::Argument& parameter) const;

 private:
  llvm::LoadInst* field(std::size_t offset, llvm::Type* type, const char* name) const;
  llvm::Value* bounded(std::size_t offset, unsigned axis, std::uint32_t end, const char* name) const;

  llvm::IRBuilder<>& at_;
  llvm::Value* call_;
};

}  // namespace nuna::compiler
