#include "codegen/hoist_divisions.hpp"
#include "codegen/parsed.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

namespace nuna::compiler {
namespace {

/// The blocks of the divisions of a loop over %i that divides where %i is not 0, and to which `entry` leads.
std::vector<std::string> blocks_of_divisions(const std::string& divisions,
                                             const std::string& entry = "  br label %loop\n",
                                             const std::string& entering = "[ 0, %entry ]") {
  const std::string text = R"(
define void @f(i64 %a, i64 %b, i64 %n, ptr %p) {
entry:
)" + entry + R"(
loop:
  %i = phi i64 )" + entering +
                           R"(, [ %next, %latch ]
  %in = icmp ne i64 %i, 0
  br i1 %in, label %then, label %latch
then:
)" + divisions + R"(
  %q = getelementptr i64, ptr %p, i64 %r
  store i64 %i, ptr %q
  br label %latch
latch:
  %next = add nuw i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
})";
  llvm::LLVMContext context;
  const auto module = parsed(text, context);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  auto& function = *module->getFunction("f");
  HoistDivisionsPass().run(function, functions);
  expect_well_formed(function);
  std::vector<std::string> found;
  for (const auto& instruction : llvm::instructions(function)) {
    if (instruction.isIntDivRem()) {
      const bool safe = llvm::isa<llvm::SelectInst>(instruction.getOperand(1));
      found.push_back(instruction.getParent()->getName().str() + (safe ? ", safe" : ""));
    }
  }
  return found;
}

using testing::ElementsAre;

TEST(HoistDivisions, ThatAreTheSameInEachRound) {
  EXPECT_THAT(blocks_of_divisions("%r = urem i64 %a, %b"), ElementsAre("entry, safe"));
  EXPECT_THAT(blocks_of_divisions("%r = sdiv i64 %a, %b"), ElementsAre("entry, safe"));
}

TEST(HoistDivisions, OfALoopWithTwoWaysIn) {
  EXPECT_THAT(blocks_of_divisions("%r = urem i64 %a, %b",
                                  "  %few = icmp ult i64 %n, 7\n  br i1 %few, label %first, label %second\n"
                                  "first:\n  br label %loop\nsecond:\n  br label %loop\n",
                                  "[ 0, %first ], [ 1, %second ]"),
              ElementsAre("loop.preheader, safe"));
}

TEST(HoistDivisions, OneAfterTheOther) {
  EXPECT_THAT(blocks_of_divisions("%s = udiv i64 %a, %b\n%t = add i64 %s, %n\n%r = srem i64 %t, %b"),
              ElementsAre("entry, safe", "entry, safe"));
}

TEST(HoistDivisions, NotOfWhatVaries) {
  EXPECT_THAT(blocks_of_divisions("%r = urem i64 %i, %b"), ElementsAre("then"));
  EXPECT_THAT(blocks_of_divisions("%s = load i64, ptr %p\n%r = urem i64 %s, %b"), ElementsAre("then"));
}

TEST(HoistDivisions, NotByConstantsWhichLlvmHoistsItself) {
  EXPECT_THAT(blocks_of_divisions("%r = urem i64 %a, 7"), ElementsAre("then"));
}

}  // namespace
}  // namespace nuna::compiler
