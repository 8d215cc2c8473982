#include <llvm/ADT/StringSwitch.h>

#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

using ptx::Instruction;
using ptx::Kind;
using ptx::Type;

class Arithmetic {
 public:
  Arithmetic(PtxBuilder& to, const Instruction& in)
      : to_(to), at_(to.at), in_(in), type_(in.type()), whole_(to.type_of(in.type())) {}

  /// Nothing where the instruction is not known.
  llvm::Value* build() {
    const auto& name = in_.name;
    if (name == "add" || name == "addc") return binary({"cc"}), sum(first(), second(), false);
    if (name == "sub" || name == "subc") return binary({"cc"}), sum(first(), second(), true);
    if (name == "mul") return binary({"lo", "hi", "wide"}), product();
    if (name == "mad" || name == "madc") {
      in_.expect(4, {"lo", "hi", "wide", "cc"});
      auto* part = product();
      return sum(part, to_.read(in_.operands[3], part->getType()), false);
    }
    if (name == "div" || name == "rem") return binary(), quotient(name == "div");
    if (name == "shl" || name == "shr") return binary(), shift();
    if (name == "and") return binary(), at_.CreateAnd(first(), second());
    if (name == "or") return binary(), at_.CreateOr(first(), second());
    if (name == "xor") return binary(), at_.CreateXor(first(), second());
    if (name == "min")
      return binary(), both(type_.is_signed() ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    if (name == "max")
      return binary(), both(type_.is_signed() ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
    if (name == "sad") return in_.expect(4, {}), difference();
    return unary();
  }

 private:
  llvm::Value* unary() {
    const auto& name = in_.name;
    auto one = [&]() -> llvm::Value* {
      in_.expect(2, {});
      return first();
    };
    if (name == "not") return at_.CreateNot(one());
    if (name == "neg") return at_.CreateNeg(one());
    if (name == "cnot") return at_.CreateZExt(at_.CreateICmpEQ(one(), number(0)), whole_);
    if (name == "abs") return at_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, one(), at_.getFalse());
    if (name == "brev") return at_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, one());
    if (name == "popc") return as_word(at_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, one()));
    if (name == "clz")
      return as_word(at_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, one(), at_.getFalse()));
    if (name == "bfind") return in_.expect(2, {"shiftamt"}), highest_bit();
    return nullptr;
  }

  void binary(std::initializer_list<std::string_view> words = {}) { in_.expect(3, words); }
  llvm::Value* first() { return to_.read(in_.operands[1], whole_); }
  llvm::Value* second() { return to_.read(in_.operands[2], whole_); }
  llvm::Value* number(std::uint64_t value) { return llvm::ConstantInt::get(whole_, value); }
  llvm::Value* as_word(llvm::Value* value) { return at_.CreateZExtOrTrunc(value, at_.getInt32Ty()); }
  llvm::Value* both(llvm::Intrinsic::ID which) { return at_.CreateBinaryIntrinsic(which, first(), second()); }

  /// a + b, or a - b; with the carry where the instruction asks for it, and leaving one where it says so.
  llvm::Value* sum(llvm::Value* a, llvm::Value* b, bool minus) {
    const bool with_carry = in_.name.ends_with('c');
    if (!with_carry && !in_.has("cc")) return minus ? at_.CreateSub(a, b) : at_.CreateAdd(a, b);
    const auto which = minus ? llvm::Intrinsic::usub_with_overflow : llvm::Intrinsic::uadd_with_overflow;
    auto* pair = at_.CreateBinaryIntrinsic(which, a, b);
    llvm::Value* result = at_.CreateExtractValue(pair, 0);
    llvm::Value* carry = at_.CreateExtractValue(pair, 1);
    if (with_carry) {
      pair = at_.CreateBinaryIntrinsic(which, result, at_.CreateZExt(to_.carry(), a->getType()));
      result = at_.CreateExtractValue(pair, 0);
      carry = at_.CreateOr(carry, at_.CreateExtractValue(pair, 1));
    }
    if (in_.has("cc")) to_.set_carry(carry);
    return result;
  }

  llvm::Value* product() {
    auto widened = [&](llvm::Value* value) {
      auto* wide = at_.getIntNTy(2 * type_.width);
      return type_.is_signed() ? at_.CreateSExt(value, wide) : at_.CreateZExt(value, wide);
    };
    if (!in_.has("wide") && !in_.has("hi")) return at_.CreateMul(first(), second());
    auto* all = at_.CreateMul(widened(first()), widened(second()));
    return in_.has("wide") ? all : at_.CreateTrunc(at_.CreateLShr(all, type_.width), whole_);
  }

  /// PTX leaves the quotient by zero open, but does not stop there: all ones, and what is left is the dividend.
  llvm::Value* quotient(bool wanted) {
    auto* a = first();
    auto* b = second();
    auto* by_zero = at_.CreateICmpEQ(b, number(0));
    if (!type_.is_signed()) {
      auto* safe = at_.CreateSelect(by_zero, number(1), b);
      return wanted ? at_.CreateSelect(by_zero, number(~0ull), at_.CreateUDiv(a, safe))
                    : at_.CreateSelect(by_zero, a, at_.CreateURem(a, safe));
    }
    auto* by_minus_one = at_.CreateICmpEQ(b, number(~0ull));  // overflows for the lowest number
    auto* safe = at_.CreateSelect(at_.CreateOr(by_zero, by_minus_one), number(1), b);
    if (!wanted) return at_.CreateSelect(by_zero, a, at_.CreateSRem(a, safe));
    auto* result = at_.CreateSelect(by_minus_one, at_.CreateNeg(a), at_.CreateSDiv(a, safe));
    return at_.CreateSelect(by_zero, number(~0ull), result);
  }

  /// By the width or more nothing is left, or the sign.
  llvm::Value* shift() {
    auto* value = first();
    auto* amount = to_.read_word(in_.operands[2]);
    if (in_.name == "shr" && type_.is_signed()) {
      auto* most = at_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, at_.getInt32(type_.width - 1));
      return at_.CreateAShr(value, at_.CreateZExtOrTrunc(most, whole_));
    }
    auto* inside = at_.CreateICmpULT(amount, at_.getInt32(type_.width));
    auto* by = at_.CreateZExtOrTrunc(at_.CreateSelect(inside, amount, at_.getInt32(0)), whole_);
    auto* moved = in_.name == "shl" ? at_.CreateShl(value, by) : at_.CreateLShr(value, by);
    return at_.CreateSelect(inside, moved, number(0));
  }

  llvm::Value* difference() {
    auto* a = first();
    auto* b = second();
    auto* larger = type_.is_signed() ? at_.CreateICmpSGT(a, b) : at_.CreateICmpUGT(a, b);
    auto* size = at_.CreateSelect(larger, at_.CreateSub(a, b), at_.CreateSub(b, a));
    return at_.CreateAdd(size, to_.read(in_.operands[3], whole_));
  }

  /// The place of the highest bit that is not the sign, counted from below or, for shiftamt, from above.
  llvm::Value* highest_bit() {
    auto* value = first();
    if (type_.is_signed()) value = at_.CreateXor(value, at_.CreateAShr(value, type_.width - 1));
    auto* above = as_word(at_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, at_.getFalse()));
    auto* place = in_.has("shiftamt") ? above : at_.CreateSub(at_.getInt32(type_.width - 1), above);
    return at_.CreateSelect(at_.CreateICmpEQ(value, number(0)), at_.getInt32(~0u), place);
  }

  PtxBuilder& to_;
  llvm::IRBuilder<>& at_;
  const Instruction& in_;
  const Type type_;
  llvm::Type* whole_;
};

}  // namespace

bool build_ptx_arithmetic(PtxBuilder& to, const Instruction& in) {
  if (in.types.size() != 1 || in.type().is_real()) return false;
  auto* result = Arithmetic(to, in).build();
  if (result == nullptr) return false;
  to.write(in.operands[0], result, in.type().is_signed());
  return true;
}

}  // namespace nuna::compiler
