#include <map>

#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

using ptx::Instruction;

llvm::Value* saturated(llvm::IRBuilder<>& at, llvm::Value* value) {
  auto* type = value->getType();
  auto* low = at.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, value, llvm::ConstantFP::get(type, 0));
  return at.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, low, llvm::ConstantFP::get(type, 1));
}

/// sqrt and what the hardware only approximates. Here they are as exact as the CPU's, and subnormal numbers stay what they are.
llvm::Value* function_of(llvm::IRBuilder<>& at, const std::string& name, llvm::Value* x) {
  static const std::map<std::string_view, llvm::Intrinsic::ID> functions = {
      {"sqrt", llvm::Intrinsic::sqrt}, {"ex2", llvm::Intrinsic::exp2}, {"lg2", llvm::Intrinsic::log2},
      {"sin", llvm::Intrinsic::sin},   {"cos", llvm::Intrinsic::cos},  {"abs", llvm::Intrinsic::fabs},
  };
  if (const auto found = functions.find(name); found != functions.end())
    return at.CreateUnaryIntrinsic(found->second, x);
  auto* one = llvm::ConstantFP::get(x->getType(), 1);
  if (name == "neg") return at.CreateFNeg(x);
  if (name == "rcp") return at.CreateFDiv(one, x);
  if (name == "rsqrt") return at.CreateFDiv(one, at.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  return nullptr;
}

llvm::Value* least_or_most(llvm::IRBuilder<>& at, const Instruction& in, llvm::Value* a, llvm::Value* b) {
  const bool least = in.name == "min";
  if (in.has("NaN"))
    return at.CreateBinaryIntrinsic(least ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, a, b);
  return at.CreateBinaryIntrinsic(least ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum, a, b);
}

llvm::Value* result_of(PtxBuilder& to, const Instruction& in) {
  auto& at = to.at;
  auto operand = [&](std::size_t i) { return to.read(in.operands[i], in.type()); };
  const auto& name = in.name;
  if (name == "add" || name == "sub" || name == "mul" || name == "div") {
    in.expect(3, {"rn", "ftz", "sat", "approx", "full"});
    if (name == "add") return at.CreateFAdd(operand(1), operand(2));
    if (name == "sub") return at.CreateFSub(operand(1), operand(2));
    return name == "mul" ? at.CreateFMul(operand(1), operand(2)) : at.CreateFDiv(operand(1), operand(2));
  }
  if (name == "fma" || name == "mad") {
    in.expect(4, {"rn", "ftz", "sat"});
    return at.CreateIntrinsic(llvm::Intrinsic::fma, {to.type_of(in.type())},
                              {operand(1), operand(2), operand(3)});
  }
  if (name == "min" || name == "max") {
    in.expect(3, {"ftz", "NaN"});
    return least_or_most(at, in, operand(1), operand(2));
  }
  if (name == "copysign") {
    in.expect(3, {});
    return at.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, operand(2), operand(1));
  }
  if (in.operands.size() != 2) return nullptr;
  auto* result = function_of(at, name, operand(1));
  if (result != nullptr) in.expect(2, {"rn", "ftz", "approx"});
  return result;
}

}  // namespace

bool build_ptx_reals(PtxBuilder& to, const Instruction& in) {
  if (in.types.size() != 1 || !in.type().is_real()) return false;
  auto* result = result_of(to, in);
  if (result == nullptr) return false;
  to.write(in.operands[0], in.has("sat") ? saturated(to.at, result) : result);
  return true;
}

}  // namespace nuna::compiler
