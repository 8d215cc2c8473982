#include "codegen/thread_code.hpp"
#include "codegen/parsed.hpp"

#include <gmock/gmock.h>

namespace nuna::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A kernel k with the given body; %x = threadIdx.x, %b = blockIdx.x, arguments %n (i32) and %p (ptr).
class ThreadCodeTest : public testing::Test {
 protected:
  ThreadCode plan(const std::string& body) {
    const std::string text = R"(
declare i32 @__nuna_sreg(i32) memory(none)
declare void @__nuna_barrier() convergent
declare i32 @__nuna_warp_barrier(i32, i32) convergent
define void @k(i32 %n, ptr %p) {
  %x = call i32 @__nuna_sreg(i32 0)
  %b = call i32 @__nuna_sreg(i32 3)
)" + body + "}\n";
    module_ = parsed(text, context_);
    return plan_threads(*module_->getFunction("k"));
  }
  static std::size_t count(const ThreadCode& code, KeptValue::How how) {
    std::size_t found = 0;
    for (const auto& value : code.values) found += value.how == how ? 1 : 0;
    return found;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(ThreadCodeTest, WithoutBarriersIsOneRegion) {
  const auto code = plan("store i32 %x, ptr %p\n ret void\n");
  EXPECT_THAT(code.regions, SizeIs(1));
  EXPECT_FALSE(code.diverges);
  EXPECT_THAT(code.values, IsEmpty());
}

TEST_F(ThreadCodeTest, IsCutAtABarrier) {
  const auto code = plan("call void @__nuna_barrier()\n ret void\n");
  ASSERT_THAT(code.regions, SizeIs(2));
  EXPECT_THAT(code.regions[0].next, ElementsAre(1));
  EXPECT_FALSE(code.regions[0].may_end);
  EXPECT_TRUE(code.regions[1].may_end);
  EXPECT_EQ(Grouping::none, code.grouping);
}

TEST_F(ThreadCodeTest, AgreesWhereTheBarriersLoopIsTheSameForAllThreads) {
  const auto code = plan(R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %j, %loop ]
  call void @__nuna_barrier()
  %j = add i32 %i, 1
  %more = icmp ult i32 %j, %n
  br i1 %more, label %loop, label %end
end:
  ret void
)");
  EXPECT_FALSE(code.diverges);
  EXPECT_EQ(1u, count(code, KeptValue::How::uniform));
}

TEST_F(ThreadCodeTest, DivergesWhereSomeThreadsReturnBeforeABarrier) {
  EXPECT_TRUE(plan(R"(
  %out = icmp uge i32 %x, %n
  br i1 %out, label %end, label %in
in:
  call void @__nuna_barrier()
  br label %end
end:
  ret void
)")
                  .diverges);
}

TEST_F(ThreadCodeTest, AgreesWhereThreadsPartAndMeetBeforeTheyChooseTheirBarrier) {
  EXPECT_FALSE(plan(R"(
  %mine = icmp uge i32 %x, %n
  br i1 %mine, label %work, label %meet
work:
  store i32 %x, ptr %p
  br label %meet
meet:
  %more = icmp ult i32 %b, %n
  br i1 %more, label %wait, label %end
wait:
  call void @__nuna_barrier()
  br label %end
end:
  ret void
)")
                   .diverges);
}

TEST_F(ThreadCodeTest, DivergesWhereTheConditionIsLoadedFromMemory) {
  EXPECT_TRUE(plan(R"(
  %flag = load i1, ptr %p
  br i1 %flag, label %in, label %end
in:
  call void @__nuna_barrier()
  br label %end
end:
  ret void
)")
                  .diverges);
}

TEST_F(ThreadCodeTest, RecomputesWhatIsMadeOfIndicesAndKeepsWhatWasLoaded) {
  const auto code = plan(R"(
  %i = add i32 %x, %n
  %q = getelementptr i32, ptr %p, i32 %i
  %v = load i32, ptr %q
  call void @__nuna_barrier()
  %w = add i32 %v, %i
  store i32 %w, ptr %q
  ret void
)");
  EXPECT_EQ(2u, count(code, KeptValue::How::recompute));
  EXPECT_EQ(1u, count(code, KeptValue::How::per_thread));
}

TEST_F(ThreadCodeTest, GivesArraysThatCrossABarrierMemoryOfEachThread) {
  const auto code = plan(R"(
  %near = alloca [4 x i32]
  %far = alloca [4 x i32]
  store i32 1, ptr %near
  store i32 1, ptr %far
  call void @__nuna_barrier()
  %v = load i32, ptr %far
  store i32 %v, ptr %p
  ret void
)");
  EXPECT_THAT(code.arrays, SizeIs(1));
  EXPECT_THAT(code.local_arrays, SizeIs(1));
}

TEST_F(ThreadCodeTest, KnowsWarps) {
  const auto code =
      plan("%m = call i32 @__nuna_warp_barrier(i32 -1, i32 0)\n store i32 %m, ptr %p\n ret void\n");
  EXPECT_EQ(Grouping::warps, code.grouping);
  EXPECT_TRUE(code.regions[1].after_group);
}

}  // namespace
}  // namespace nuna::compiler
