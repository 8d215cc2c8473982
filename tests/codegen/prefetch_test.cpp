#include "codegen/prefetch.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "codegen/analyses.hpp"
#include "codegen/machine.hpp"
#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A loop over %y of rows inside one over %block, which reads or writes 16 floats from %from[%place] each time.
class PrefetchTest : public testing::Test {
 protected:
  /// The distances in bytes of the prefetches that are made.
  std::vector<std::int64_t> distances(const std::string& place,
                                      const std::string& touch = "%v = load <16 x float>, ptr %at") {
    const std::string text = R"(
define void @f(ptr %from, i32 %width, i32 %blocks, i32 %rows) {
entry:
  br label %outer
outer:
  %block = phi i32 [ 0, %entry ], [ %block.next, %outer.end ]
  br label %inner
inner:
  %y = phi i32 [ 0, %outer ], [ %y.next, %inner ]
  %row = mul i32 %y, %width
  %column = mul i32 %block, 12
)" + place + R"(
  %index = sext i32 %place to i64
  %at = getelementptr float, ptr %from, i64 %index
  )" + touch + R"(
  %y.next = add i32 %y, 1
  %more = icmp ult i32 %y.next, %rows
  br i1 %more, label %inner, label %outer.end
outer.end:
  %block.next = add i32 %block, 1
  %again = icmp ult i32 %block.next, %blocks
  br i1 %again, label %outer, label %end
end:
  ret void
})";
    llvm::LLVMContext context;
    const auto module = parsed(text, context);
    const auto machine = make_machine("x86-64-v3");
    module->setDataLayout(machine->createDataLayout());
    auto& function = *module->getFunction("f");
    Analyses analyses(*machine);
    rows_read.clear();
    for (const auto& tile : prefetch_along_blocks(function, analyses.functions()))
      rows_read.push_back(tile.rows);
    std::vector<std::int64_t> found;
    for (const auto& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::prefetch) continue;
      const auto* ahead = llvm::cast<llvm::GetElementPtrInst>(call->getArgOperand(0));
      found.push_back(llvm::cast<llvm::ConstantInt>(ahead->getOperand(1))->getSExtValue());
    }
    return found;
  }

  std::vector<unsigned> rows_read;  ///< in a round of each loop that the last call returned
};

TEST_F(PrefetchTest, TheRowsOfATileFurtherOnAreAskedFor) {
  EXPECT_THAT(distances("%place = add i32 %row, %column"), ElementsAre(3 * 12 * 4));
  EXPECT_THAT(distances("%place = sub i32 %row, %column"), ElementsAre(-3 * 12 * 4));
  EXPECT_THAT(distances("%place = add i32 %row, %column", "store <16 x float> zeroinitializer, ptr %at"),
              ElementsAre(3 * 12 * 4));
}

TEST_F(PrefetchTest, LoopsThatReadRowsAreNamed) {
  distances("%place = add i32 %row, %column");
  EXPECT_THAT(rows_read, ElementsAre(1));
  distances("%place = add i32 %row, %column", "store <16 x float> zeroinitializer, ptr %at");
  EXPECT_THAT(rows_read, IsEmpty());
  distances("%place = add i32 %row, %column",
            "%v = load <16 x float>, ptr %at\n  %further = getelementptr float, ptr %at, i32 %width\n"
            "  %w = load <16 x float>, ptr %further");
  EXPECT_THAT(rows_read, ElementsAre(2));
}

TEST_F(PrefetchTest, RowsThatLieSideBySideAreLeftToTheProcessor) {
  EXPECT_THAT(distances("%near = mul i32 %y, 16\n  %place = add i32 %near, %column"), IsEmpty());
}

TEST_F(PrefetchTest, TilesThatAreFarApartAreNotAskedFor) {
  EXPECT_THAT(distances("%far = mul i32 %column, 100\n  %place = add i32 %row, %far"), IsEmpty());
  EXPECT_THAT(distances("%far = mul i32 %column, %width\n  %place = add i32 %row, %far"), IsEmpty());
  EXPECT_THAT(distances("%place = add i32 %row, 0"), IsEmpty());
}

TEST_F(PrefetchTest, AddressesMayBeMadeInSeveralSteps) {
  EXPECT_THAT(distances(R"(%row.index = sext i32 %row to i64
  %begin = getelementptr float, ptr %from, i64 %row.index
  %column.index = sext i32 %column to i64
  %behind = getelementptr i8, ptr %begin, i64 -8
  %there = getelementptr float, ptr %behind, i64 %column.index
  %place = add i32 0, 0)",
                        "store <16 x float> zeroinitializer, ptr %there"),
              ElementsAre(3 * 12 * 4));
}

TEST_F(PrefetchTest, SingleValuesAreNotAskedFor) {
  EXPECT_THAT(distances("%place = add i32 %row, %column", "%v = load float, ptr %at"), IsEmpty());
}

}  // namespace
}  // namespace nuna::compiler
