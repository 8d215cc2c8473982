#include "codegen/interior.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/InstIterator.h>

#include "codegen/machine.hpp"
#include "codegen/parsed.hpp"
#include "codegen/thread_affine.hpp"

namespace nuna::compiler {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// A kernel k with the given body; %x = threadIdx.x, %b = blockIdx.x, %d = blockDim.x, %i the thread's place in the grid; arguments
/// %n (i32) and %p (ptr).
class InteriorTest : public testing::Test {
 protected:
  llvm::Function& parse(const std::string& body) {
    const std::string text = R"(
declare i32 @__nuna_sreg(i32) memory(none)
declare i32 @llvm.smax.i32(i32, i32)
define void @k(i32 %n, ptr %p) {
  %x = call i32 @__nuna_sreg(i32 0)
  %b = call i32 @__nuna_sreg(i32 3)
  %d = call i32 @__nuna_sreg(i32 6)
  %base = mul i32 %b, %d
  %i = add i32 %base, %x
)" + body + "}\n";
    module_ = parsed(text, context_);
    return *module_->getFunction("k");
  }
  std::vector<Guard> guards(const std::string& body) { return find_guards(parse(body)); }
  static std::size_t branches(const llvm::Function& function) {
    std::size_t found = 0;
    for (const auto& block : function) found += block.getTerminator()->getNumSuccessors() > 1 ? 1 : 0;
    return found;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

constexpr const char* kBoundsCheck = R"(
  %in = icmp slt i32 %i, %n
  br i1 %in, label %work, label %end
work:
  store i32 %i, ptr %p
  br label %end
end:
  ret void
)";

TEST_F(InteriorTest, LiesBelowSizesAndAboveSmallConstants) {
  const auto below = guards(kBoundsCheck);
  ASSERT_THAT(below, SizeIs(1));
  EXPECT_TRUE(below[0].below);
  const auto above =
      guards("%m = call i32 @llvm.smax.i32(i32 %i, i32 1)\n store i32 %m, ptr %p\n ret void\n");
  ASSERT_THAT(above, SizeIs(1));
  EXPECT_FALSE(above[0].below);
  const auto size = guards("%c = icmp ult i32 %i, 512\n store i1 %c, ptr %p\n ret void\n");
  ASSERT_THAT(size, SizeIs(1));
  EXPECT_TRUE(size[0].below);
}

TEST_F(InteriorTest, AsksNothingThere) {
  auto& kernel = parse(kBoundsCheck);
  auto machine = make_machine("native");
  module_->setTargetTriple(machine->getTargetTriple().str());
  module_->setDataLayout(machine->createDataLayout());
  auto* interior = make_interior_kernel(kernel, find_guards(kernel), *machine);
  EXPECT_EQ(1u, branches(kernel));
  EXPECT_EQ(0u, branches(*interior));
}

TEST_F(InteriorTest, HasNoGuardWhereTheBlocksPlaceDoesNotDecide) {
  EXPECT_THAT(guards("%c = icmp ult i32 %x, %n\n store i1 %c, ptr %p\n ret void\n"), IsEmpty());
  EXPECT_THAT(guards("%c = icmp ult i32 %base, %n\n store i1 %c, ptr %p\n ret void\n"), IsEmpty());
}

TEST_F(InteriorTest, HasNoGuardOfWhatIsLoadedOrNotAffine) {
  EXPECT_THAT(guards("%v = load i32, ptr %p\n %c = icmp ult i32 %i, %v\n store i1 %c, ptr %p\n ret void\n"),
              IsEmpty());
  EXPECT_THAT(guards("%s = mul i32 %i, %n\n %c = icmp ult i32 %s, 9\n store i1 %c, ptr %p\n ret void\n"),
              IsEmpty());
  EXPECT_THAT(guards("%s = lshr i32 %i, 1\n %c = icmp ult i32 %s, %n\n store i1 %c, ptr %p\n ret void\n"),
              IsEmpty());
}

TEST_F(InteriorTest, KnowsStepsAlongTheBlock) {
  auto& kernel = parse(
      "%t = mul i32 %i, 3\n %w = sext i32 %t to i64\n %r = sub i64 7, %w\n store i64 %r, ptr %p\n ret "
      "void\n");
  ThreadAffine affine;
  for (auto& instruction : llvm::instructions(kernel)) {
    if (instruction.getName() == "r") {
      EXPECT_EQ(-3, affine.steps_of(instruction).value().along[0]);
      EXPECT_EQ(0, affine.steps_of(instruction).value().along[1]);
      int extended = 0;
      affine.for_extended(instruction, [&](const llvm::Value&, const Steps& steps, bool from_zero) {
        ++extended;
        EXPECT_EQ(3, steps.along[0]);
        EXPECT_FALSE(from_zero);
      });
      EXPECT_EQ(1, extended);
    }
  }
}

}  // namespace
}  // namespace nuna::compiler
