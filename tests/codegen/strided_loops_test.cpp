#include "codegen/strided_loops.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/Module.h>

#include "codegen/parsed.hpp"
#include "codegen/uniformity.hpp"

namespace nuna::compiler {
namespace {

/// A kernel whose only loop counts %i from %from by %by while %i `test`, arguments %n (i32) and %p (ptr); %x = threadIdx.x,
/// %b = blockIdx.x, %d = blockDim.x. Its body stores the index at the index, and a sum lives behind it.
class StridedLoopsTest : public testing::Test {
 protected:
  llvm::Function& share(const std::string& from, const std::string& by, const std::string& test,
                        const std::string& body = "") {
    const std::string text = R"(
declare i32 @__nuna_sreg(i32) memory(none)
declare void @__nuna_barrier() convergent
define void @k(i32 %n, ptr %p) {
entry:
  %x = call i32 @__nuna_sreg(i32 0)
  %b = call i32 @__nuna_sreg(i32 3)
  %d = call i32 @__nuna_sreg(i32 6)
  %base = mul i32 %b, %d
  %place = add i32 %base, %x
  br label %loop
loop:
  %i = phi i32 [ )" + from + R"(, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %in = icmp )" + test + R"(
  br i1 %in, label %body, label %end
body:
  %q = getelementptr i32, ptr %p, i32 %i
  store i32 %i, ptr %q
)" + body + R"(
  %more = add i32 %sum, %i
  %next = add i32 %i, )" + by +
                             R"(
  br label %loop
end:
  store i32 %sum, ptr %p
  ret void
})";
    module_ = parsed(text, context_);
    auto& kernel = *module_->getFunction("k");
    share_strided_loops(kernel);
    expect_well_formed(kernel);
    return kernel;
  }

  /// Whether all threads leave the loop together.
  static bool leave_together(llvm::Function& kernel) {
    const Uniformity uniformity(kernel);
    for (auto& block : kernel) {
      if (block.getName() != "loop") continue;
      auto* branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
      return branch->isConditional() && uniformity.is_uniform(*branch->getCondition());
    }
    return false;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(StridedLoopsTest, ThreadsOfABlockLeaveTogether) {
  EXPECT_TRUE(leave_together(share("%x", "%d", "slt i32 %i, %n")));
}

TEST_F(StridedLoopsTest, ThreadsOfAGridLeaveTogether) {
  EXPECT_TRUE(leave_together(share("%place", "%d", "ult i32 %i, %n")));
}

TEST_F(StridedLoopsTest, BoundsMayStandFirst) {
  EXPECT_TRUE(leave_together(share("%x", "64", "sgt i32 %n, %i")));
}

TEST_F(StridedLoopsTest, LoopsMayCountDownwards) {
  EXPECT_TRUE(leave_together(share("%x", "-64", "sge i32 %i, 0")));
}

TEST_F(StridedLoopsTest, StayAsTheyAreWhereThreadsStrideDifferently) {
  EXPECT_FALSE(leave_together(share("%x", "%x", "slt i32 %i, %n")));
}

TEST_F(StridedLoopsTest, StayAsTheyAreWhereBoundsDiffer) {
  EXPECT_FALSE(leave_together(share("%x", "%d", "slt i32 %i, %place")));
}

TEST_F(StridedLoopsTest, StayAsTheyAreWhereTheyEndByEquality) {
  EXPECT_FALSE(leave_together(share("%x", "%d", "ne i32 %i, %n")));
}

TEST_F(StridedLoopsTest, StayAsTheyAreAroundBarriers) {
  EXPECT_FALSE(leave_together(share("%x", "%d", "slt i32 %i, %n", "call void @__nuna_barrier()")));
}

}  // namespace
}  // namespace nuna::compiler
