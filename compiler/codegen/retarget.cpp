#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <set>
#include <stdexcept>
#include <string>

#include "codegen/device_module.hpp"
#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

constexpr unsigned kSharedSpace = 3;
constexpr unsigned kConstantSpace = 4;
constexpr const char* kByReference = "nuna.by_reference";
// What crt/host_defines.h notes of __managed__ variables, without and with -rdc=true.
constexpr const char* kManaged = "nuna.managed";
constexpr const char* kManagedLinked = "nuna.managed.linked";

/// The same variable in address space 0. Its linkage is external while threads are single: no pass may conclude from one
/// thread's accesses what others see behind a barrier.
llvm::GlobalVariable* in_flat_memory(llvm::GlobalVariable& old) {
  auto* flat = new llvm::GlobalVariable(*old.getParent(), old.getValueType(), old.isConstant(),
                                        llvm::GlobalValue::ExternalLinkage,
                                        old.hasInitializer() ? old.getInitializer() : nullptr, "", &old,
                                        llvm::GlobalValue::NotThreadLocal, 0, old.isExternallyInitialized());
  flat->setAlignment(old.getAlign());
  flat->takeName(&old);
  flat->setDSOLocal(true);
  old.replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(flat, old.getType()));
  return flat;
}

/// Loads of what no kernel can change may be moved freely.
void mark_invariant_loads(llvm::GlobalVariable& constant) {
  std::vector<llvm::User*> users(constant.user_begin(), constant.user_end());
  while (!users.empty()) {
    llvm::User* user = users.back();
    users.pop_back();
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
    } else if (llvm::isa<llvm::ConstantExpr, llvm::GetElementPtrInst, llvm::CastInst>(user)) {
      users.insert(users.end(), user->user_begin(), user->user_end());
    }
  }
}

/// __managed__ variables are the host's own: code for CPUs refers to them, static ones too (driver/shared_variables.hpp).
std::set<std::string> find_managed(llvm::Module& module) {
  std::set<std::string> names;
  auto* annotations = module.getNamedGlobal("llvm.global.annotations");
  if (annotations == nullptr) return names;
  for (auto& entry : llvm::cast<llvm::ConstantArray>(annotations->getInitializer())->operands()) {
    auto* record = llvm::cast<llvm::ConstantStruct>(entry);
    auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(record->getOperand(0)->stripPointerCasts());
    auto* text = llvm::dyn_cast<llvm::GlobalVariable>(record->getOperand(1)->stripPointerCasts());
    if (variable == nullptr || text == nullptr || !text->hasInitializer()) continue;
    const auto* words = llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer());
    if (words == nullptr || !words->isCString()) continue;
    const auto text_of = words->getAsCString();
    if (text_of != kManaged && text_of != kManagedLinked) continue;
    const auto [name, mark] =
        variable->getName().split("__static__");  // as clang has it, with a number behind
    if (text_of == kManagedLinked &&
        (variable->hasLocalLinkage() || name.size() < variable->getName().size())) {
      throw std::runtime_error(
          llvm::demangle(name) +
          ": a static __managed__ variable is not supported with -rdc=true; leave out 'static'");
    }
    variable->setInitializer(nullptr);
    variable->setComdat(nullptr);
    variable->setLinkage(llvm::GlobalValue::ExternalLinkage);
    names.insert(variable->getName().str());
  }
  return names;
}

void move_variables(DeviceModule& device, const std::set<std::string>& managed) {
  std::vector<llvm::GlobalVariable*> old;
  for (auto& variable : device.module->globals()) {
    if (variable.getAddressSpace() != 0) old.push_back(&variable);
  }
  for (auto* variable : old) {
    const unsigned space = variable->getAddressSpace();
    auto* flat = in_flat_memory(*variable);
    variable->removeDeadConstantUsers();
    if (variable->use_empty()) variable->eraseFromParent();
    if (space == kSharedSpace) {
      device.shared.push_back({flat, flat->isDeclaration()});
    } else if (!flat->isDeclaration() || managed.count(flat->getName().str()) != 0) {
      device.variables.push_back(flat);
    }
    if (space == kConstantSpace) {
      flat->setConstant(false);
      flat->setExternallyInitialized(true);  // the host writes it
      mark_invariant_loads(*flat);
    }
  }
}

void read_kernels(DeviceModule& device) {
  const auto& layout = device.module->getDataLayout();
  auto* annotations = device.module->getNamedMetadata("nvvm.annotations");
  if (annotations == nullptr) return;
  auto find = [&](llvm::Function* function) {
    for (auto& kernel : device.kernels) {
      if (kernel.function == function) return &kernel;
    }
    return static_cast<Kernel*>(nullptr);
  };
  for (const bool bounds : {false, true}) {
    for (auto* node : annotations->operands()) {
      auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
      if (function == nullptr || function->isDeclaration()) continue;
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
        const auto key = llvm::cast<llvm::MDString>(node->getOperand(i))->getString();
        const auto value = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(i + 1))->getZExtValue();
        if (!bounds && key == "kernel" && find(function) == nullptr) {
          device.kernels.push_back({function, function->getName().str(), 1024, {}});
        } else if (bounds && key == "maxntidx") {
          if (auto* kernel = find(function)) kernel->max_threads = static_cast<std::uint32_t>(value);
        }
      }
    }
  }
  annotations->eraseFromParent();
  for (auto& kernel : device.kernels) {
    for (auto& argument : kernel.function->args()) {
      auto* type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
      kernel.parameter_bytes.push_back(static_cast<std::uint32_t>(layout.getTypeAllocSize(type)));
    }
  }
}

/// A thread's own copy of each parameter that is passed by value in memory: the kernel may change it.
void copy_parameters(Kernel& kernel, const llvm::DataLayout& layout) {
  auto& function = *kernel.function;
  auto at = function.getEntryBlock().getFirstInsertionPt();
  for (auto& argument : function.args()) {
    if (!argument.hasByValAttr()) continue;
    auto* type = argument.getParamByValType();
    const auto align = argument.getParamAlign().valueOrOne();
    auto* copy = new llvm::AllocaInst(type, 0, nullptr, align, "parameter", at);
    argument.replaceAllUsesWith(copy);
    auto& context = function.getContext();
    const auto bytes = layout.getTypeAllocSize(type);
    llvm::IRBuilder<> builder(&*at);
    builder.CreateMemCpy(copy, align, &argument, align, bytes);
    const auto number = argument.getArgNo();
    function.removeParamAttrs(number, llvm::AttributeMask().addAttribute(llvm::Attribute::ByVal));
    function.addParamAttr(number, llvm::Attribute::get(context, kByReference));
    for (const auto kind :
         {llvm::Attribute::NoAlias, llvm::Attribute::ReadOnly, llvm::Attribute::NoCapture}) {
      function.addParamAttr(number, llvm::Attribute::get(context, kind));
    }
  }
}

void forget_target(llvm::Function& function) {
  for (const char* attribute :
       {"target-cpu", "target-features", "tune-cpu", "uniform-work-group-size", "frame-pointer"}) {
    function.removeFnAttr(attribute);
  }
  function.setCallingConv(llvm::CallingConv::C);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  for (auto& instruction : llvm::instructions(function)) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setCallingConv(llvm::CallingConv::C);
  }
}

/// Clang takes every call on a device for one that depends on who makes it together. What a thread asks of itself does not.
void forget_convergence(llvm::Function& function) {
  if (!intrinsic_of(function) || !function.doesNotAccessMemory()) return;
  function.removeFnAttr(llvm::Attribute::Convergent);
  for (auto* user : function.users()) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->removeFnAttr(llvm::Attribute::Convergent);
  }
}

/// A shift by a type's width or more leaves nothing, or the sign, as on GPUs, where programs count on it; LLVM leaves it open.
void define_wide_shifts(llvm::Function& function) {
  std::vector<llvm::BinaryOperator*> shifts;
  for (auto& instruction : llvm::instructions(function)) {
    auto* shift = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
    if (shift != nullptr && shift->isShift()) shifts.push_back(shift);
  }
  for (auto* shift : shifts) {
    auto* type = shift->getType();
    auto* amount = shift->getOperand(1);
    const unsigned width = type->getScalarSizeInBits();
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(amount);
    if (constant != nullptr && constant->getValue().ult(width)) continue;
    llvm::IRBuilder<> at(shift);
    if (shift->getOpcode() == llvm::Instruction::AShr) {
      auto* most = llvm::ConstantInt::get(type, width - 1);
      shift->setOperand(1, at.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, most));
      continue;
    }
    auto* inside = at.CreateICmpULT(amount, llvm::ConstantInt::get(type, width));
    auto* defined =
        llvm::SelectInst::Create(inside, llvm::PoisonValue::get(type), llvm::Constant::getNullValue(type), "",
                                 std::next(shift->getIterator()));
    shift->replaceAllUsesWith(defined);
    defined->setOperand(1, shift);
  }
}

}  // namespace

bool is_by_reference(const llvm::Argument& argument) {
  return argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(), kByReference);
}

DeviceModule retarget(std::unique_ptr<llvm::Module> module, const llvm::TargetMachine& machine) {
  DeviceModule device;
  device.module = std::move(module);
  device.module->setTargetTriple(machine.getTargetTriple().str());
  device.module->setDataLayout(machine.createDataLayout());
  const auto managed = find_managed(*device.module);
  for (const char* name : {"llvm.global.annotations", "llvm.compiler.used", "llvm.used"}) {
    if (auto* list = device.module->getNamedGlobal(name)) list->eraseFromParent();
  }
  for (auto& function : *device.module) function.removeDeadConstantUsers();  // nobody takes its address there
  move_variables(device, managed);
  read_kernels(device);
  for (auto& function : *device.module) {
    forget_target(function);
    forget_convergence(function);
    define_wide_shifts(function);
  }
  for (auto& kernel : device.kernels) copy_parameters(kernel, device.module->getDataLayout());
  return device;
}

}  // namespace nuna::compiler
