#include "codegen/image.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

class Tables {
 public:
  explicit Tables(llvm::Module& module) : module_(module), at_(module.getContext()) {}

  llvm::Constant* word(std::uint32_t value) { return at_.getInt32(value); }
  llvm::Constant* bytes(std::uint64_t value) { return at_.getInt64(value); }
  llvm::Constant* null() { return llvm::ConstantPointerNull::get(at_.getPtrTy()); }
  llvm::Constant* text(const std::string& value) {
    return constant(llvm::ConstantDataArray::getString(at_.getContext(), value));
  }
  llvm::Constant* words(const std::vector<std::uint32_t>& values) {
    return values.empty() ? null() : constant(llvm::ConstantDataArray::get(at_.getContext(), values));
  }
  llvm::Constant* record(const std::vector<llvm::Constant*>& fields) {
    return llvm::ConstantStruct::getAnon(at_.getContext(), fields);
  }
  llvm::Constant* array(const std::vector<llvm::Constant*>& records) {
    if (records.empty()) return null();
    return constant(
        llvm::ConstantArray::get(llvm::ArrayType::get(records[0]->getType(), records.size()), records));
  }
  llvm::Constant* constant(llvm::Constant* value) {
    return new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                    "nuna.image");
  }

  void registered(llvm::Constant* image) {
    auto* nothing = llvm::FunctionType::get(at_.getVoidTy(), false);
    auto* constructor =
        llvm::Function::Create(nothing, llvm::GlobalValue::InternalLinkage, "nuna.register", module_);
    at_.SetInsertPoint(llvm::BasicBlock::Create(at_.getContext(), "", constructor));
    auto* takes = llvm::FunctionType::get(at_.getVoidTy(), {at_.getPtrTy()}, false);
    at_.CreateCall(module_.getOrInsertFunction("__nuna_register_image", takes), {image});
    at_.CreateRetVoid();
    llvm::appendToGlobalCtors(module_, constructor, 101);
  }

 private:
  llvm::Module& module_;
  llvm::IRBuilder<> at_;
};

}  // namespace

void add_image(llvm::Module& module, const Image& image) {
  Tables make(module);
  if (image.id.empty()) {
    auto* mark = llvm::cast<llvm::GlobalVariable>(make.constant(make.word(1)));
    mark->setSection(kLinkedSection);
    llvm::appendToCompilerUsed(module, {mark});
  }
  std::vector<llvm::Constant*> kernels;
  for (const auto& kernel : image.kernels) {
    kernels.push_back(make.record(
        {make.text(kernel.name), kernel.run, make.words(kernel.parameter_bytes),
         make.word(static_cast<std::uint32_t>(kernel.parameter_bytes.size())), make.word(kernel.flags),
         make.word(kernel.static_shared_bytes), make.word(kernel.max_threads), make.bytes(kernel.fixed_bytes),
         make.bytes(kernel.thread_bytes), kernel.model.empty() ? make.null() : make.text(kernel.model)}));
  }
  std::vector<llvm::Constant*> variables;
  for (auto* variable : image.variables) {
    const auto bytes = module.getDataLayout().getTypeAllocSize(variable->getValueType());
    variables.push_back(make.record({make.text(variable->getName().str()), variable, make.bytes(bytes)}));
  }
  make.registered(make.constant(
      make.record({make.word(NUNA_IMAGE_VERSION), make.word(static_cast<std::uint32_t>(kernels.size())),
                   make.word(static_cast<std::uint32_t>(variables.size())), make.word(0), make.text(image.id),
                   make.text(image.cpu), make.array(kernels), make.array(variables),
                   image.ptx.empty() ? make.null() : make.text(image.ptx), make.bytes(image.ptx.size())})));
}

}  // namespace nuna::compiler
