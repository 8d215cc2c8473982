#include "codegen/warp_exchanges.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "codegen/block_memory.hpp"
#include "codegen/intrinsics.hpp"
#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

/// A kernel k; %own and %other are the addresses of two slots of the warp, %mask and %few are lanes.
class WarpExchanges : public testing::Test {
 protected:
  /// What the kernel is after the pass, a letter each: w and r for accesses of slots, W and R of those of the other half, m for a meeting.
  std::string after(const std::string& body, Among among = Among::warp) {
    const std::string text = R"(
declare i32 @__nuna_sreg(i32) memory(none)
declare ptr @__nuna_warp_slots() memory(none)
declare i32 @__nuna_warp_barrier(i32, i32) convergent
declare void @__nuna_barrier() convergent
@global = external global i32
define void @k(i32 %mask, i32 %few, ptr %memory) {
  %lane = call i32 @__nuna_sreg(i32 12)
  %slots = call ptr @__nuna_warp_slots()
  %own = getelementptr i32, ptr %slots, i32 %lane
  %other = getelementptr i32, ptr %own, i32 1
)" + body + "  ret void\n}\n";
    module_ = parsed(text, context_);
    auto& kernel = *module_->getFunction("k");
    overlap_exchanges(kernel, among);
    std::string letters;
    for (const auto& instruction : llvm::instructions(kernel)) {
      if (intrinsic_of(instruction) == Intrinsic::warp_barrier) letters += 'm';
      const auto* address = llvm::getLoadStorePointerOperand(&instruction);
      if (address == nullptr || address->getName() == "memory") continue;
      const bool moved = !address->hasName();
      letters += llvm::isa<llvm::StoreInst>(instruction) ? (moved ? 'W' : 'w') : (moved ? 'R' : 'r');
    }
    return letters;
  }

  /// A shuffle of `value`, whose result is %<name>.
  static std::string exchange(const std::string& name, const std::string& value,
                              const std::string& mask = "%mask") {
    return "  store i32 " + value + ", ptr %own\n  %met" + name + " = call i32 @__nuna_warp_barrier(i32 " +
           mask + ", i32 8)\n  %" + name + " = load i32, ptr %other\n  %left" + name +
           " = call i32 @__nuna_warp_barrier(i32 " + mask + ", i32 9)\n";
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(WarpExchanges, AloneMeetTwice) { EXPECT_EQ("wmrm", after(exchange("a", "1"))); }

TEST_F(WarpExchanges, InARowMeetOnceEachAndTakeTurns) {
  EXPECT_EQ("wmrWmRwmrm", after(exchange("a", "1") + exchange("b", "%a") + exchange("c", "%b")));
}

TEST_F(WarpExchanges, OfOtherLanesLeaveFirst) {
  EXPECT_EQ("wmrmwmrm", after(exchange("a", "1") + exchange("b", "%a", "%few")));
  EXPECT_EQ("wmrWmRmwmrWmRm", after(exchange("a", "1") + exchange("b", "%a") + exchange("c", "%b", "%few") +
                                    exchange("d", "%c", "%few")));
}

TEST_F(WarpExchanges, OfLanesThatComeByTogetherLeaveFirst) {
  EXPECT_EQ("wmrmwmrm", after(exchange("a", "1", "0") + exchange("b", "%a", "0")));
}

TEST_F(WarpExchanges, BetweenWhichMemoryIsWrittenLeaveFirst) {
  const std::string write = "  store i32 %a, ptr %memory\n";
  EXPECT_EQ("wmrmwmrm", after(exchange("a", "1") + write + exchange("b", "%a")));
}

TEST_F(WarpExchanges, BetweenWhichMemoryIsReadDoNot) {
  const std::string read = "  %v = load i32, ptr %memory\n";
  EXPECT_EQ("wmrWmRm", after(exchange("a", "1") + read + exchange("b", "%v")));
}

TEST_F(WarpExchanges, WhoseLeavingSaysWhoWasThereLeaveFirst) {
  const std::string use = "  %u = add i32 %lefta, 1\n";
  EXPECT_EQ("wmrmwmrm", after(exchange("a", "1") + use + exchange("b", "%u")));
}

TEST_F(WarpExchanges, WithAMeetingBetweenLeaveFirst) {
  const std::string sync = "  call i32 @__nuna_warp_barrier(i32 %mask, i32 0)\n";
  EXPECT_EQ("wmrmmwmrm", after(exchange("a", "1") + sync + exchange("b", "%a")));
}

TEST_F(WarpExchanges, InTwoArmsOfABranchThatLanesTakeApartLeaveFirst) {
  const std::string two = exchange("a", "1") + exchange("b", "%a");
  const std::string arms = "br i1 %even, label %yes, label %no\nyes:\n" + two + "  br label %join\nno:\n" +
                           exchange("c", "1") + exchange("d", "%c") + "  br label %join\njoin:\n";
  EXPECT_EQ("wmrmwmrmwmrmwmrm",
            after("  %bit = trunc i32 %lane to i1\n  %even = xor i1 %bit, true\n  " + arms));
  EXPECT_EQ("wmrWmRmwmrWmRm", after("  %even = icmp eq i32 %few, 0\n  " + arms));
}

TEST_F(WarpExchanges, InArmsThatOnlyWarpsOfWholeRowsTakeTogetherLeaveFirstInOtherBlocks) {
  const std::string arms =
      "  %y = call i32 @__nuna_sreg(i32 1)\n  %odd = trunc i32 %y to i1\n  br i1 %odd, label %yes, label "
      "%no\nyes:\n" +
      exchange("a", "1") + exchange("b", "%a") + "  br label %join\nno:\n" + exchange("c", "1") +
      "  br label %join\njoin:\n";
  EXPECT_EQ("wmrWmRmwmrm", after(arms, Among::warp));
  EXPECT_EQ("wmrmwmrmwmrm", after(arms, Among::block));
}

TEST_F(WarpExchanges, OfLanesThatMeetNoOthersDoNot) {
  const std::string some = "  %bit = trunc i32 %lane to i1\n  br i1 %bit, label %yes, label %join\nyes:\n" +
                           exchange("a", "1") + exchange("b", "%a") + "  br label %join\njoin:\n";
  EXPECT_EQ("wmrWmRm", after(some));
  EXPECT_EQ("wmrWmRmwmrWmRm",
            after(some + "  call void @__nuna_barrier()\n" + exchange("c", "1") + exchange("d", "%c")));
  EXPECT_EQ("wmrmwmrmwmrm", after(some + exchange("c", "1")));
}

TEST_F(WarpExchanges, OfUnknownFormAreLeftAlone) {
  EXPECT_EQ("rmwmrmrm",
            after("  %x = load i32, ptr %other\n  %m = call i32 @__nuna_warp_barrier(i32 %mask, i32 0)\n" +
                  exchange("a", "1") +
                  "  %y = load i32, ptr %other\n  %n = call i32 @__nuna_warp_barrier(i32 %mask, i32 0)\n"));
}

}  // namespace
}  // namespace nuna::compiler
