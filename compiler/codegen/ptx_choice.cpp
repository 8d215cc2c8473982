#include <array>
#include <map>

#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

using llvm::CmpInst;
using ptx::Instruction;

/// Of bits and unsigned numbers, of signed ones, of real ones.
using Comparisons = std::array<CmpInst::Predicate, 3>;
constexpr auto kNone = CmpInst::BAD_ICMP_PREDICATE;

const std::map<std::string_view, Comparisons>& comparisons() {
  static const std::map<std::string_view, Comparisons> all = {
      {"eq", {CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ}},
      {"ne", {CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_ONE}},
      {"lt", {CmpInst::ICMP_ULT, CmpInst::ICMP_SLT, CmpInst::FCMP_OLT}},
      {"le", {CmpInst::ICMP_ULE, CmpInst::ICMP_SLE, CmpInst::FCMP_OLE}},
      {"gt", {CmpInst::ICMP_UGT, CmpInst::ICMP_SGT, CmpInst::FCMP_OGT}},
      {"ge", {CmpInst::ICMP_UGE, CmpInst::ICMP_SGE, CmpInst::FCMP_OGE}},
      {"lo", {CmpInst::ICMP_ULT, CmpInst::ICMP_ULT, kNone}},
      {"ls", {CmpInst::ICMP_ULE, CmpInst::ICMP_ULE, kNone}},
      {"hi", {CmpInst::ICMP_UGT, CmpInst::ICMP_UGT, kNone}},
      {"hs", {CmpInst::ICMP_UGE, CmpInst::ICMP_UGE, kNone}},
      {"equ", {kNone, kNone, CmpInst::FCMP_UEQ}},
      {"neu", {kNone, kNone, CmpInst::FCMP_UNE}},
      {"ltu", {kNone, kNone, CmpInst::FCMP_ULT}},
      {"leu", {kNone, kNone, CmpInst::FCMP_ULE}},
      {"gtu", {kNone, kNone, CmpInst::FCMP_UGT}},
      {"geu", {kNone, kNone, CmpInst::FCMP_UGE}},
      {"num", {kNone, kNone, CmpInst::FCMP_ORD}},
      {"nan", {kNone, kNone, CmpInst::FCMP_UNO}},
  };
  return all;
}

/// a compared with b, and that with the predicate c, if there is one; the second is of the opposite comparison.
std::pair<llvm::Value*, llvm::Value*> compare(PtxBuilder& to, const Instruction& in, ptx::Type type) {
  if (in.words.empty() || in.operands.size() < 3 || type.pair) in.refuse();
  const auto found = comparisons().find(in.words[0]);
  if (found == comparisons().end()) in.refuse();
  const auto which = found->second[type.is_real() ? 2 : type.is_signed() ? 1 : 0];
  if (which == kNone) in.refuse();
  auto* yes = to.at.CreateCmp(which, to.read(in.operands[1], type), to.read(in.operands[2], type));
  auto* no = to.at.CreateNot(yes);
  const bool joined = in.operands.size() == 4;
  in.expect(joined ? 4 : 3,
            {in.words[0], "ftz", joined ? "and" : "ftz", joined ? "or" : "ftz", joined ? "xor" : "ftz"});
  if (!joined) return {yes, no};
  auto* other = to.read_predicate(in.operands[3]);
  auto join = [&](llvm::Value* one) {
    if (in.has("and")) return to.at.CreateAnd(one, other);
    if (in.has("or")) return to.at.CreateOr(one, other);
    if (!in.has("xor")) in.refuse();
    return to.at.CreateXor(one, other);
  };
  return {join(yes), join(no)};
}

void set_predicate(PtxBuilder& to, const Instruction& in) {
  const auto [yes, no] = compare(to, in, in.type());
  to.write(in.operands[0], yes);
  to.write_second(in.operands[0], no);
}

/// Ones in all bits, or 1.0.
void set_word(PtxBuilder& to, const Instruction& in) {
  if (in.types.size() != 2) in.refuse();
  auto* yes = compare(to, in, in.types[1]).first;
  auto* type = to.type_of(in.types[0]);
  to.write(in.operands[0],
           type->isFloatingPointTy() ? to.at.CreateUIToFP(yes, type) : to.at.CreateSExt(yes, type));
}

/// selp by a predicate; slct by the sign of a number.
void select(PtxBuilder& to, const Instruction& in) {
  const bool by_sign = in.name == "slct";
  in.expect(4, {"ftz"});
  if (in.types.size() != (by_sign ? 2 : 1)) in.refuse();
  llvm::Value* condition = nullptr;
  if (!by_sign) {
    condition = to.read_predicate(in.operands[3]);
  } else if (in.types[1].is_real()) {
    auto* number = to.read(in.operands[3], in.types[1]);
    condition = to.at.CreateFCmpOGE(number, llvm::ConstantFP::get(number->getType(), 0));
  } else {
    condition = to.at.CreateICmpSGE(to.read_word(in.operands[3]), to.at.getInt32(0));
  }
  auto* a = to.read(in.operands[1], in.types[0]);
  auto* b = to.read(in.operands[2], in.types[0]);
  to.write(in.operands[0], to.at.CreateSelect(condition, a, b));
}

void test(PtxBuilder& to, const Instruction& in) {
  static const std::map<std::string_view, llvm::FPClassTest> classes = {
      {"finite", llvm::fcFinite},
      {"infinite", llvm::fcInf},
      {"number", ~llvm::fcNan & llvm::fcAllFlags},
      {"notanumber", llvm::fcNan},
      {"normal", llvm::fcNormal | llvm::fcZero},
      {"subnormal", llvm::fcSubnormal},
  };
  const auto found = classes.find(in.words.empty() ? "" : in.words[0]);
  if (found == classes.end() || !in.type().is_real()) in.refuse();
  in.expect(2, {in.words[0]});
  to.write(in.operands[0], to.at.createIsFPClass(to.read(in.operands[1], in.type()), found->second));
}

}  // namespace

bool build_ptx_choice(PtxBuilder& to, const Instruction& in) {
  if (in.name == "setp") {
    set_predicate(to, in);
  } else if (in.name == "set") {
    set_word(to, in);
  } else if (in.name == "selp" || in.name == "slct") {
    select(to, in);
  } else if (in.name == "testp") {
    test(to, in);
  } else {
    return false;
  }
  return true;
}

}  // namespace nuna::compiler
