#include "codegen/unroll_rows.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "codegen/analyses.hpp"
#include "codegen/machine.hpp"
#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

/// Most loads of a block of a loop over %rows rows of a tile, in one over %tiles of them, of which a round reads one row, and does `more` besides,
/// after it has been unrolled as one that reads `rows` a round.
std::size_t loads_in_straight_line(unsigned rows, const std::string& more = "") {
  const std::string text = R"(
define i64 @f(ptr %from, ptr %to, i64 %width, i64 %rows, i64 %tiles) {
entry:
  br label %tile
tile:
  %number = phi i64 [ 0, %entry ], [ %number.next, %tile.end ]
  %column = mul i64 %number, 12
  %left = getelementptr float, ptr %from, i64 %column
  br label %row
row:
  %y = phi i64 [ 0, %tile ], [ %next, %row ]
  %begin = mul i64 %y, %width
  %at = getelementptr float, ptr %left, i64 %begin
  %v = load <16 x float>, ptr %at
  %there = getelementptr <16 x float>, ptr %to, i64 %y
  store <16 x float> %v, ptr %there
)" + more + R"(
  %next = add nuw nsw i64 %y, 1
  %again = icmp ult i64 %next, %rows
  br i1 %again, label %row, label %tile.end
tile.end:
  %number.next = add nuw nsw i64 %number, 1
  %last = icmp eq i64 %number.next, %tiles
  br i1 %last, label %end, label %tile
end:
  ret i64 %next
})";
  llvm::LLVMContext context;
  const auto module = parsed(text, context);
  const auto machine = make_machine("x86-64-v3");
  module->setDataLayout(machine->createDataLayout());
  auto& function = *module->getFunction("f");
  Analyses analyses(*machine);
  auto& loops = analyses.functions().getResult<llvm::LoopAnalysis>(function);
  unroll_rows(function, {{(*loops.begin())->getSubLoops().front(), rows}}, analyses.functions());
  expect_well_formed(function);
  std::size_t most = 0;
  for (const auto& block : function) {
    std::size_t loads = 0;
    for (const auto& instruction : block) loads += llvm::isa<llvm::LoadInst>(instruction) ? 1 : 0;
    most = std::max(most, loads);
  }
  return most;
}

TEST(UnrollRows, ARoundReads16RowsOfATile) {
  EXPECT_EQ(loads_in_straight_line(1), 16u);
  EXPECT_EQ(loads_in_straight_line(8), 2u) << "LLVM had unrolled it";
}

TEST(UnrollRows, WhatReadsATileInARoundStaysAsItIs) { EXPECT_EQ(loads_in_straight_line(16), 1u); }

TEST(UnrollRows, LongRowsStayAsTheyAre) {
  std::string more;
  for (int i = 0; i < 30; ++i) more += "  store float 1.0, ptr %at\n";
  EXPECT_EQ(loads_in_straight_line(1, more), 1u);
}

}  // namespace
}  // namespace nuna::compiler
