#include "codegen/wide_indices.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The arithmetic of 64 bits in a kernel that stores at p[%wide], which `index` computes of %x = threadIdx.x, %b = blockIdx.x and %n.
std::vector<std::string> arithmetic_of_64_bits(const std::string& index) {
  const std::string text = R"(
declare i32 @__nuna_sreg(i32)
declare void @__nuna_barrier()
define void @f(ptr %p, i32 %n) {
  %x = call i32 @__nuna_sreg(i32 0)
  %b = call i32 @__nuna_sreg(i32 3)
)" + index + R"(
  %at = getelementptr float, ptr %p, i64 %wide
  store float 1.0, ptr %at
  ret void
})";
  llvm::LLVMContext context;
  const auto module = parsed(text, context);
  auto& function = *module->getFunction("f");
  widen_indices(function);
  expect_well_formed(function);
  std::vector<std::string> found;
  for (const auto& instruction : llvm::instructions(function)) {
    if (instruction.isBinaryOp() && instruction.getType()->isIntegerTy(64))
      found.push_back(std::string(instruction.getOpcodeName()) +
                      (instruction.hasNoSignedWrap() ? " nsw" : ""));
  }
  return found;
}

TEST(WideIndices, SumsWithTheThreadsIndexAreOf64Bits) {
  EXPECT_THAT(arithmetic_of_64_bits(R"(
  %base = mul nsw i32 %b, 12
  %sum = add nsw i32 %base, %x
  %index = add nsw i32 %sum, -2
  %wide = sext i32 %index to i64)"),
              ElementsAre("mul nsw", "add nsw", "add nsw"));
  EXPECT_THAT(arithmetic_of_64_bits(R"(
  %row = mul nsw i32 %b, %n
  %index = sub nsw i32 %row, %x
  %wide = zext nneg i32 %index to i64)"),
              ElementsAre("mul nsw", "sub nsw"));
}

TEST(WideIndices, ProductsOfTermsAreOf64BitsToo) {
  EXPECT_THAT(arithmetic_of_64_bits(R"(
  %row = mul nsw i32 %b, %n
  %index = add nsw i32 %row, %x
  %wide = sext i32 %index to i64)"),
              ElementsAre("mul nsw", "add nsw"));
  EXPECT_THAT(arithmetic_of_64_bits(R"(
  %row = mul i32 %b, %n
  %index = add nsw i32 %row, %x
  %wide = sext i32 %index to i64)"),
              ElementsAre("add nsw"));
}

TEST(WideIndices, ATermOfSeveralSumsIsWidenedOnce) {
  EXPECT_THAT(arithmetic_of_64_bits(R"(
  %one = add nsw i32 %n, %x
  %other = add nsw i32 %one, 5
  %first = sext i32 %one to i64
  %from = getelementptr float, ptr %p, i64 %first
  store float 2.0, ptr %from
  %wide = sext i32 %other to i64)"),
              ElementsAre("add nsw", "add nsw"));
}

TEST(WideIndices, SumsThatMayWrapStayAsTheyAre) {
  EXPECT_THAT(arithmetic_of_64_bits("  %index = add i32 %n, %x\n  %wide = sext i32 %index to i64"),
              IsEmpty());
  EXPECT_THAT(arithmetic_of_64_bits("  %index = add nsw i32 %n, %x\n  %wide = zext i32 %index to i64"),
              IsEmpty());
}

TEST(WideIndices, SumsOfSmallTermsStayAsTheyAre) {
  EXPECT_THAT(arithmetic_of_64_bits("  %index = add nsw i32 %x, 1\n  %wide = sext i32 %index to i64"),
              IsEmpty());
  EXPECT_THAT(arithmetic_of_64_bits(R"(
  %inside = icmp sgt i32 %n, 0
  %step = sext i1 %inside to i32
  %index = add nsw i32 %x, %step
  %wide = sext i32 %index to i64)"),
              IsEmpty());
}

TEST(WideIndices, WhatDoesNotGrowAlongXStaysAsItIs) {
  EXPECT_THAT(arithmetic_of_64_bits("  %index = add nsw i32 %n, %b\n  %wide = sext i32 %index to i64"),
              IsEmpty());
}

}  // namespace
}  // namespace nuna::compiler
