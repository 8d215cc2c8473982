#include "codegen/warp_synchronous.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "codegen/intrinsics.hpp"
#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

/// A kernel k with the given body; %x = threadIdx.x, %own and %next are the addresses of two of @cells, which is shared.
class WarpSynchronous : public testing::Test {
 protected:
  /// What the kernel is after the pass, a letter each: r and w for volatile accesses, m for a meeting of lanes, b for a barrier.
  std::string after(const std::string& body) {
    const std::string text = R"(
declare i32 @__nuna_sreg(i32) memory(none)
declare void @__nuna_barrier() convergent
@cells = external global [64 x i32]
@global = external global [64 x i32]
define void @k(i32 %n) {
  %x = call i32 @__nuna_sreg(i32 0)
  %own = getelementptr [64 x i32], ptr @cells, i32 0, i32 %x
  %next = getelementptr i32, ptr %own, i32 1
)" + body + "}\n";
    module_ = parsed(text, context_);
    auto& kernel = *module_->getFunction("k");
    changed_ = keep_warps_in_step(kernel, {{module_->getNamedGlobal("cells"), false}});
    std::string letters;
    for (const auto& instruction : llvm::instructions(kernel)) {
      const auto intrinsic = intrinsic_of(instruction);
      if (instruction.isVolatile()) letters += llvm::isa<llvm::StoreInst>(instruction) ? 'w' : 'r';
      if (intrinsic == Intrinsic::warp_barrier) letters += 'm';
      if (intrinsic == Intrinsic::barrier) letters += 'b';
    }
    return letters;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  bool changed_ = false;
};

TEST_F(WarpSynchronous, LanesMeetAroundWrites) {
  EXPECT_EQ("mrrmwmrmwm", after(R"(
  %a = load volatile i32, ptr %own
  %b = load volatile i32, ptr %next
  store volatile i32 %b, ptr %own
  %c = load volatile i32, ptr %next
  store volatile i32 %c, ptr %own
  ret void
)"));
  EXPECT_TRUE(changed_);
}

TEST_F(WarpSynchronous, LanesThatPartedMeetAgain) {
  EXPECT_EQ("mwmmr", after(R"(
  %some = icmp slt i32 %x, 7
  br i1 %some, label %then, label %join
then:
  store volatile i32 %n, ptr %own
  br label %join
join:
  %a = load volatile i32, ptr %next
  ret void
)"));
}

TEST_F(WarpSynchronous, LanesThatDidNotPartNeedNotMeetAgain) {
  EXPECT_EQ("mwmr", after(R"(
  %all = icmp slt i32 %n, 7
  br i1 %all, label %then, label %join
then:
  store volatile i32 %n, ptr %own
  %a = load volatile i32, ptr %next
  br label %join
join:
  ret void
)"));
}

TEST_F(WarpSynchronous, CodeWithBarriersIsLeftAlone) {
  EXPECT_EQ("wbrwb", after(R"(
  store volatile i32 %x, ptr %own
  call void @__nuna_barrier()
  %a = load volatile i32, ptr %next
  store volatile i32 %a, ptr %own
  call void @__nuna_barrier()
  ret void
)"));
  EXPECT_FALSE(changed_);
}

TEST_F(WarpSynchronous, OtherMemoryIsLeftAlone) {
  EXPECT_EQ("wr", after(R"(
  store volatile i32 %x, ptr @global
  %a = load volatile i32, ptr @global
  ret void
)"));
  EXPECT_EQ("", after("store i32 %x, ptr %own\n %a = load i32, ptr %next\n ret void\n"));
}

}  // namespace
}  // namespace nuna::compiler
