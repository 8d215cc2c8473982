#include "access/effects.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "codegen/diagnostics.hpp"
#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

namespace {

using Kind = access::Access::Kind;

Effect effect(Kind kind, const llvm::Value& pointer, const llvm::Type& type, const llvm::DataLayout& layout) {
  const auto bytes = layout.getTypeStoreSize(const_cast<llvm::Type*>(&type)).getFixedValue();
  return {kind, &pointer, static_cast<std::uint32_t>(bytes)};
}

std::optional<std::uint32_t> length_of(const llvm::MemIntrinsic& copy) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  if (length == nullptr || length->getValue().ugt(UINT32_MAX)) return std::nullopt;
  return static_cast<std::uint32_t>(length->getZExtValue());
}

bool is_output(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name).Cases("printf", "vprintf", "puts", "putchar", true).Default(false);
}

/// Functions of the device headers and of C's library that touch no memory that a launch is given.
bool is_harmless(llvm::StringRef name) {
  return is_output(name) || llvm::StringSwitch<bool>(name)
                                .Cases("__assert_fail", "__assertfail", "abort", true)
                                .Cases("malloc", "free", "clock", "clock64", "__nuna_end_kernel",
                                       "__nuna_grid_is_together", true)
                                .Default(false);
}

/// Functions of C's library that touch what their arguments point to, and nothing else of ours.
bool writes_results(llvm::StringRef name) {
  name.consume_back("f");
  return llvm::StringSwitch<bool>(name)
      .Cases("sincos", "sincospi", "frexp", "mod", "modf", "remquo", "lgamma", "lgamma_r", true)
      .Cases("memcpy", "memmove", "memset", true)
      .Default(false);
}

bool touches_only_here(const llvm::CallBase& call, const KernelCode& code) {
  return std::all_of(call.arg_begin(), call.arg_end(), [&](const llvm::Use& argument) {
    if (!argument->getType()->isPointerTy()) return true;
    const auto objects = objects_of(*argument);
    return std::all_of(objects.begin(), objects.end(), [&](const llvm::Value* object) {
      return code.home_of(*object) == KernelCode::Home::here;
    });
  });
}

std::string refusal_of_call(const llvm::CallBase& call, const KernelCode& code) {
  if (call.isInlineAsm()) {
    const auto* statement = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
    return statement->getAsmString().empty() ? "" : "has inline assembly that is not understood";
  }
  if (llvm::isa<llvm::MemIntrinsic, llvm::DbgInfoIntrinsic, llvm::AssumeInst>(call) || intrinsic_of(call) ||
      call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory())
    return "";
  const auto* called = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
  if (called == nullptr) return "calls a function by pointer";
  if (called->getName() == "__nuna_grid_barrier") return "has all blocks of the grid wait for each other";
  if (is_harmless(called->getName())) return "";
  if ((called->isIntrinsic() || writes_results(called->getName())) && touches_only_here(call, code))
    return "";
  const auto name = readable(*called);
  return called->isDeclaration() ? "calls " + name + ", whose body is elsewhere"
                                 : "calls " + name + ", which is recursive or too large";
}

bool is_at(const llvm::Value& pointer, KernelCode::Home home, const KernelCode& code) {
  if (!pointer.getType()->isPointerTy()) return false;
  const auto objects = objects_of(pointer);
  return std::any_of(objects.begin(), objects.end(),
                     [&](const llvm::Value* object) { return code.home_of(*object) == home; });
}

/// Whether the bits of an address, as an integer, go nowhere but into comparisons and distances.
bool is_only_compared(const llvm::Value& address, int depth = 0) {
  constexpr int kDeepest = 4;
  return std::all_of(address.user_begin(), address.user_end(), [depth](const llvm::User* user) {
    if (llvm::isa<llvm::ICmpInst>(user)) return true;
    const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(user);
    if (binary == nullptr && !llvm::isa<llvm::TruncInst>(user)) return false;
    const bool is_distance = binary != nullptr && binary->getOpcode() == llvm::Instruction::Sub &&
                             llvm::isa<llvm::PtrToIntInst>(binary->getOperand(0)) &&
                             llvm::isa<llvm::PtrToIntInst>(binary->getOperand(1));
    return is_distance || (depth < kDeepest && is_only_compared(*user, depth + 1));
  });
}

/// Each device has addresses of its own for what the kernel is given, so none may outlive the kernel.
std::string refusal_of_addresses(const llvm::Instruction& instruction, const KernelCode& code) {
  using Home = KernelCode::Home;
  const auto keeps = [&](const llvm::Value& value, const llvm::Value& where) {
    return is_at(value, Home::elsewhere, code) && !is_at(where, Home::here, code);
  };
  constexpr const char* kKeeps = "keeps the address of what it was given in memory";
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return keeps(*store->getValueOperand(), *store->getPointerOperand()) ? kKeeps : "";
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return keeps(*atomic->getValOperand(), *atomic->getPointerOperand()) ? kKeeps : "";
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return keeps(*atomic->getNewValOperand(), *atomic->getPointerOperand()) ? kKeeps : "";
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    const auto sources = objects_of(*copy->getRawSource());
    const bool of_argument = std::any_of(sources.begin(), sources.end(), [&](const llvm::Value* source) {
      return llvm::isa<llvm::Argument>(source) && code.home_of(*source) == Home::here;
    });
    return of_argument && is_at(*copy->getRawDest(), Home::elsewhere, code) ? kKeeps : "";
  }
  if (const auto* number = llvm::dyn_cast<llvm::PtrToIntInst>(&instruction)) {
    const bool escapes =
        is_at(*number->getPointerOperand(), Home::elsewhere, code) && !is_only_compared(*number);
    return escapes ? "computes with the address of what it was given" : "";
  }
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    const auto& a = *compare->getOperand(0);
    const auto& b = *compare->getOperand(1);
    const bool mixed = (is_at(a, Home::elsewhere, code) && is_at(b, Home::unknown, code)) ||
                       (is_at(a, Home::unknown, code) && is_at(b, Home::elsewhere, code));
    return mixed ? "compares the address of what it was given with one from memory" : "";
  }
  return "";
}

}  // namespace

std::vector<const llvm::Value*> objects_of(const llvm::Value& pointer) {
  llvm::SmallVector<const llvm::Value*, 4> found;
  llvm::getUnderlyingObjects(&pointer, found, nullptr, 0);
  return {found.begin(), found.end()};
}

std::vector<Effect> effects_of(const llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const auto kind = load->isAtomic() ? Kind::atomic : Kind::read;
    return {effect(kind, *load->getPointerOperand(), *load->getType(), layout)};
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const auto kind = store->isAtomic() ? Kind::atomic : Kind::write;
    return {effect(kind, *store->getPointerOperand(), *store->getValueOperand()->getType(), layout)};
  }
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return {effect(Kind::atomic, *atomic->getPointerOperand(), *atomic->getType(), layout)};
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return {
        effect(Kind::atomic, *atomic->getPointerOperand(), *atomic->getNewValOperand()->getType(), layout)};
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction))
    return {{Kind::read, copy->getRawSource(), length_of(*copy)},
            {Kind::write, copy->getRawDest(), length_of(*copy)}};
  if (const auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction))
    return {{Kind::write, fill->getRawDest(), length_of(*fill)}};
  return {};
}

bool prints(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  const auto* called = call != nullptr ? call->getCalledFunction() : nullptr;
  return called != nullptr && is_output(called->getName());
}

access::Refusal refusal_of(const llvm::Instruction& instruction, const KernelCode& code) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (auto why = refusal_of_call(*call, code); !why.empty()) return {std::move(why), {}, false};
  }
  const auto effects = effects_of(instruction, code.layout);
  const bool leaves = std::any_of(effects.begin(), effects.end(), [&](const Effect& one) {
    return is_at(*one.pointer, KernelCode::Home::elsewhere, code) ||
           is_at(*one.pointer, KernelCode::Home::unknown, code);
  });
  if (leaves && instruction.isVolatile())
    return {"has volatile accesses, by which blocks may wait for each other", {}, false};
  if (auto why = refusal_of_addresses(instruction, code); !why.empty()) return {std::move(why), {}, true};
  for (const auto& one : effects) {
    for (const auto* object : objects_of(*one.pointer)) {
      if (code.home_of(*object) == KernelCode::Home::unknown) {
        return {std::string(one.kind == Kind::read ? "reads" : "writes") +
                    " through a pointer that comes out of memory or is computed",
                {},
                true};
      }
    }
  }
  return {};
}

}  // namespace nuna::compiler
