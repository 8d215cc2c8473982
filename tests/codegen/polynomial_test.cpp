#include "access/polynomial.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace nuna::compiler {
namespace {

using access::kBlockIndex;
using access::kExtra;
using access::kThreadIndex;
using access::Polynomial;

std::vector<access::Parameter> sizes_and_a_scalar(bool is_signed) {
  std::vector<access::Parameter> all(7);
  for (int i = 0; i < 6; ++i)
    all[static_cast<std::size_t>(i)].kind =
        i < 3 ? access::Parameter::Kind::block_size : access::Parameter::Kind::grid_size;
  all[6].is_signed = is_signed;
  return all;
}

TEST(PolynomialTest, IsEqualHoweverItWasAdded) {
  const auto index = sum(product(variable(kBlockIndex), parameter(0)), variable(kThreadIndex));
  const auto other = sum(variable(kThreadIndex), product(parameter(0), variable(kBlockIndex)));
  EXPECT_EQ(index, other);
  EXPECT_EQ(Polynomial{}, sum(index, other, -1));
}

TEST(PolynomialTest, HasOneVariableATerm) {
  EXPECT_EQ(std::nullopt, product(variable(kThreadIndex), variable(kExtra)));
  EXPECT_NE(std::nullopt, product(variable(kThreadIndex), product(parameter(6), parameter(6))));
}

TEST(PolynomialTest, EndsAt64Bits) {
  const auto large = constant(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(std::nullopt, sum(large, constant(1)));
  EXPECT_EQ(std::nullopt, product(large, constant(2)));
  EXPECT_EQ(std::nullopt, sum(std::nullopt, constant(1)));
}

TEST(PolynomialTest, KnowsWhatALaunchCanGive) {
  const auto scalars = sizes_and_a_scalar(true);
  const auto thread = range_of(variable(kThreadIndex), scalars, {});
  EXPECT_EQ(0, thread.low);
  EXPECT_EQ(1023, thread.high);
  const auto index = sum(product(variable(kBlockIndex), parameter(0)), variable(kThreadIndex));
  EXPECT_FALSE(range_of(*index, scalars, {}).inside(32, true));
  EXPECT_TRUE(range_of(*index, scalars, {}).inside(64, true));
  EXPECT_TRUE(range_of(parameter(6), scalars, {}).inside(32, true));
  EXPECT_FALSE(range_of(parameter(6), scalars, {}).inside(32, false));
  EXPECT_TRUE(range_of(parameter(6), sizes_and_a_scalar(false), {}).inside(32, false));
}

TEST(PolynomialTest, KnowsNothingOfOtherVariablesUnlessToldSo) {
  const auto scalars = sizes_and_a_scalar(true);
  EXPECT_FALSE(range_of(variable(kExtra), scalars, {}).inside(64, true));
  EXPECT_TRUE(range_of(variable(kExtra), scalars, {{0, 255}}).inside(8, false));
}

}  // namespace
}  // namespace nuna::compiler
