#include "codegen/block_call.hpp"

#include <llvm/IR/MDBuilder.h>

#include "codegen/block_memory.hpp"
#include "codegen/device_module.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

using llvm::Value;

llvm::LoadInst* BlockCall::field(std::size_t offset, llvm::Type* type, const char* name) const {
  auto* load = at_.CreateLoad(type, at_.CreateConstInBoundsGEP1_64(at_.getInt8Ty(), call_, offset), name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(at_.getContext(), {}));
  return load;
}

Value* BlockCall::bounded(std::size_t offset, unsigned axis, std::uint32_t end, const char* name) const {
  auto* load = field(offset + 4 * std::size_t{axis}, at_.getInt32Ty(), name);
  load->setMetadata(llvm::LLVMContext::MD_range,
                    llvm::MDBuilder(at_.getContext()).createRange(llvm::APInt(32, 1), llvm::APInt(32, end)));
  return load;
}

Value* BlockCall::grid(unsigned axis) const {
  return bounded(offsetof(nuna_block_call, grid), axis, 1u << 31, "grid");
}

Value* BlockCall::block(unsigned axis) const {
  return bounded(offsetof(nuna_block_call, block), axis, 1025, "block");
}

Value* BlockCall::first(unsigned axis) const {
  return field(offsetof(nuna_block_call, first) + 4 * std::size_t{axis}, at_.getInt32Ty(), "first");
}

Value* BlockCall::last(unsigned axis) const {
  return field(offsetof(nuna_block_call, last) + 4 * std::size_t{axis}, at_.getInt32Ty(), "last");
}

Value* BlockCall::scratch() const {
  auto* load = field(offsetof(nuna_block_call, scratch), at_.getPtrTy(), "scratch");
  auto* align = llvm::ConstantAsMetadata::get(at_.getInt64(kCacheLine));
  load->setMetadata(llvm::LLVMContext::MD_align, llvm::MDNode::get(at_.getContext(), align));
  return load;
}

Value* BlockCall::dynamic_shared_bytes() const {
  return field(offsetof(nuna_block_call, dynamic_shared_bytes), at_.getInt64Ty(), "dynamic_bytes");
}

Value* BlockCall::block_index() const {
  return field(offsetof(nuna_block_call, block_index), at_.getPtrTy(), "block_index");
}

Value* BlockCall::argument(const llvm::Argument& parameter) const {
  auto* all = field(offsetof(nuna_block_call, arguments), at_.getPtrTy(), "arguments");
  auto* place = at_.CreateLoad(
      at_.getPtrTy(), at_.CreateConstInBoundsGEP1_64(at_.getPtrTy(), all, parameter.getArgNo()), "place");
  if (is_by_reference(parameter)) return place;
  return at_.CreateLoad(parameter.getType(), place);
}

}  // namespace nuna::compiler
