#include "codegen/path_flags.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

using testing::ElementsAre;

/// The opcodes of what `ways`, which begins in a block of its own and ends by jumping to %behind, has there before threads meet: its
/// first phi, %flag, decides whether each of them stores.
std::vector<std::string> told_behind(const std::string& ways, const std::string& phi,
                                     const std::string& meet = "call void @__nuna_barrier()") {
  const std::string text = R"(
declare i32 @__nuna_sreg(i32)
declare void @__nuna_barrier()
define void @f(ptr %p, i32 %n) {
  %x = call i32 @__nuna_sreg(i32 0)
)" + ways + R"(
behind:
  %flag = )" + phi + "\n  " +
                           meet + R"(
  br i1 %flag, label %store, label %end
store:
  store float 1.0, ptr %p
  br label %end
end:
  ret void
})";
  llvm::LLVMContext context;
  const auto module = parsed(text, context);
  auto& function = *module->getFunction("f");
  spell_out_path_flags(function);
  expect_well_formed(function);
  std::vector<std::string> found;
  for (const auto& block : function) {
    if (block.getName() != "behind") continue;
    for (const auto& instruction : block) {
      if (!llvm::isa<llvm::CallInst>(instruction) && !instruction.isTerminator())
        found.emplace_back(instruction.getOpcodeName());
    }
  }
  return found;
}

const std::string kTwoWays = R"(
  %first = icmp slt i32 %x, 1
  br i1 %first, label %behind, label %more
more:
  %y = call i32 @__nuna_sreg(i32 1)
  %past = sub i32 %n, 15
  %last = icmp sgt i32 %y, %past
  br i1 %last, label %behind, label %inside
inside:
  store float 2.0, ptr %p
  br label %behind
)";
const std::string kFlag = "phi i1 [ false, %0 ], [ false, %more ], [ true, %inside ]";

TEST(PathFlags, AreTheConditionsOfTheWay) {
  EXPECT_THAT(told_behind(kTwoWays, kFlag), ElementsAre("sub", "icmp", "select", "select"));
}

TEST(PathFlags, StayWhereNobodyMeets) { EXPECT_THAT(told_behind(kTwoWays, kFlag, ""), ElementsAre("phi")); }

TEST(PathFlags, StayWhereTheWayDependsOnMemory) {
  EXPECT_THAT(told_behind(R"(
  %v = load i32, ptr %p
  %first = icmp slt i32 %v, 1
  br i1 %first, label %behind, label %inside
inside:
  store float 2.0, ptr %p
  br label %behind
)",
                          "phi i1 [ false, %0 ], [ true, %inside ]"),
              ElementsAre("phi"));
}

/// Whether it is a loop's first round is no condition on indices.
TEST(PathFlags, OfLoopsStay) {
  EXPECT_THAT(told_behind(R"(
  br label %behind
again:
  br label %behind
)",
                          R"(phi i1 [ true, %0 ], [ false, %again ]
  %first = icmp slt i32 %x, 1
  br i1 %first, label %again, label %met
met:)"),
              ElementsAre("phi", "icmp"));
  EXPECT_THAT(told_behind(R"(
  br label %turn
turn:
  %first = icmp slt i32 %x, 1
  br i1 %first, label %other, label %behind
other:
  %y = call i32 @__nuna_sreg(i32 1)
  %second = icmp slt i32 %y, 1
  br i1 %second, label %turn, label %behind
)",
                          "phi i1 [ true, %turn ], [ false, %other ]"),
              ElementsAre("phi"));
}

}  // namespace
}  // namespace nuna::compiler
