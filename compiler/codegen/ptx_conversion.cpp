#include <algorithm>
#include <array>

#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

using ptx::Instruction;
using ptx::Type;

class Conversion {
 public:
  Conversion(PtxBuilder& to, const Instruction& in)
      : to_(to), at_(to.at), in_(in), target_(in.types[0]), source_(in.types[1]) {}

  llvm::Value* build() {
    in_.expect(2, {"rn", "rni", "rzi", "rmi", "rpi", "rz", "ftz", "sat"});
    const bool whole = target_.is_real() && source_.is_real() && in_.has("rz");
    if (whole || (in_.has("rz") && target_.is_real())) in_.refuse();  // ptx.h has what there is
    auto* value = to_.read(in_.operands[1], source_);
    if (target_.is_real()) return source_.is_real() ? real_of_real(rounded(value)) : real_of_integer(value);
    return source_.is_real() ? integer_of_real(rounded(value)) : integer_of_integer(value);
  }

 private:
  llvm::Value* rounded(llvm::Value* value) {
    static constexpr std::array<std::pair<const char*, llvm::Intrinsic::ID>, 4> roundings{{
        {"rni", llvm::Intrinsic::roundeven},
        {"rzi", llvm::Intrinsic::trunc},
        {"rmi", llvm::Intrinsic::floor},
        {"rpi", llvm::Intrinsic::ceil},
    }};
    for (const auto& [word, which] : roundings) {
      if (in_.has(word)) value = at_.CreateUnaryIntrinsic(which, value);
    }
    return value;
  }

  llvm::Value* real_of_real(llvm::Value* value) {
    auto* type = to_.type_of(target_);
    if (source_.width < target_.width) value = at_.CreateFPExt(value, type);
    if (source_.width > target_.width) value = at_.CreateFPTrunc(value, type);
    return clamped(value);
  }

  llvm::Value* real_of_integer(llvm::Value* value) {
    auto* type = to_.type_of(target_);
    return clamped(source_.is_signed() ? at_.CreateSIToFP(value, type) : at_.CreateUIToFP(value, type));
  }

  llvm::Value* clamped(llvm::Value* value) {
    if (!in_.has("sat")) return value;
    auto* type = value->getType();
    auto* low = at_.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, value, llvm::ConstantFP::get(type, 0));
    return at_.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, low, llvm::ConstantFP::get(type, 1));
  }

  /// Beyond the range it is the nearest of the range. NaN is 0, or the highest bit where 64 bits take part, as in convert.h.
  llvm::Value* integer_of_real(llvm::Value* value) {
    auto* type = to_.type_of(target_);
    const auto which = target_.is_signed() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    auto* result = at_.CreateIntrinsic(which, {type, value->getType()}, {value});
    if (target_.width < 32 || (target_.width == 32 && source_.width < 64)) return result;
    auto* highest = llvm::ConstantInt::get(type, 1ull << (target_.width - 1));
    return at_.CreateSelect(at_.CreateFCmpUNO(value, value), highest, result);
  }

  llvm::Value* integer_of_integer(llvm::Value* value) {
    if (in_.has("sat")) {
      // In a type that holds all values of both.
      auto* wide = at_.getIntNTy(source_.width < 64 && target_.width < 64 ? 64 : 128);
      value = source_.is_signed() ? at_.CreateSExt(value, wide) : at_.CreateZExt(value, wide);
      const auto bits = wide->getIntegerBitWidth();
      auto low = llvm::APInt::getMinValue(target_.width).zext(bits);
      auto high = llvm::APInt::getMaxValue(target_.width).zext(bits);
      if (target_.is_signed()) {
        low = llvm::APInt::getSignedMinValue(target_.width).sext(bits);
        high = llvm::APInt::getSignedMaxValue(target_.width).sext(bits);
      }
      value = at_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, llvm::ConstantInt::get(wide, low));
      value = at_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, llvm::ConstantInt::get(wide, high));
      return at_.CreateTrunc(value, to_.type_of(target_));
    }
    auto* type = to_.type_of(target_);
    return source_.is_signed() ? at_.CreateSExtOrTrunc(value, type) : at_.CreateZExtOrTrunc(value, type);
  }

  PtxBuilder& to_;
  llvm::IRBuilder<>& at_;
  const Instruction& in_;
  const Type target_;
  const Type source_;
};

/// Two halves out of two words; the first operand is the upper.
void pack_halves(PtxBuilder& to, const Instruction& in) {
  in.expect(3, {"rn", "ftz"});
  auto* type = to.type_of(in.types[0]);
  auto* half = to.at.getHalfTy();
  llvm::Value* pair = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < 2; ++i) {
    auto* part = to.at.CreateFPTrunc(to.read(in.operands[2 - i], in.types[1]), half);
    pair = to.at.CreateInsertElement(pair, part, i);
  }
  to.write(in.operands[0], pair);
}

/// Addresses of all memories are addresses of one; of a shared one the low 32 bits may be all that the program keeps.
void convert_address(PtxBuilder& to, const Instruction& in) {
  in.expect(2, {"to", "global", "shared", "local", "const", "shared::cta"});
  auto* value = to.read(in.operands[1], in.type());
  if (!in.has("to") && (in.has("shared") || in.has("shared::cta"))) {
    auto inside = in.operands[1];
    inside.form = ptx::Operand::Form::address;
    inside.number = 0;
    if (in.operands[1].form != ptx::Operand::Form::name) in.refuse();
    value = to.address(inside, true);
  }
  to.write(in.operands[0], value);
}

}  // namespace

bool build_ptx_conversion(PtxBuilder& to, const Instruction& in) {
  if (in.name == "cvt" && in.types.size() == 2) {
    if (in.types[0].pair) {
      pack_halves(to, in);
    } else if (in.types[1].pair) {
      return false;
    } else {
      to.write(in.operands.at(0), Conversion(to, in).build(), in.types[0].is_signed());
    }
  } else if (in.name == "mov" && in.types.size() == 1) {
    in.expect(2, {});
    to.write(in.operands[0], to.read(in.operands[1], in.type()));
  } else if (in.name == "cvta") {
    convert_address(to, in);
  } else if (in.name == "isspacep") {
    // As __isGlobal and the others of the headers.
    in.expect(2, {"global", "shared", "local", "const", "param", "shared::cta"});
    to.write(in.operands[0], to.at.getInt1(in.has("global")));
  } else {
    return false;
  }
  return true;
}

}  // namespace nuna::compiler
