#include "codegen/memory_scopes.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "codegen/machine.hpp"
#include "codegen/optimise.hpp"
#include "codegen/parsed.hpp"

namespace nuna::compiler {
namespace {

TEST(MemoryScopes, ALoopOverLanesThatRunsInsteadOfVectorsIsNotUnrolled) {
  // %index may wrap: then its vectors are no neighbours.
  const char* text = R"(
define void @f(i32 %first, ptr %from, ptr %to) {
entry:
  br label %lanes
lanes:
  %lane = phi i32 [ 0, %entry ], [ %next, %lanes ]
  %index = add i32 %first, %lane
  %far = zext i32 %index to i64
  %source = getelementptr inbounds i32, ptr %from, i64 %far
  %value = load i32, ptr %source
  %near = zext i32 %lane to i64
  %target = getelementptr inbounds i32, ptr %to, i64 %near
  store i32 %value, ptr %target
  %next = add nuw nsw i32 %lane, 1
  %again = icmp ult i32 %next, 32
  br i1 %again, label %lanes, label %end
end:
  ret void
})";
  llvm::LLVMContext context;
  const auto module = parsed(text, context);
  const auto machine = make_machine("x86-64-v3");
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  auto& function = *module->getFunction("f");
  function.addFnAttr("target-cpu", "x86-64-v3");

  const MemoryScopes scopes(context);
  auto* group = scopes.make_group();
  for (auto& instruction : llvm::instructions(function)) {
    if (instruction.mayReadOrWriteMemory()) scopes.mark_users(instruction, group);
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
    if (branch != nullptr && branch->isConditional())
      scopes.mark_parallel(*branch, group, MemoryScopes::Threads::lanes);
  }
  optimise(*module, *machine);

  int of_vectors = 0;
  int of_one = 0;
  for (const auto& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::LoadInst>(instruction)) ++(instruction.getType()->isVectorTy() ? of_vectors : of_one);
  }
  EXPECT_GT(of_vectors, 0);
  EXPECT_EQ(of_one, 1);
}

}  // namespace
}  // namespace nuna::compiler
