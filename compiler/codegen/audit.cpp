#include "codegen/audit.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <map>
#include <set>

#include "access/kernel_code.hpp"
#include "codegen/intrinsics.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

struct Touched {
  llvm::Use* pointer = nullptr;
  llvm::Value* bytes = nullptr;  ///< of 64 bits
  nuna_audit_kind kind = NUNA_AUDIT_READ;
};

class Telling {
 public:
  explicit Telling(DeviceModule& device) : module_(*device.module), at_(module_.getContext()) {
    for (const auto& shared : device.shared) shared_.insert(shared.variable);
    auto* type = llvm::FunctionType::get(
        at_.getPtrTy(),
        {at_.getPtrTy(), at_.getInt64Ty(), at_.getInt32Ty(), at_.getPtrTy(), at_.getInt32Ty()}, false);
    told_ = llvm::cast<llvm::Function>(module_.getOrInsertFunction("__nuna_audit", type).getCallee());
    told_->setDoesNotThrow();
    told_->setOnlyAccessesInaccessibleMemory();
    told_->addFnAttr(llvm::Attribute::WillReturn);
    told_->addParamAttr(3, llvm::Attribute::NoCapture);
  }

  void tell_of(llvm::Function& function) {
    std::vector<llvm::Instruction*> all;
    for (auto& instruction : llvm::instructions(function)) all.push_back(&instruction);
    for (auto* instruction : all) {
      at_.SetInsertPoint(instruction);
      for (const auto& touched : touched_by(*instruction)) {
        if (!is_own(**touched.pointer)) tell(*instruction, touched);
      }
    }
  }

 private:
  llvm::Value* size_of(llvm::Type* type) {
    return at_.getInt64(module_.getDataLayout().getTypeStoreSize(type).getFixedValue());
  }

  std::vector<Touched> touched_by(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return {{&load->getOperandUse(load->getPointerOperandIndex()), size_of(load->getType()),
               load->isAtomic() ? NUNA_AUDIT_ATOMIC : NUNA_AUDIT_READ}};
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return {{&store->getOperandUse(store->getPointerOperandIndex()),
               size_of(store->getValueOperand()->getType()),
               store->isAtomic() ? NUNA_AUDIT_ATOMIC : NUNA_AUDIT_WRITE}};
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return {{&update->getOperandUse(update->getPointerOperandIndex()), size_of(update->getType()),
               NUNA_AUDIT_ATOMIC}};
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      return {{&exchange->getOperandUse(exchange->getPointerOperandIndex()),
               size_of(exchange->getNewValOperand()->getType()), NUNA_AUDIT_ATOMIC}};
    auto* range = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction);
    if (range == nullptr) return {};
    auto* bytes = at_.CreateZExtOrTrunc(range->getLength(), at_.getInt64Ty());
    std::vector<Touched> all;
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(range))
      all.push_back({&copy->getRawSourceUse(), bytes, NUNA_AUDIT_READ});
    all.push_back({&range->getRawDestUse(), bytes, NUNA_AUDIT_WRITE});
    return all;
  }

  /// Whether `pointer` leads into memory of the thread, its block or the code, whichever way it was taken.
  bool is_own(const llvm::Value& pointer) const {
    llvm::SmallVector<const llvm::Value*, 4> objects;
    llvm::getUnderlyingObjects(&pointer, objects, nullptr, 0);
    return std::all_of(objects.begin(), objects.end(), [&](const llvm::Value* object) {
      if (llvm::isa<llvm::AllocaInst>(object)) return true;
      if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object)) return is_by_reference(*argument);
      if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object))
        return shared_.count(variable) != 0 ||
               (variable->isConstant() && !variable->isExternallyInitialized());
      const auto* call = llvm::dyn_cast<llvm::CallBase>(object);
      return call != nullptr && intrinsic_of(*call).has_value();
    });
  }

  void tell(const llvm::Instruction& instruction, const Touched& touched) {
    const auto line = source_line(instruction);
    touched.pointer->set(
        at_.CreateCall(told_, {touched.pointer->get(), touched.bytes, at_.getInt32(touched.kind),
                               file(line.file), at_.getInt32(line.line)}));
  }

  llvm::Constant* file(const std::string& name) {
    auto& text = files_[name];
    if (text == nullptr) text = at_.CreateGlobalString(name, "nuna.file", 0, &module_);
    return text;
  }

  llvm::Module& module_;
  llvm::IRBuilder<> at_;
  llvm::Function* told_ = nullptr;
  std::set<const llvm::GlobalVariable*> shared_;
  std::map<std::string, llvm::Constant*> files_;
};

}  // namespace

void tell_of_accesses(DeviceModule& device) {
  Telling telling(device);
  for (auto& function : *device.module) {
    if (!function.isDeclaration()) telling.tell_of(function);
  }
}

}  // namespace nuna::compiler
