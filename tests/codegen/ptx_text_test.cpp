#include "codegen/ptx_text.hpp"

#include <gtest/gtest.h>

namespace nuna::compiler::ptx {
namespace {

using Form = Operand::Form;

Instruction only(std::string_view text) {
  auto all = parse(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.at(0);
}

std::string problem_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Unknown& unknown) {
    return unknown.what();
  }
  return "";
}

TEST(PtxText, AnInstructionIsItsNameItsWordsAndItsTypes) {
  const auto in = only("shfl.sync.up.b32 $0, $1, 3, 0, 0xffffffff;");
  EXPECT_EQ(in.text, "shfl.sync.up.b32");
  EXPECT_EQ(in.name, "shfl");
  EXPECT_EQ(in.words, (std::vector<std::string>{"sync", "up"}));
  ASSERT_EQ(in.types.size(), 1u);
  EXPECT_EQ(in.type(), (Type{Kind::bits, 32}));
  ASSERT_EQ(in.operands.size(), 5u);
  EXPECT_EQ(in.operands[0].name, "$0");
  EXPECT_EQ(in.operands[2].form, Form::integer);
  EXPECT_EQ(in.operands[2].number, 3);
  EXPECT_EQ(in.operands[4].number, 0xffffffff);
}

TEST(PtxText, EveryTypeHasItsKindAndWidth) {
  EXPECT_EQ(type_named("u8"), (Type{Kind::unsign, 8}));
  EXPECT_EQ(type_named("s64"), (Type{Kind::sign, 64}));
  EXPECT_EQ(type_named("b128"), (Type{Kind::bits, 128}));
  EXPECT_EQ(type_named("f16"), (Type{Kind::real, 16}));
  EXPECT_EQ(type_named("f16x2"), (Type{Kind::real, 32, true}));
  EXPECT_EQ(type_named("pred"), (Type{Kind::predicate, 1}));
  for (const char* none : {"f8", "u7", "rn", "u", "", "sync", "tf32", "bf16"})
    EXPECT_EQ(type_named(none).width, 0u) << none;
}

TEST(PtxText, GuardsAndSecondResultsAreRead) {
  const auto all = parse("@!p add.s32 r, r, $1; @q exit; setp.lt.and.f32 p|q, $0, 0f3F800000, !s;");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].guard, "p");
  EXPECT_TRUE(all[0].unless);
  EXPECT_EQ(all[1].guard, "q");
  EXPECT_FALSE(all[1].unless);
  EXPECT_TRUE(all[1].operands.empty());
  EXPECT_EQ(all[2].operands[0].name, "p");
  EXPECT_EQ(all[2].operands[0].second, "q");
  EXPECT_EQ(all[2].operands[2].real, 1.0);
  EXPECT_TRUE(all[2].operands[3].negated);
}

TEST(PtxText, AddressesHaveABaseAndAnOffset) {
  const auto in = only("ld.global.v2.u32 {$0, $1}, [$2+16];");
  EXPECT_EQ(in.operands[0].form, Form::vector);
  ASSERT_EQ(in.operands[0].members.size(), 2u);
  EXPECT_EQ(in.operands[0].members[1].name, "$1");
  EXPECT_EQ(in.operands[1].form, Form::address);
  EXPECT_EQ(in.operands[1].name, "$2");
  EXPECT_EQ(in.operands[1].number, 16);
  EXPECT_EQ(only("ld.u32 $0, [ $1 + -8 ];").operands[1].number, -8);
  EXPECT_EQ(only("ld.u32 $0, [$1 - 4];").operands[1].number, -4);
  EXPECT_EQ(only("ld.u32 $0, [$1+$2];").operands[1].members.at(0).name, "$2");
  EXPECT_EQ(only("ld.u32 $0, [64];").operands[1].number, 64);
}

TEST(PtxText, NumbersAreOfEveryBase) {
  auto number = [](const std::string& text) { return only("mov.b64 $0, " + text + ";").operands[1].number; };
  EXPECT_EQ(number("10"), 10);
  EXPECT_EQ(number("-1"), -1);
  EXPECT_EQ(number("017"), 15);
  EXPECT_EQ(number("0x1FU"), 31);
  EXPECT_EQ(number("0b101"), 5);
  EXPECT_EQ(number("0xffffffffffffffff"), -1);
  auto real = [](const std::string& text) { return only("mov.f64 $0, " + text + ";").operands[1].real; };
  EXPECT_EQ(real("0d3FF8000000000000"), 1.5);
  EXPECT_EQ(real("-0f40000000"), -2.0);
  EXPECT_EQ(real("2.25"), 2.25);
}

TEST(PtxText, RegistersAreDeclaredOneByOneAndInRows) {
  const auto all = parse(".reg .b64 a, $$b;\n.reg.pred p<2>;");
  ASSERT_EQ(all.size(), 4u);
  for (const auto& one : all) EXPECT_EQ(one.name, ".reg");
  EXPECT_EQ(all[0].types[0], (Type{Kind::bits, 64}));
  EXPECT_EQ(all[1].operands[0].name, "$b");
  EXPECT_EQ(all[3].operands[0].name, "p1");
  EXPECT_EQ(all[3].types[0].kind, Kind::predicate);
}

TEST(PtxText, AnInnerRegisterHidesOneOfTheSameName) {
  const auto all = parse("{ .reg .u32 t; { .reg .u32 t; mov.u32 t, 1; } mov.u32 t, 2; } mov.u32 t, 3;");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_NE(all[0].operands[0].name, all[1].operands[0].name);
  EXPECT_EQ(all[2].operands[0].name, all[1].operands[0].name);
  EXPECT_EQ(all[3].operands[0].name, all[0].operands[0].name);
  EXPECT_EQ(all[4].operands[0].name, "t");
}

TEST(PtxText, LabelsStandBetweenInstructions) {
  const auto all = parse("AGAIN_${:uid}: add.u32 $0, $0, 1; @p bra AGAIN_${:uid};");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, ":");
  EXPECT_EQ(all[2].operands[0].name, all[0].operands[0].name);
}

TEST(PtxText, CommentsAndEmptyStatementsAreNothing) {
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse(" ;; { } // nothing\n /* nor\n here */ ;").empty());
  EXPECT_EQ(only("membar.gl").name, "membar");  // the last ';' may be missing
  EXPECT_EQ(only("ld.shared::cta.L2::128B.u8 $0, [$1];").words,
            (std::vector<std::string>{"shared::cta", "L2::128B"}));
}

TEST(PtxText, WhatIsNoPtxIsNamed) {
  EXPECT_EQ(problem_of("add.u32 $0, ?;"), "add.u32: '?' where a word belongs");
  EXPECT_EQ(problem_of("add.u32 $0 $1;"), "add.u32: '$1' where ',' belongs");
  EXPECT_EQ(problem_of("mov.b32 $0, {$1;"), "mov.b32: ';' where '}' belongs");
  EXPECT_EQ(problem_of("}"), "a '}' without its '{'");
  EXPECT_EQ(problem_of("mov.u32 $0, 12z;"), "mov.u32: the number 12z");
  EXPECT_EQ(problem_of(".reg .u7 a;"), ".reg.u7");
  EXPECT_EQ(problem_of(".shared .b8 a[4];"), ".shared");
  EXPECT_EQ(problem_of("ld.u32 $0, ["), "ld.u32: '' where a word belongs");
}

TEST(PtxText, AFormIsExpected) {
  const auto in = only("mul.hi.u32 $0, $1, $2;");
  EXPECT_NO_THROW(in.expect(3, {"lo", "hi"}));
  EXPECT_THROW(in.expect(2, {"hi"}), Unknown);
  EXPECT_THROW(in.expect(3, {"lo"}), Unknown);
  EXPECT_TRUE(in.has("hi"));
  EXPECT_THROW(only("exit;").type(), Unknown);
}

}  // namespace
}  // namespace nuna::compiler::ptx
