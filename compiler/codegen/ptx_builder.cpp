#include "codegen/ptx_builder.hpp"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <stdexcept>

#include "codegen/intrinsics.hpp"

namespace nuna::compiler {

using ptx::Kind;
using ptx::Operand;
using ptx::Unknown;

PtxBuilder::PtxBuilder(llvm::CallInst& statement)
    : at(&statement),
      statement_(statement),
      assembly_(*llvm::cast<llvm::InlineAsm>(statement.getCalledOperand())),
      end_(llvm::SplitBlock(statement.getParent(), &statement)) {
  auto* begin = end_->getSinglePredecessor();
  begin->getTerminator()->eraseFromParent();
  at.SetInsertPoint(begin);
  at.SetCurrentDebugLocation(statement.getDebugLoc());
  std::vector<llvm::Type*> results;
  if (auto* all = llvm::dyn_cast<llvm::StructType>(statement.getType())) {
    results.assign(all->element_begin(), all->element_end());
  } else if (!statement.getType()->isVoidTy()) {
    results.push_back(statement.getType());
  }
  unsigned number = 0;
  unsigned argument = 0;
  for (const auto& constraint : assembly_.ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    if (constraint.isIndirect || constraint.Type == llvm::InlineAsm::isLabel)
      throw Unknown("an operand in memory");
    const std::string name = "$" + std::to_string(number++);
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      registers_[name] = place(results.at(outputs_.size()));
      outputs_.push_back(name);
      continue;
    }
    auto* value = statement.getArgOperand(argument++);
    const auto& code = constraint.Codes.at(0);
    const bool first_value = !code.empty() && code.find_first_not_of("0123456789") == std::string::npos;
    if (first_value) {
      registers_[name] = registers_.at("$" + code);
    } else if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      constants_[name] = constant;
      continue;
    } else {
      registers_[name] = place(value->getType());
    }
    at.CreateStore(value, registers_[name]);
  }
}

void PtxBuilder::finish() {
  enter(end_);
  for (const auto& [name, block] : labels_) {
    if (block->getParent() == nullptr) throw Unknown("a jump to " + name);
  }
  at.SetInsertPoint(&statement_);
  auto value_of_output = [&](std::size_t i) {
    auto* output = registers_.at(outputs_[i]);
    return at.CreateLoad(output->getAllocatedType(), output);
  };
  if (!statement_.use_empty()) {
    llvm::Value* result = nullptr;
    if (statement_.getType()->isStructTy()) {
      result = llvm::PoisonValue::get(statement_.getType());
      for (unsigned i = 0; i < outputs_.size(); ++i)
        result = at.CreateInsertValue(result, value_of_output(i), i);
    } else {
      result = value_of_output(0);
    }
    statement_.replaceAllUsesWith(result);
  }
  statement_.eraseFromParent();
}

llvm::AllocaInst* PtxBuilder::place(llvm::Type* type) {
  auto& entry = statement_.getFunction()->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
}

void PtxBuilder::declare(const std::string& name, ptx::Type type) { registers_[name] = place(type_of(type)); }

llvm::Type* PtxBuilder::type_of(ptx::Type type) {
  if (!type.is_real()) return at.getIntNTy(type.width);
  if (type.pair) return llvm::FixedVectorType::get(at.getHalfTy(), 2);
  return type.width == 16 ? at.getHalfTy() : type.width == 32 ? at.getFloatTy() : at.getDoubleTy();
}

unsigned PtxBuilder::width_of(const llvm::Type* type) {
  if (type->isPointerTy()) return 64;
  return static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
}

// ---- operands

llvm::Value* PtxBuilder::as(llvm::Value* value, llvm::Type* wanted) {
  auto* own = value->getType();
  if (own == wanted) return value;
  if (own->isIntegerTy(1) || wanted->isIntegerTy(1)) throw Unknown("a predicate used as a number");
  if (own->isPointerTy()) {
    value = at.CreatePtrToInt(value, at.getInt64Ty());
  } else if (!own->isIntegerTy()) {
    value = at.CreateBitCast(value, at.getIntNTy(width_of(own)));
  }
  value = at.CreateZExtOrTrunc(value, at.getIntNTy(width_of(wanted)));
  return wanted->isPointerTy() ? at.CreateIntToPtr(value, wanted) : at.CreateBitCast(value, wanted);
}

llvm::Value* PtxBuilder::value_of(const std::string& name) {
  if (const auto found = registers_.find(name); found != registers_.end())
    return at.CreateLoad(found->second->getAllocatedType(), found->second);
  if (const auto found = constants_.find(name); found != constants_.end()) return found->second;
  if (auto* value = special_register(name)) return value;
  throw Unknown("the name " + name);
}

llvm::Value* PtxBuilder::read(const Operand& operand, llvm::Type* type) {
  llvm::Value* value = nullptr;
  switch (operand.form) {
    case Operand::Form::integer:
      if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, static_cast<double>(operand.number));
      value = llvm::ConstantInt::get(at.getIntNTy(width_of(type)), static_cast<std::uint64_t>(operand.number),
                                     true);
      return at.CreateBitCast(value, type);
    case Operand::Form::real:
      if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, operand.real);
      // Moved as bits: 0f of a word, 0d of two.
      if (width_of(type) == 32) return as(llvm::ConstantFP::get(at.getFloatTy(), operand.real), type);
      return as(llvm::ConstantFP::get(at.getDoubleTy(), operand.real), type);
    case Operand::Form::vector: {
      const unsigned width = width_of(type);
      const unsigned part = width / static_cast<unsigned>(operand.members.size());
      auto* whole = at.getIntNTy(width);
      value = llvm::ConstantInt::get(whole, 0);
      for (unsigned i = 0; i < operand.members.size(); ++i) {
        auto* one = at.CreateZExt(read(operand.members[i], at.getIntNTy(part)), whole);
        value = at.CreateOr(value, at.CreateShl(one, i * part));
      }
      return as(value, type);
    }
    case Operand::Form::name:
      value = as(value_of(operand.name), type);
      return operand.negated ? at.CreateNot(value) : value;
    case Operand::Form::address:
      break;
  }
  throw Unknown("an address as a value");
}

void PtxBuilder::write(const Operand& operand, llvm::Value* value, bool is_signed) {
  if (operand.form == Operand::Form::vector) {
    const unsigned width = width_of(value->getType());
    const unsigned part = width / static_cast<unsigned>(operand.members.size());
    auto* bits = as(value, at.getIntNTy(width));
    for (unsigned i = 0; i < operand.members.size(); ++i)
      write(operand.members[i], at.CreateTrunc(at.CreateLShr(bits, i * part), at.getIntNTy(part)));
    return;
  }
  if (operand.form != Operand::Form::name) throw Unknown("a result that is no register");
  if (operand.name == "_") return;
  const auto found = registers_.find(operand.name);
  if (found == registers_.end()) throw Unknown("the name " + operand.name);
  auto* wanted = found->second->getAllocatedType();
  if (is_signed && wanted->isIntegerTy() && !wanted->isIntegerTy(1) && value->getType()->isIntegerTy())
    value = at.CreateSExtOrTrunc(value, wanted);
  at.CreateStore(as(value, wanted), found->second);
}

void PtxBuilder::write_second(const Operand& operand, llvm::Value* value) {
  if (!operand.second.empty()) write(Operand::named(operand.second), value);
}

llvm::Value* PtxBuilder::address(const Operand& operand, bool shared) {
  if (operand.form != Operand::Form::address) throw Unknown("a memory operand that is no address");
  llvm::Value* bits = at.getInt64(static_cast<std::uint64_t>(operand.number));
  if (!operand.name.empty()) {
    auto* base = value_of(operand.name);
    if (base->getType()->isPointerTy() && operand.members.empty() && !shared) {
      return at.CreateGEP(at.getInt8Ty(), base, {bits});
    }
    if (width_of(base->getType()) < 64 && !shared) throw Unknown("an address of 32 bits");
    bits = at.CreateAdd(as(base, at.getInt64Ty()), bits);
  }
  for (const auto& part : operand.members) {
    auto* more = value_of(part.name);
    if (!more->getType()->isIntegerTy()) throw Unknown("an address of this kind");
    bits = at.CreateAdd(bits, at.CreateSExt(more, at.getInt64Ty()));
  }
  if (!shared) return at.CreateIntToPtr(bits, at.getPtrTy());
  // Shared memory lies within 2^31 bytes of the block's own, so that the low 32 bits tell which byte is meant.
  auto* base = call("__nuna_asm_shared", at.getPtrTy(), {});
  auto* low = at.CreateTrunc(at.CreatePtrToInt(base, at.getInt64Ty()), at.getInt32Ty());
  auto* distance = at.CreateSub(at.CreateTrunc(bits, at.getInt32Ty()), low);
  return at.CreateGEP(at.getInt8Ty(), base, {at.CreateSExt(distance, at.getInt64Ty())});
}

// ---- special registers

llvm::Value* PtxBuilder::special(unsigned k) {
  auto* type = llvm::FunctionType::get(at.getInt32Ty(), {at.getInt32Ty()}, false);
  auto* read =
      at.CreateCall(statement_.getModule()->getOrInsertFunction("__nuna_sreg", type), {at.getInt32(k)});
  read->setDoesNotAccessMemory();
  return read;
}

llvm::Value* PtxBuilder::special_register(const std::string& name) {
  for (const auto& [prefix, first] : {std::pair("%tid.", kThreadIdx), std::pair("%ctaid.", kBlockIdx),
                                      std::pair("%ntid.", kBlockDim), std::pair("%nctaid.", kGridDim)}) {
    const std::string_view start(prefix);
    if (name.size() == start.size() + 1 && name.starts_with(start) && name.back() >= 'x' &&
        name.back() <= 'z')
      return special(first + static_cast<unsigned>(name.back() - 'x'));
  }
  if (name == "%laneid") return special(kLane);
  if (name == "WARP_SZ") return at.getInt32(32);
  if (name == "%smid" || name == "%gridid") return at.getInt64(0);
  if (name == "%nsmid") return at.getInt32(1);
  for (const char* known : {"warpid", "nwarpid", "dynamic_smem_size"}) {
    if (name == "%" + std::string(known)) return call_word("__nuna_asm_" + std::string(known), {});
  }
  const bool high = name.ends_with("_hi");
  if (name.starts_with("%clock") || name.starts_with("%globaltimer")) {
    const auto function = "__nuna_asm_" + std::string(name[1] == 'c' ? "clock" : "globaltimer");
    return at.CreateLShr(call(function, at.getInt64Ty(), {}), high ? 32 : 0);
  }
  if (!name.starts_with("%lanemask_")) return nullptr;
  const auto which = name.substr(std::string_view("%lanemask_").size());
  auto* own = at.CreateShl(at.getInt32(1), special(kLane));
  auto* below = at.CreateSub(own, at.getInt32(1));
  if (which == "eq") return own;
  if (which == "lt") return below;
  if (which == "le") return at.CreateOr(below, own);
  if (which == "ge") return at.CreateNot(below);
  if (which == "gt") return at.CreateNot(at.CreateOr(below, own));
  return nullptr;
}

// ---- what lies outside of the statement

llvm::GlobalVariable* PtxBuilder::carry_place() {
  auto& module = *statement_.getModule();
  if (auto* known = module.getNamedGlobal(kPtxCarry)) return known;
  return new llvm::GlobalVariable(module, at.getInt1Ty(), false, llvm::GlobalValue::InternalLinkage,
                                  at.getFalse(), kPtxCarry);
}

llvm::Value* PtxBuilder::carry() { return at.CreateLoad(at.getInt1Ty(), carry_place()); }
void PtxBuilder::set_carry(llvm::Value* carry) { at.CreateStore(carry, carry_place()); }

llvm::Value* PtxBuilder::call(const llvm::Twine& name, llvm::Type* result,
                              llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (const auto* argument : arguments) types.push_back(argument->getType());
  auto* function = statement_.getModule()->getFunction(name.str());
  auto* type = llvm::FunctionType::get(result, types, false);
  if (function == nullptr || function->getFunctionType() != type)
    throw std::logic_error("nuna/device/ptx.h has no " + name.str());
  auto* made = at.CreateCall(function, arguments);
  if (function->isConvergent()) made->setConvergent();
  return made;
}

llvm::Function* PtxBuilder::helper(const llvm::Twine& name) {
  return statement_.getModule()->getFunction(("__nuna_ptx_" + name).str());
}

void PtxBuilder::end_thread() {
  auto* type = llvm::FunctionType::get(at.getVoidTy(), false);
  at.CreateCall(statement_.getModule()->getOrInsertFunction("__nuna_exit", type));
}

// ---- labels

llvm::BasicBlock* PtxBuilder::label(const std::string& name) {
  auto& block = labels_[name];
  if (block == nullptr) block = llvm::BasicBlock::Create(at.getContext());
  return block;
}

llvm::BasicBlock* PtxBuilder::new_block() { return llvm::BasicBlock::Create(at.getContext()); }

void PtxBuilder::enter(llvm::BasicBlock* block) {
  if (at.GetInsertBlock()->getTerminator() == nullptr) at.CreateBr(block);
  if (block->getParent() == nullptr) block->insertInto(end_->getParent(), end_);
  at.SetInsertPoint(block);
}

}  // namespace nuna::compiler
