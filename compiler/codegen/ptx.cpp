#include "codegen/ptx.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>
#include <optional>
#include <stdexcept>

#include "codegen/diagnostics.hpp"
#include "codegen/intrinsics.hpp"
#include "codegen/ptx_syntax.hpp"

namespace nuna::compiler {

namespace {

using ptx::Kind;
using ptx::Operand;
using ptx::Statement;
using ptx::Type;
using ptx::Unknown;

constexpr const char* kExit = "__nuna_exit";

/// Of one asm statement. Its registers are values; where a predicate guards an instruction, control flow.
class Translation {
 public:
  explicit Translation(llvm::CallInst& call)
      : call_(call), at_(&call), assembly_(*llvm::cast<llvm::InlineAsm>(call.getCalledOperand())) {}

  void replace() {
    bind();
    for (const auto& statement : ptx::parse(assembly_.getAsmString())) guarded(statement);
    deliver();
    call_.eraseFromParent();
  }

 private:
  struct Register {
    llvm::Type* type = nullptr;
    llvm::Value* value = nullptr;  ///< nothing before the first write
  };

  // ---- what the statement is given and gives

  /// Operands are numbered as the constraints are: outputs, then inputs, of which some are an output's first value.
  void bind() {
    unsigned number = 0;
    unsigned argument = 0;
    std::vector<llvm::Type*> results;
    if (auto* all = llvm::dyn_cast<llvm::StructType>(call_.getType())) {
      results.assign(all->element_begin(), all->element_end());
    } else if (!call_.getType()->isVoidTy()) {
      results.push_back(call_.getType());
    }
    for (const auto& constraint : assembly_.ParseConstraints()) {
      if (constraint.Type == llvm::InlineAsm::isClobber) continue;
      if (constraint.isIndirect || constraint.Type == llvm::InlineAsm::isLabel) throw Unknown("an operand in memory");
      const std::string name = "$" + std::to_string(number++);
      if (constraint.Type == llvm::InlineAsm::isOutput) {
        registers_[name] = {results.at(outputs_.size()), nullptr};
        outputs_.push_back(name);
        continue;
      }
      auto* value = call_.getArgOperand(argument++);
      if (value->getType()->isPointerTy()) value = at_.CreatePtrToInt(value, at_.getInt64Ty());
      registers_[name] = {value->getType(), value};
      const auto& code = constraint.Codes.at(0);
      if (!code.empty() && code.find_first_not_of("0123456789") == std::string::npos) {
        registers_.at("$" + code).value = value;
      }
    }
  }

  void deliver() {
    auto value_of = [&](const std::string& name) {
      const auto& output = registers_.at(name);
      return output.value != nullptr ? output.value : llvm::UndefValue::get(output.type);
    };
    if (call_.use_empty()) return;
    if (!call_.getType()->isStructTy()) return call_.replaceAllUsesWith(value_of(outputs_.at(0)));
    llvm::Value* all = llvm::PoisonValue::get(call_.getType());
    for (unsigned i = 0; i < outputs_.size(); ++i) all = at_.CreateInsertValue(all, value_of(outputs_[i]), i);
    call_.replaceAllUsesWith(all);
  }

  // ---- operands

  llvm::Type* type_of(Type type) {
    if (type.kind == Kind::predicate) return at_.getInt1Ty();
    if (type.kind != Kind::floating) return at_.getIntNTy(type.width);
    return type.width == 32 ? at_.getFloatTy() : at_.getDoubleTy();
  }

  static unsigned width_of(const llvm::Type* type) { return static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()); }

  /// The same bits in another type; of integers the low ones, and above them zeros.
  llvm::Value* as(llvm::Value* value, llvm::Type* wanted) {
    if (value->getType() == wanted) return value;
    if (value->getType()->isIntegerTy(1) || wanted->isIntegerTy(1)) throw Unknown("a predicate used as a number");
    if (!value->getType()->isIntegerTy()) value = at_.CreateBitCast(value, at_.getIntNTy(width_of(value->getType())));
    value = at_.CreateZExtOrTrunc(value, at_.getIntNTy(width_of(wanted)));
    return at_.CreateBitCast(value, wanted);
  }

  llvm::Value* special(unsigned k) {
    auto* type = llvm::FunctionType::get(at_.getInt32Ty(), {at_.getInt32Ty()}, false);
    auto function = function_of("__nuna_sreg", type);
    auto* read = at_.CreateCall(function, {at_.getInt32(k)});
    read->setDoesNotAccessMemory();
    return read;
  }

  llvm::Value* linear_thread() {
    auto* row = at_.CreateAdd(at_.CreateMul(special(kThreadIdx + 2), special(kBlockDim + 1)), special(kThreadIdx + 1));
    return at_.CreateAdd(at_.CreateMul(row, special(kBlockDim)), special(kThreadIdx));
  }

  /// "%laneid" and the like; nothing for other names.
  llvm::Value* special_register(const std::string& name) {
    for (const auto& [prefix, first] : {std::pair("%tid.", kThreadIdx), std::pair("%ctaid.", kBlockIdx),
                                        std::pair("%ntid.", kBlockDim), std::pair("%nctaid.", kGridDim)}) {
      const std::string_view start(prefix);
      if (name.size() == start.size() + 1 && name.starts_with(start) && name.back() >= 'x' && name.back() <= 'z')
        return special(first + static_cast<unsigned>(name.back() - 'x'));
    }
    if (name == "%laneid") return special(kLane);
    if (name == "%warpid") return at_.CreateLShr(linear_thread(), 5);
    if (name == "WARP_SZ") return at_.getInt32(32);
    if (name == "%clock64" || name == "%clock") return at_.CreateIntrinsic(at_.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {});
    if (!name.starts_with("%lanemask_")) return nullptr;
    auto* own = at_.CreateShl(at_.getInt32(1), special(kLane));
    auto* below = at_.CreateSub(own, at_.getInt32(1));
    const std::string which = name.substr(10);
    if (which == "eq") return own;
    if (which == "lt") return below;
    if (which == "le") return at_.CreateOr(below, own);
    if (which == "ge") return at_.CreateNot(below);
    if (which == "gt") return at_.CreateNot(at_.CreateOr(below, own));
    return nullptr;
  }

  llvm::Value* value_of(const std::string& name) {
    const auto found = registers_.find(name);
    if (found == registers_.end()) {
      if (auto* value = special_register(name)) return value;
      throw Unknown("the name " + name);
    }
    auto& read = found->second;
    if (read.value == nullptr) read.value = llvm::UndefValue::get(read.type);
    return read.value;
  }

  llvm::Value* read(const Operand& operand, llvm::Type* wanted) {
    if (operand.form == Operand::Form::number && wanted->isIntegerTy())
      return llvm::ConstantInt::get(wanted, static_cast<std::uint64_t>(operand.number), true);
    if (operand.form == Operand::Form::number) return llvm::ConstantFP::get(wanted, static_cast<double>(operand.number));
    if (operand.form == Operand::Form::real) return as(at_.getIntN(operand.width, static_cast<std::uint64_t>(operand.number)), wanted);
    if (operand.form == Operand::Form::vector) {
      // The first is the lowest.
      llvm::Value* all = nullptr;
      const unsigned part = width_of(wanted) / static_cast<unsigned>(operand.members.size());
      for (unsigned i = 0; i < operand.members.size(); ++i) {
        auto* one = at_.CreateZExt(read(operand.members[i], at_.getIntNTy(part)), at_.getIntNTy(width_of(wanted)));
        one = at_.CreateShl(one, i * part);
        all = all == nullptr ? one : at_.CreateOr(all, one);
      }
      return as(all, wanted);
    }
    if (operand.form != Operand::Form::name) throw Unknown("an address where a value belongs");
    auto* value = as(value_of(operand.name), wanted);
    return operand.negated ? at_.CreateNot(value) : value;
  }
  llvm::Value* read(const Operand& operand, Type type) { return read(operand, type_of(type)); }

  void write(const Operand& operand, llvm::Value* value) {
    if (operand.form == Operand::Form::vector) {
      const unsigned width = width_of(value->getType());
      const unsigned part = width / static_cast<unsigned>(operand.members.size());
      auto* bits = as(value, at_.getIntNTy(width));
      for (unsigned i = 0; i < operand.members.size(); ++i)
        write(operand.members[i], at_.CreateTrunc(at_.CreateLShr(bits, i * part), at_.getIntNTy(part)));
      return;
    }
    if (operand.form != Operand::Form::name) throw Unknown("a result that is no register");
    if (operand.name == "_") return;
    const auto found = registers_.find(operand.name);
    if (found == registers_.end()) throw Unknown("the name " + operand.name);
    found->second.value = as(value, found->second.type);
  }

  llvm::Value* address(const Operand& operand, const Statement& statement) {
    if (operand.form != Operand::Form::address) throw Unknown("an address expected");
    auto* base = value_of(operand.name);
    if (!base->getType()->isIntegerTy(64)) throw Unknown(statement.words[0] + " at an address of 32 bits");
    if (operand.number != 0) base = at_.CreateAdd(base, at_.getInt64(static_cast<std::uint64_t>(operand.number)));
    return at_.CreateIntToPtr(base, at_.getPtrTy());
  }

  // ---- statements

  void guarded(const Statement& statement) {
    if (statement.guard.empty()) return instruction(statement);
    auto* condition = as(value_of(statement.guard), at_.getInt1Ty());
    if (statement.unless) condition = at_.CreateNot(condition);
    const auto before = registers_;
    auto* head = at_.GetInsertBlock();
    auto* end = llvm::SplitBlockAndInsertIfThen(condition, call_.getIterator(), false);
    at_.SetInsertPoint(end);
    instruction(statement);
    at_.SetInsertPoint(&call_);
    for (auto& [name, after] : registers_) {
      const auto old = before.find(name);
      if (old == before.end() || old->second.value == after.value) continue;
      auto* either = at_.CreatePHI(after.type, 2);
      either->addIncoming(after.value, end->getParent());
      either->addIncoming(old->second.value != nullptr ? old->second.value : llvm::UndefValue::get(after.type), head);
      after.value = either;
    }
  }

  static bool has(const Statement& statement, std::string_view word) { return llvm::is_contained(statement.words, word); }

  static Type last_type(const Statement& statement) {
    const auto type = ptx::type_named(statement.words.back());
    if (type.width == 0) throw Unknown("the type " + statement.words.back());
    return type;
  }

  static void need(const Statement& statement, std::size_t least, std::size_t most) {
    if (statement.operands.size() < least || statement.operands.size() > most) throw Unknown("its number of operands");
  }

  void instruction(const Statement& s) {
    const std::string& name = s.words[0];
    if (name.empty()) {
      registers_[s.operands[0].name] = {type_of(ptx::type_named(s.words[2])), nullptr};
    } else if (name == "mov" || name == "cvta") {
      need(s, 2, 2);
      move(s, last_type(s));
    } else if (name == "cvt") {
      need(s, 2, 2);
      convert(s);
    } else if (name == "ld" || name == "ldu") {
      load(s);
    } else if (name == "st") {
      store(s);
    } else if (name == "atom" || name == "red") {
      atomic(s);
    } else if (name == "setp") {
      compare(s);
    } else if (name == "selp") {
      need(s, 4, 4);
      const auto type = type_of(last_type(s));
      write(s.operands[0], at_.CreateSelect(read(s.operands[3], at_.getInt1Ty()), read(s.operands[1], type), read(s.operands[2], type)));
    } else if (name == "shfl") {
      shuffle(s);
    } else if (name == "vote") {
      vote(s);
    } else if (name == "activemask") {
      write(s.operands.at(0), meet(at_.getInt32(0)));
    } else if (name == "bar" || name == "barrier") {
      barrier(s);
    } else if (name == "membar" || name == "fence") {
      at_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    } else if (name == "exit") {
      auto* type = llvm::FunctionType::get(at_.getVoidTy(), false);
      at_.CreateCall(function_of(kExit, type));
    } else if (name == "trap" || name == "brkpt") {
      at_.CreateIntrinsic(at_.getVoidTy(), llvm::Intrinsic::trap, {});
    } else if (name == "nanosleep" || name == "prefetch" || name == "prefetchu" || name == "discard" || name == "applypriority") {
      // Advice.
    } else {
      const auto type = last_type(s);
      if (type.kind == Kind::floating) {
        real_arithmetic(s, type);
      } else if (!bits_arithmetic(s, type)) {
        arithmetic(s, type);
      }
    }
  }

  void move(const Statement& s, Type type) {
    if (s.words[0] == "cvta" && type.width != 64) throw Unknown("cvta of 32 bits");
    write(s.operands[0], read(s.operands[1], type));
  }

  void convert(const Statement& s) {
    const auto to = ptx::type_named(s.words[s.words.size() - 2]);
    const auto from = last_type(s);
    if (to.width == 0) throw Unknown("the conversion");
    auto* value = read(s.operands[1], from);
    auto* wanted = type_of(to);
    const bool sign = from.kind == Kind::sign;
    if (from.kind == Kind::floating) {
      for (const auto& [word, which] : {std::pair("rni", llvm::Intrinsic::roundeven), std::pair("rzi", llvm::Intrinsic::trunc),
                                        std::pair("rmi", llvm::Intrinsic::floor), std::pair("rpi", llvm::Intrinsic::ceil)}) {
        if (has(s, word)) value = at_.CreateUnaryIntrinsic(which, value);
      }
    }
    if (has(s, "rz") || has(s, "rm") || has(s, "rp")) throw Unknown("this rounding");
    if (to.kind == Kind::floating) {
      if (from.kind == Kind::floating) {
        value = from.width < to.width ? at_.CreateFPExt(value, wanted) : from.width > to.width ? at_.CreateFPTrunc(value, wanted) : value;
        if (has(s, "sat")) value = saturated(value);
      } else {
        value = sign ? at_.CreateSIToFP(value, wanted) : at_.CreateUIToFP(value, wanted);
      }
    } else if (from.kind == Kind::floating) {
      const auto which = to.kind == Kind::sign ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
      value = at_.CreateIntrinsic(which, {wanted, value->getType()}, {value});
    } else {
      if (has(s, "sat")) throw Unknown("a saturating conversion of integers");
      value = sign ? at_.CreateSExtOrTrunc(value, wanted) : at_.CreateZExtOrTrunc(value, wanted);
    }
    // A wider register holds an integer with its sign.
    const auto& target = registers_.find(s.operands[0].name);
    if (target != registers_.end() && to.kind == Kind::sign && target->second.type->isIntegerTy())
      value = at_.CreateSExtOrTrunc(value, target->second.type);
    write(s.operands[0], value);
  }

  // ---- memory

  static unsigned elements(const Statement& s) { return has(s, "v2") ? 2 : has(s, "v4") ? 4 : 1; }

  static void only_flat(const Statement& s) {
    for (const char* word : {"param", "mmio", "shared::cluster", "weak.shared"}) {
      if (has(s, word)) throw Unknown(std::string("memory of .") + word);
    }
  }

  /// What others may write at the same time is moved at once, as GPUs do, up to 16 bytes.
  static bool at_once(const Statement& s) {
    return has(s, "volatile") || has(s, "relaxed") || has(s, "acquire") || has(s, "release") || has(s, "cg") || has(s, "cv") ||
           has(s, "wt");
  }

  void load(const Statement& s) {
    need(s, 2, 3);
    only_flat(s);
    const auto type = last_type(s);
    auto* element = type_of(type);
    const unsigned count = elements(s);
    const unsigned bits = type.width * count;
    auto* place = address(s.operands[1], s);
    std::vector<llvm::Value*> parts;
    if (at_once(s) && bits <= 128) {
      auto* whole = at_.CreateAlignedLoad(at_.getIntNTy(bits), place, llvm::Align(bits / 8));
      whole->setAtomic(has(s, "acquire") ? llvm::AtomicOrdering::Acquire : llvm::AtomicOrdering::Monotonic);
      for (unsigned i = 0; i < count; ++i)
        parts.push_back(as(at_.CreateTrunc(at_.CreateLShr(whole, i * type.width), at_.getIntNTy(type.width)), element));
    } else {
      for (unsigned i = 0; i < count; ++i)
        parts.push_back(at_.CreateAlignedLoad(element, at_.CreateConstGEP1_32(element, place, i), llvm::Align(type.width / 8)));
    }
    const auto& target = s.operands[0];
    if (count > 1 && target.members.size() != count) throw Unknown("its vector");
    for (unsigned i = 0; i < count; ++i) {
      const auto& one = count > 1 ? target.members[i] : target;
      auto* value = parts[i];
      const auto found = registers_.find(one.name);
      if (type.kind == Kind::sign && found != registers_.end() && found->second.type->isIntegerTy())
        value = at_.CreateSExtOrTrunc(value, found->second.type);
      write(one, value);
    }
  }

  void store(const Statement& s) {
    need(s, 2, 3);
    only_flat(s);
    const auto type = last_type(s);
    auto* element = type_of(type);
    const unsigned count = elements(s);
    const unsigned bits = type.width * count;
    auto* place = address(s.operands[0], s);
    const auto& source = s.operands[1];
    if (count > 1 && source.members.size() != count) throw Unknown("its vector");
    if (at_once(s) && bits <= 128) {
      auto* whole = at_.CreateAlignedStore(read(source, at_.getIntNTy(bits)), place, llvm::Align(bits / 8));
      whole->setAtomic(has(s, "release") ? llvm::AtomicOrdering::Release : llvm::AtomicOrdering::Monotonic);
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      at_.CreateAlignedStore(read(count > 1 ? source.members[i] : source, element), at_.CreateConstGEP1_32(element, place, i),
                             llvm::Align(type.width / 8));
    }
  }

  void atomic(const Statement& s) {
    const bool result = s.words[0] == "atom";
    const auto type = last_type(s);
    auto* element = type_of(type);
    const std::size_t first = result ? 1 : 0;
    need(s, first + 2, first + 3);
    auto* place = address(s.operands[first], s);
    const bool relaxed = !has(s, "acquire") && !has(s, "release") && !has(s, "acq_rel");
    const auto order = relaxed ? llvm::AtomicOrdering::Monotonic : llvm::AtomicOrdering::AcquireRelease;
    auto* value = read(s.operands[first + 1], element);
    llvm::Value* old = nullptr;
    if (has(s, "cas")) {
      need(s, first + 3, first + 3);
      auto* both = at_.CreateAtomicCmpXchg(place, value, read(s.operands[first + 2], element), llvm::Align(type.width / 8), order,
                                           llvm::AtomicOrdering::Monotonic);
      old = at_.CreateExtractValue(both, 0);
    } else {
      using Rmw = llvm::AtomicRMWInst;
      std::optional<Rmw::BinOp> which;
      const bool sign = type.kind == Kind::sign;
      const bool real = type.kind == Kind::floating;
      if (has(s, "add")) which = real ? Rmw::FAdd : Rmw::Add;
      if (has(s, "exch")) which = Rmw::Xchg;
      if (has(s, "and")) which = Rmw::And;
      if (has(s, "or")) which = Rmw::Or;
      if (has(s, "xor")) which = Rmw::Xor;
      if (has(s, "min")) which = sign ? Rmw::Min : Rmw::UMin;
      if (has(s, "max")) which = sign ? Rmw::Max : Rmw::UMax;
      if (has(s, "inc")) which = Rmw::UIncWrap;
      if (has(s, "dec")) which = Rmw::UDecWrap;
      if (!which || (real && *which != Rmw::FAdd && *which != Rmw::Xchg)) throw Unknown("this atomic operation");
      old = at_.CreateAtomicRMW(*which, place, value, llvm::Align(type.width / 8), order);
    }
    if (result) write(s.operands[0], old);
  }

  // ---- arithmetic

  void compare(const Statement& s) {
    need(s, 3, 4);
    const auto type = last_type(s);
    auto* a = read(s.operands[1], type);
    auto* b = read(s.operands[2], type);
    static const std::map<std::string_view, std::array<llvm::CmpInst::Predicate, 3>> comparisons = {
        {"eq", {llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_EQ, llvm::CmpInst::FCMP_OEQ}},
        {"ne", {llvm::CmpInst::ICMP_NE, llvm::CmpInst::ICMP_NE, llvm::CmpInst::FCMP_ONE}},
        {"lt", {llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_SLT, llvm::CmpInst::FCMP_OLT}},
        {"le", {llvm::CmpInst::ICMP_ULE, llvm::CmpInst::ICMP_SLE, llvm::CmpInst::FCMP_OLE}},
        {"gt", {llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_SGT, llvm::CmpInst::FCMP_OGT}},
        {"ge", {llvm::CmpInst::ICMP_UGE, llvm::CmpInst::ICMP_SGE, llvm::CmpInst::FCMP_OGE}},
        {"lo", {llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULT, llvm::CmpInst::BAD_FCMP_PREDICATE}},
        {"ls", {llvm::CmpInst::ICMP_ULE, llvm::CmpInst::ICMP_ULE, llvm::CmpInst::BAD_FCMP_PREDICATE}},
        {"hi", {llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGT, llvm::CmpInst::BAD_FCMP_PREDICATE}},
        {"hs", {llvm::CmpInst::ICMP_UGE, llvm::CmpInst::ICMP_UGE, llvm::CmpInst::BAD_FCMP_PREDICATE}},
        {"equ", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_UEQ}},
        {"neu", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_UNE}},
        {"ltu", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_ULT}},
        {"leu", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_ULE}},
        {"gtu", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_UGT}},
        {"geu", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_UGE}},
        {"num", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_ORD}},
        {"nan", {llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::BAD_ICMP_PREDICATE, llvm::CmpInst::FCMP_UNO}},
    };
    const auto found = comparisons.find(s.words.size() > 1 ? s.words[1] : "");
    if (found == comparisons.end()) throw Unknown("this comparison");
    const std::size_t column = type.kind == Kind::floating ? 2 : type.kind == Kind::sign ? 1 : 0;
    const auto which = found->second[column];
    if (which == llvm::CmpInst::BAD_ICMP_PREDICATE || which == llvm::CmpInst::BAD_FCMP_PREDICATE) throw Unknown("this comparison");
    llvm::Value* yes = at_.CreateCmp(which, a, b);
    llvm::Value* no = at_.CreateNot(yes);
    if (s.operands.size() == 4) {
      auto* other = read(s.operands[3], at_.getInt1Ty());
      auto joined = [&](llvm::Value* one) {
        if (has(s, "and")) return at_.CreateAnd(one, other);
        if (has(s, "or")) return at_.CreateOr(one, other);
        if (has(s, "xor")) return at_.CreateXor(one, other);
        throw Unknown("this comparison");
      };
      yes = joined(yes);
      no = joined(no);
    }
    write(s.operands[0], yes);
    if (!s.second.empty()) write({Operand::Form::name, s.second, 0, 0, false, {}}, no);
  }

  /// Shifts of `width` or more give `beyond`.
  llvm::Value* shifted(llvm::Instruction::BinaryOps which, llvm::Value* value, llvm::Value* amount, llvm::Value* beyond) {
    auto* width = llvm::ConstantInt::get(amount->getType(), value->getType()->getIntegerBitWidth());
    auto* inside = at_.CreateICmpULT(amount, width);
    auto* by = at_.CreateSelect(inside, amount, llvm::ConstantInt::get(amount->getType(), 0));
    return at_.CreateSelect(inside, at_.CreateBinOp(which, value, at_.CreateZExtOrTrunc(by, value->getType())), beyond);
  }

  /// Ones in the low `count` bits.
  llvm::Value* low_ones(llvm::Type* type, llvm::Value* count) {
    auto* none = llvm::ConstantInt::get(type, 0);
    auto* one = llvm::ConstantInt::get(type, 1);
    return at_.CreateSub(shifted(llvm::Instruction::Shl, one, count, none), one);
  }

  /// Whether the instruction is one whose operands differ from its type.
  bool bits_arithmetic(const Statement& s, Type type) {
    const std::string& name = s.words[0];
    auto* whole = type_of(type);
    auto* word = at_.getInt32Ty();
    auto operand = [&](std::size_t i, llvm::Type* as_type) { return read(s.operands.at(i), as_type); };
    if (name == "shl" || name == "shr") {
      auto* value = operand(1, whole);
      auto* amount = operand(2, word);
      const bool sign = type.kind == Kind::sign && name == "shr";
      auto* beyond = sign ? at_.CreateAShr(value, type.width - 1) : llvm::ConstantInt::get(whole, 0);
      const auto which = name == "shl" ? llvm::Instruction::Shl : sign ? llvm::Instruction::AShr : llvm::Instruction::LShr;
      write(s.operands[0], shifted(which, value, amount, beyond));
    } else if (name == "shf") {
      need(s, 4, 4);
      auto* pair = at_.CreateOr(at_.CreateShl(at_.CreateZExt(operand(2, word), at_.getInt64Ty()), 32),
                                at_.CreateZExt(operand(1, word), at_.getInt64Ty()));
      llvm::Value* amount = operand(3, word);
      if (has(s, "wrap")) {
        amount = at_.CreateAnd(amount, 31);
      } else {
        amount = at_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, at_.getInt32(32));
      }
      amount = at_.CreateZExt(amount, at_.getInt64Ty());
      auto* moved = has(s, "l") ? at_.CreateLShr(at_.CreateShl(pair, amount), 32) : at_.CreateLShr(pair, amount);
      if (has(s, "l")) {
        // By 32 all of the low word has come up.
        moved = at_.CreateSelect(at_.CreateICmpEQ(amount, at_.getInt64(32)), at_.CreateAnd(pair, 0xffffffff), moved);
      }
      write(s.operands[0], at_.CreateTrunc(moved, word));
    } else if (name == "bfe") {
      need(s, 4, 4);
      const bool sign = type.kind == Kind::sign;
      auto* value = operand(1, whole);
      auto* from = at_.CreateAnd(operand(2, word), 0xff);
      auto* length = at_.CreateAnd(operand(3, word), 0xff);
      auto* zero = llvm::ConstantInt::get(whole, 0);
      auto* beyond = sign ? at_.CreateAShr(value, type.width - 1) : zero;
      const auto right = sign ? llvm::Instruction::AShr : llvm::Instruction::LShr;
      auto* low = shifted(right, value, from, beyond);
      if (!sign) {
        write(s.operands[0], at_.CreateAnd(low, low_ones(whole, length)));
        return true;
      }
      auto* count = at_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, length, at_.getInt32(type.width));
      auto* unused = at_.CreateSub(at_.getInt32(type.width), count);
      auto* up = shifted(llvm::Instruction::Shl, low, unused, zero);
      write(s.operands[0], shifted(right, up, unused, zero));
    } else if (name == "bfi") {
      need(s, 5, 5);
      auto* from = at_.CreateAnd(operand(3, word), 0xff);
      auto* zero = llvm::ConstantInt::get(whole, 0);
      auto* mask = shifted(llvm::Instruction::Shl, low_ones(whole, at_.CreateAnd(operand(4, word), 0xff)), from, zero);
      auto* placed = shifted(llvm::Instruction::Shl, operand(1, whole), from, zero);
      write(s.operands[0], at_.CreateOr(at_.CreateAnd(placed, mask), at_.CreateAnd(operand(2, whole), at_.CreateNot(mask))));
    } else if (name == "prmt") {
      need(s, 4, 4);
      if (s.words.size() != 2) throw Unknown("this mode of prmt");
      auto* pair = at_.CreateOr(at_.CreateShl(at_.CreateZExt(operand(2, word), at_.getInt64Ty()), 32),
                                at_.CreateZExt(operand(1, word), at_.getInt64Ty()));
      auto* selector = operand(3, word);
      llvm::Value* all = at_.getInt32(0);
      for (unsigned i = 0; i < 4; ++i) {
        auto* chosen = at_.CreateAnd(at_.CreateLShr(selector, 4 * i), 15);
        auto* byte = at_.CreateLShr(pair, at_.CreateZExt(at_.CreateShl(at_.CreateAnd(chosen, 7), 3), at_.getInt64Ty()));
        byte = at_.CreateTrunc(byte, at_.getInt8Ty());
        auto* signs = at_.CreateAShr(byte, 7);
        auto* result = at_.CreateSelect(at_.CreateICmpNE(at_.CreateAnd(chosen, 8), at_.getInt32(0)), signs, byte);
        all = at_.CreateOr(all, at_.CreateShl(at_.CreateZExt(result, word), 8 * i));
      }
      write(s.operands[0], all);
    } else if (name == "lop3") {
      need(s, 5, 5);
      if (s.operands[4].form != Operand::Form::number) throw Unknown("lop3 of a table that is no number");
      llvm::Value* all = at_.getInt32(0);
      for (unsigned row = 0; row < 8; ++row) {
        if ((s.operands[4].number >> row & 1) == 0) continue;
        llvm::Value* term = nullptr;
        for (unsigned i = 0; i < 3; ++i) {
          auto* value = operand(1 + i, word);
          if ((row >> (2 - i) & 1) == 0) value = at_.CreateNot(value);
          term = term == nullptr ? value : at_.CreateAnd(term, value);
        }
        all = at_.CreateOr(all, term);
      }
      write(s.operands[0], all);
    } else if (name == "popc" || name == "clz") {
      auto* value = operand(1, whole);
      auto* count = name == "popc" ? at_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, value)
                                   : at_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, at_.getFalse());
      write(s.operands[0], at_.CreateZExtOrTrunc(count, word));
    } else if (name == "bfind") {
      auto* value = operand(1, whole);
      if (type.kind == Kind::sign) value = at_.CreateXor(value, at_.CreateAShr(value, type.width - 1));
      auto* above = at_.CreateZExtOrTrunc(at_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, at_.getFalse()), word);
      auto* place = has(s, "shiftamt") ? above : at_.CreateSub(at_.getInt32(type.width - 1), above);
      auto* none = at_.CreateICmpEQ(value, llvm::ConstantInt::get(whole, 0));
      write(s.operands[0], at_.CreateSelect(none, at_.getInt32(~0u), place));
    } else if (name == "brev") {
      write(s.operands[0], at_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, operand(1, whole)));
    } else {
      return false;
    }
    return true;
  }

  llvm::Value* widened(llvm::Value* value, Type type) {
    auto* wide = at_.getIntNTy(2 * type.width);
    return type.kind == Kind::sign ? at_.CreateSExt(value, wide) : at_.CreateZExt(value, wide);
  }

  llvm::Value* product(const Statement& s, Type type) {
    auto* a = read(s.operands[1], type);
    auto* b = read(s.operands[2], type);
    if (has(s, "wide")) return at_.CreateMul(widened(a, type), widened(b, type));
    if (has(s, "hi")) return at_.CreateTrunc(at_.CreateLShr(at_.CreateMul(widened(a, type), widened(b, type)), type.width), type_of(type));
    return at_.CreateMul(a, b);
  }

  /// a + b + the carry of the instruction before, if this one asks for it; or a - b - it.
  llvm::Value* summed(const Statement& s, llvm::Value* a, llvm::Value* b, bool minus) {
    const bool with_carry = s.words[0] == "addc" || s.words[0] == "subc" || s.words[0] == "madc";
    auto* type = a->getType();
    const auto which = minus ? llvm::Intrinsic::usub_with_overflow : llvm::Intrinsic::uadd_with_overflow;
    auto* first = at_.CreateBinaryIntrinsic(which, a, b);
    llvm::Value* sum = at_.CreateExtractValue(first, 0);
    llvm::Value* carry = at_.CreateExtractValue(first, 1);
    if (with_carry) {
      if (carry_ == nullptr) throw Unknown("a carry from another asm statement");
      auto* second = at_.CreateBinaryIntrinsic(which, sum, at_.CreateZExt(carry_, type));
      sum = at_.CreateExtractValue(second, 0);
      carry = at_.CreateOr(carry, at_.CreateExtractValue(second, 1));
    }
    if (has(s, "cc")) {
      if (!s.guard.empty()) throw Unknown("a guarded carry");
      carry_ = carry;
    }
    return sum;
  }

  void arithmetic(const Statement& s, Type type) {
    const std::string& name = s.words[0];
    const bool sign = type.kind == Kind::sign;
    if (has(s, "sat")) throw Unknown("a saturating " + name);
    need(s, 2, 4);
    auto first = [&] { return read(s.operands[1], type); };
    auto second = [&] {
      need(s, 3, 3);
      return read(s.operands[2], type);
    };
    llvm::Value* result = nullptr;
    if (name == "add" || name == "addc") {
      result = summed(s, first(), second(), false);
    } else if (name == "sub" || name == "subc") {
      result = summed(s, first(), second(), true);
    } else if (name == "mul") {
      need(s, 3, 3);
      result = product(s, type);
    } else if (name == "mad" || name == "madc") {
      need(s, 4, 4);
      auto* part = product(s, type);
      result = summed(s, part, read(s.operands[3], part->getType()), false);
    } else if (name == "sad") {
      need(s, 4, 4);
      auto* a = read(s.operands[1], type);
      auto* b = read(s.operands[2], type);
      auto* larger = sign ? at_.CreateICmpSGT(a, b) : at_.CreateICmpUGT(a, b);
      result = at_.CreateAdd(at_.CreateSelect(larger, at_.CreateSub(a, b), at_.CreateSub(b, a)), read(s.operands[3], type));
    } else if (name == "div") {
      result = sign ? at_.CreateSDiv(first(), second()) : at_.CreateUDiv(first(), second());
    } else if (name == "rem") {
      result = sign ? at_.CreateSRem(first(), second()) : at_.CreateURem(first(), second());
    } else if (name == "min" || name == "max") {
      const auto which = name == "min" ? (sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin)
                                       : (sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
      result = at_.CreateBinaryIntrinsic(which, first(), second());
    } else if (name == "abs") {
      result = at_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, first(), at_.getFalse());
    } else if (name == "neg") {
      result = at_.CreateNeg(first());
    } else if (name == "and") {
      result = at_.CreateAnd(first(), second());
    } else if (name == "or") {
      result = at_.CreateOr(first(), second());
    } else if (name == "xor") {
      result = at_.CreateXor(first(), second());
    } else if (name == "not") {
      result = at_.CreateNot(first());
    } else if (name == "cnot") {
      auto* zero = llvm::ConstantInt::get(type_of(type), 0);
      result = at_.CreateZExt(at_.CreateICmpEQ(first(), zero), type_of(type));
    } else {
      throw Unknown("the instruction " + name);
    }
    write(s.operands[0], result);
  }

  llvm::Value* saturated(llvm::Value* value) {
    auto* type = value->getType();
    auto* low = at_.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, value, llvm::ConstantFP::get(type, 0));
    return at_.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, low, llvm::ConstantFP::get(type, 1));
  }

  void real_arithmetic(const Statement& s, Type type) {
    const std::string& name = s.words[0];
    if (has(s, "rz") || has(s, "rm") || has(s, "rp")) throw Unknown("this rounding of " + name);
    need(s, 2, 4);
    auto operand = [&](std::size_t i) {
      if (i >= s.operands.size()) throw Unknown("its number of operands");
      return read(s.operands[i], type);
    };
    auto unary = [&](llvm::Intrinsic::ID which) { return at_.CreateUnaryIntrinsic(which, operand(1)); };
    auto* one = llvm::ConstantFP::get(type_of(type), 1);
    llvm::Value* result = nullptr;
    if (name == "add") {
      result = at_.CreateFAdd(operand(1), operand(2));
    } else if (name == "sub") {
      result = at_.CreateFSub(operand(1), operand(2));
    } else if (name == "mul") {
      result = at_.CreateFMul(operand(1), operand(2));
    } else if (name == "div") {
      result = at_.CreateFDiv(operand(1), operand(2));
    } else if (name == "fma" || name == "mad") {
      result = at_.CreateIntrinsic(llvm::Intrinsic::fma, {type_of(type)}, {operand(1), operand(2), operand(3)});
    } else if (name == "min" || name == "max") {
      if (has(s, "NaN") || has(s, "xorsign")) throw Unknown("this " + name);
      result = at_.CreateBinaryIntrinsic(name == "min" ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum, operand(1), operand(2));
    } else if (name == "abs") {
      result = unary(llvm::Intrinsic::fabs);
    } else if (name == "neg") {
      result = at_.CreateFNeg(operand(1));
    } else if (name == "sqrt") {
      result = unary(llvm::Intrinsic::sqrt);
    } else if (name == "rsqrt") {
      result = at_.CreateFDiv(one, unary(llvm::Intrinsic::sqrt));
    } else if (name == "rcp") {
      result = at_.CreateFDiv(one, operand(1));
    } else if (name == "ex2") {
      result = unary(llvm::Intrinsic::exp2);
    } else if (name == "lg2") {
      result = unary(llvm::Intrinsic::log2);
    } else if (name == "sin") {
      result = unary(llvm::Intrinsic::sin);
    } else if (name == "cos") {
      result = unary(llvm::Intrinsic::cos);
    } else {
      throw Unknown("the instruction " + name);
    }
    write(s.operands[0], has(s, "sat") ? saturated(result) : result);
  }

  // ---- threads together

  llvm::FunctionCallee function_of(const char* name, llvm::FunctionType* type) {
    auto callee = call_.getModule()->getOrInsertFunction(name, type);
    if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee()); function != nullptr && suspends_by_name(name))
      function->addFnAttr(llvm::Attribute::Convergent);
    return callee;
  }
  static bool suspends_by_name(std::string_view name) { return name == "__nuna_barrier" || name == "__nuna_warp_barrier"; }

  llvm::Value* warp_barrier(llvm::Value* mask) {
    auto* type = llvm::FunctionType::get(at_.getInt32Ty(), {at_.getInt32Ty()}, false);
    auto* call = at_.CreateCall(function_of("__nuna_warp_barrier", type), {mask});
    call->setConvergent();
    return call;
  }

  /// As __nuna_meet of the headers.
  llvm::Value* meet(llvm::Value* mask) {
    auto* met = warp_barrier(mask);
    auto* all = at_.CreateICmpEQ(mask, at_.getInt32(0));
    return at_.CreateSelect(all, met, at_.CreateAnd(met, mask));
  }

  /// The warp's places for values of 32 or 8 bits, as __nuna_slots of the headers.
  llvm::Value* slots(unsigned bits) {
    auto* call = at_.CreateCall(function_of("__nuna_warp_slots", llvm::FunctionType::get(at_.getPtrTy(), false)));
    call->setDoesNotAccessMemory();
    return at_.CreateConstInBoundsGEP1_64(at_.getInt8Ty(), call, bits == 32 ? 256 : 384);
  }

  void barrier(const Statement& s) {
    if (has(s, "warp")) {
      need(s, 1, 1);
      warp_barrier(read(s.operands[0], at_.getInt32Ty()));
      return;
    }
    if (has(s, "arrive") || has(s, "red") || has(s, "cluster") || s.operands.size() != 1) throw Unknown("this barrier");
    auto* call = at_.CreateCall(function_of("__nuna_barrier", llvm::FunctionType::get(at_.getVoidTy(), false)));
    call->setConvergent();
  }

  /// shfl.sync.mode.b32 d|p, a, b, c, mask: c holds the last lane of a segment and, from bit 8, which bits of the lane name one.
  void shuffle(const Statement& s) {
    const bool sync = has(s, "sync");
    need(s, sync ? 5 : 4, sync ? 5 : 4);
    auto* word = at_.getInt32Ty();
    auto* value = read(s.operands[1], word);
    auto* by = at_.CreateAnd(read(s.operands[2], word), 31);
    auto* control = read(s.operands[3], word);
    llvm::Value* mask = sync ? read(s.operands[4], word) : at_.getInt32(0);
    auto* lane = special(kLane);
    auto* segment = at_.CreateAnd(at_.CreateLShr(control, 8), 31);
    auto* clamp = at_.CreateAnd(control, 31);
    auto* least = at_.CreateAnd(lane, segment);
    auto* most = at_.CreateOr(least, at_.CreateAnd(clamp, at_.CreateNot(segment)));
    llvm::Value* source = nullptr;
    llvm::Value* inside = nullptr;
    if (has(s, "up")) {
      source = at_.CreateSub(lane, by);
      inside = at_.CreateICmpSGE(source, most);
    } else {
      if (has(s, "down")) {
        source = at_.CreateAdd(lane, by);
      } else if (has(s, "bfly")) {
        source = at_.CreateXor(lane, by);
      } else if (has(s, "idx")) {
        source = at_.CreateOr(least, at_.CreateAnd(by, at_.CreateNot(segment)));
      } else {
        throw Unknown("this shuffle");
      }
      inside = at_.CreateICmpSLE(source, most);
    }
    source = at_.CreateSelect(inside, source, lane);
    auto* all = slots(32);
    at_.CreateStore(value, at_.CreateInBoundsGEP(word, all, {at_.CreateZExt(lane, at_.getInt64Ty())}));
    auto* present = meet(mask);
    auto* there = at_.CreateICmpNE(at_.CreateAnd(at_.CreateLShr(present, source), 1), at_.getInt32(0));
    auto* other = at_.CreateLoad(word, at_.CreateInBoundsGEP(word, all, {at_.CreateZExt(source, at_.getInt64Ty())}));
    auto* result = at_.CreateSelect(there, other, value);
    warp_barrier(mask);
    write(s.operands[0], result);
    if (!s.second.empty()) write({Operand::Form::name, s.second, 0, 0, false, {}}, inside);
  }

  void vote(const Statement& s) {
    const bool sync = has(s, "sync");
    need(s, sync ? 3 : 2, sync ? 3 : 2);
    llvm::Value* mask = sync ? read(s.operands[2], at_.getInt32Ty()) : at_.getInt32(0);
    auto* all = slots(8);
    auto* lane = at_.CreateZExt(special(kLane), at_.getInt64Ty());
    at_.CreateStore(at_.CreateZExt(read(s.operands[1], at_.getInt1Ty()), at_.getInt8Ty()), at_.CreateInBoundsGEP(at_.getInt8Ty(), all, {lane}));
    auto* present = meet(mask);
    auto* bytes = llvm::FixedVectorType::get(at_.getInt8Ty(), 32);
    auto* votes = at_.CreateAlignedLoad(bytes, all, llvm::Align(32));
    auto* set = at_.CreateICmpEQ(votes, llvm::ConstantInt::get(bytes, 1));
    auto* yes = at_.CreateAnd(at_.CreateBitCast(set, at_.getInt32Ty()), present);
    warp_barrier(mask);
    auto* none = at_.CreateICmpEQ(yes, at_.getInt32(0));
    auto* every = at_.CreateICmpEQ(yes, present);
    if (has(s, "ballot")) return write(s.operands[0], yes);
    if (has(s, "any")) return write(s.operands[0], at_.CreateNot(none));
    if (has(s, "all")) return write(s.operands[0], every);
    if (has(s, "uni")) return write(s.operands[0], at_.CreateOr(none, every));
    throw Unknown("this vote");
  }

  llvm::CallInst& call_;
  llvm::IRBuilder<> at_;
  const llvm::InlineAsm& assembly_;
  std::map<std::string, Register> registers_;
  std::vector<std::string> outputs_;
  llvm::Value* carry_ = nullptr;  ///< of the last .cc
};

}  // namespace

void translate_ptx(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (auto& function : module) {
    for (auto& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const auto* assembly = call != nullptr ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (assembly != nullptr && !assembly->getAsmString().empty()) calls.push_back(call);
    }
  }
  for (auto* call : calls) {
    const auto text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString();
    try {
      Translation(*call).replace();
    } catch (const Unknown& unknown) {
      throw std::runtime_error(at_line(*call) + "error: asm(\"" + text + "\"): PTX is code for GPUs, and this CPU does not have " +
                               unknown.what() + "; write it in C++");
    }
  }
}

bool end_threads_at_exit(llvm::Function& kernel) {
  std::vector<llvm::CallInst*> calls;
  for (auto& instruction : llvm::instructions(kernel)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == kExit) calls.push_back(call);
  }
  for (auto* call : calls) {
    auto* block = call->getParent();
    // Everything behind the call goes: the block ends there.
    llvm::SplitBlock(block, call);
    block->getTerminator()->eraseFromParent();
    llvm::ReturnInst::Create(kernel.getContext(), block);
    call->getParent()->removePredecessor(block);
  }
  if (!calls.empty()) llvm::removeUnreachableBlocks(kernel);
  return !calls.empty();
}

}  // namespace nuna::compiler
