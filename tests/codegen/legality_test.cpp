#include "access/legality.hpp"

#include <gmock/gmock.h>
#include <isl/version.h>

#include "access/polynomial.hpp"

namespace nuna::compiler {
namespace {

using access::kBlockIndex;
using access::kBlockSize;
using access::kThreadIndex;
using access::Polynomial;
using Answer = AxisVerdict::Answer;
using testing::HasSubstr;

/// The index of a thread along an axis.
Maybe place(int axis) {
  return sum(product(parameter(static_cast<std::uint16_t>(kBlockSize + axis)), variable(kBlockIndex + axis)),
             variable(kThreadIndex + axis));
}

/// A kernel with an array and the scalars 6 (width) and 7 (height) that writes floats at the given elements.
class LegalityTest : public testing::Test {
 protected:
  LegalityTest() {
    using Kind = access::Parameter::Kind;
    for (int i = 0; i < 8; ++i) {
      access::Parameter made;
      made.kind = i < 3 ? Kind::block_size : i < 6 ? Kind::grid_size : Kind::scalar;
      made.axis = i < 6 ? i % 3 : 0;
      made.argument = i < 6 ? 0 : static_cast<std::uint32_t>(i - 5);
      model_.parameters.push_back(made);
    }
    model_.pointers.push_back({0, 0, ""});
  }
  access::Access& write(const Maybe& element) {
    access::Access made;
    made.kind = access::Access::Kind::write;
    made.bytes = 4;
    made.first_byte = product(element, constant(4));
    model_.accesses.push_back(made);
    return model_.accesses.back();
  }
  /// left < right.
  static access::Constraint less(const Maybe& left, const Maybe& right) {
    return {*sum(sum(right, left, -1), constant(-1)), false};
  }
  AxisVerdict along(int axis) { return legality_of(model_)[static_cast<std::size_t>(axis)]; }

  const Polynomial width_ = parameter(6);
  access::KernelModel model_;
};

TEST_F(LegalityTest, SplitsWhereBlocksWriteTheirOwn) {
  write(place(0));
  EXPECT_EQ(Answer::yes, along(0).answer);
}

TEST_F(LegalityTest, DoesNotSplitAlongAnAxisThatWritesTheSame) {
  write(place(0));
  EXPECT_EQ(Answer::no, along(1).answer);
  EXPECT_THAT(along(1).text, HasSubstr("argument 0"));
}

TEST_F(LegalityTest, SplitsRowsThatAGuardKeepsApart) {
  auto& access = write(sum(product(width_, place(1)), place(0)));
  EXPECT_EQ(Answer::at_launch, along(1).answer);
  EXPECT_THAT(along(1).text, HasSubstr("rows of arg1"));
  access.domain.push_back(less(place(0), width_));
  EXPECT_EQ(Answer::yes, along(0).answer);
  EXPECT_EQ(Answer::yes, along(1).answer);
}

TEST_F(LegalityTest, SaysWhichBlocksFitIntoATile) {
  write(sum(product(constant(16), variable(kBlockIndex)), variable(kThreadIndex)));
  EXPECT_EQ(Answer::when, along(0).answer);
  EXPECT_EQ("blockDim.x <= 16", along(0).text);
}

TEST_F(LegalityTest, LeavesToLaunchesWhatOnlyTheirNumbersTell) {
  write(product(width_, place(0)));  // of width 0, all blocks write the same
  EXPECT_EQ(Answer::at_launch, along(0).answer);
  model_.accesses.clear();
  write(sum(product(width_, place(0)), product(parameter(7), variable(kThreadIndex))));
  EXPECT_EQ(Answer::at_launch, along(0).answer);
  EXPECT_THAT(along(0).text, HasSubstr("several strides"));
}

TEST_F(LegalityTest, NeverSplitsAtomicsAndWritesAnywhere) {
  auto& access = write(place(0));
  access.kind = access::Access::Kind::atomic;
  EXPECT_EQ(Answer::no, along(0).answer);
  access.kind = access::Access::Kind::write;
  access.first_byte.reset();
  EXPECT_EQ(Answer::no, along(0).answer);
  access.kind = access::Access::Kind::read;
  EXPECT_EQ(Answer::yes, along(0).answer);
  model_.refusals.push_back({"calls strange(int), whose body is elsewhere", {"a.cu", 3}});
  EXPECT_EQ(Answer::no, along(0).answer);
  EXPECT_EQ(3u, along(0).at.line);
}

// LLVM's library exports another isl's functions, which answer as well, and wrongly for us.
TEST(IslTest, IsTheSystemsOwn) { EXPECT_THAT(isl_version(), HasSubstr("GMP")); }

}  // namespace
}  // namespace nuna::compiler
