#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "access/affine.hpp"
#include "model_builder.hpp"

namespace nuna::access {
namespace test {
namespace {

using Operation = Parameter::Operation;

Parameter derived(Operation operation, const Sum& left, const Sum& right = 0) {
  Parameter made;
  made.kind = Parameter::Kind::derived;
  made.operation = operation;
  made.left = left.terms;
  made.right = right.terms;
  return made;
}

std::int64_t value(Operation operation, std::int64_t left, std::int64_t right = 0) {
  return derive(derived(operation, left, right), {});
}

constexpr auto kNone = std::numeric_limits<std::int64_t>::max();

TEST(DerivedNumbers, AreWhatIntegersAre) {
  EXPECT_EQ(value(Operation::shifted, 3, 4), 48);
  EXPECT_EQ(value(Operation::quotient, 11, 4), 2);
  EXPECT_EQ(value(Operation::quotient, -11, 4), -3);
  EXPECT_EQ(value(Operation::least, -7, 4), -7);
  EXPECT_EQ(value(Operation::most, -7, 4), 4);
  EXPECT_EQ(value(Operation::lowest_bit, 88), 8);
  EXPECT_EQ(value(Operation::lowest_bit, 0), 0);
  EXPECT_EQ(value(Operation::is_power_of_two, 64), 1);
  EXPECT_EQ(value(Operation::is_power_of_two, 1), 1);
  EXPECT_EQ(value(Operation::is_power_of_two, 0), 0);
  EXPECT_EQ(value(Operation::is_power_of_two, -64), 0);
  EXPECT_EQ(value(Operation::is_power_of_two, 96), 0);
}

TEST(DerivedNumbers, ThatAreNotDefinedAreTooLarge) {
  EXPECT_EQ(value(Operation::shifted, 1, -1), kNone);
  EXPECT_EQ(value(Operation::shifted, 1, 61), kNone);
  EXPECT_EQ(value(Operation::shifted, 5, 60), kNone);
  EXPECT_EQ(value(Operation::quotient, 1, 0), kNone);
  EXPECT_EQ(value(Operation::quotient, 1, -3), kNone);
}

TEST(DerivedNumbers, AreMadeOfThoseBeforeThem) {
  const std::vector<std::int64_t> numbers{32, 1, 1, 8, 1, 1, 100};
  EXPECT_EQ(derive(derived(Operation::quotient, scalar(0) + grid_size(0) - 1, grid_size(0)), numbers), 13);
}

/// Rows of 2^scalar 0 elements, one for each block.
KernelModel rows() {
  Kernel kernel;
  kernel.with_extra(1).writes(0, scalar(1) * block(0) + extra(0), {Sum(0) <= extra(0), extra(0) < scalar(1)});
  KernelModel model = kernel.model();
  model.parameters.emplace_back();
  model.parameters.push_back(derived(Operation::shifted, 1, scalar(0)));
  return model;
}

TEST(DerivedNumbers, AreThoseOfTheLaunch) {
  const LaunchNumbers numbers{{32, 1, 1}, {8, 1, 1}, {6, 0}};
  LaunchAccess launch(rows(), numbers);
  EXPECT_TRUE(launch.is_disjoint(0, {3, 6}));
  const Footprint footprint = launch.written(0, blocks(numbers, 0, {3, 6}));
  ASSERT_EQ(footprint.rows.size(), 1U);
  EXPECT_EQ(footprint.rows.front().begin, 3 * 64 * 4);
  EXPECT_EQ(footprint.bytes(), 3 * 64 * 4);
}

TEST(DerivedNumbers, ThatALaunchHasNotAreARefusal) {
  LaunchAccess launch(rows(), {{32, 1, 1}, {8, 1, 1}, {77, 0}});
  EXPECT_EQ(launch.refusal()->reason, "numbers too large to follow");
}

TEST(DerivedNumbers, DoNotMatterWhereTheLaunchRulesThemOut) {
  KernelModel model = rows();
  model.accesses.front().domain.push_back(scalar(0) < Sum(32));
  const LaunchAccess launch(model, {{32, 1, 1}, {8, 1, 1}, {77, 0}});
  EXPECT_FALSE(launch.refusal());
  EXPECT_FALSE(launch.writes(0));
}

TEST(DerivedNumbers, AreInImages) {
  EXPECT_EQ(read_model(write_model(rows())), rows());
  KernelModel model = rows();
  model.parameters.back().right = scalar(1).terms;
  EXPECT_THROW(read_model(write_model(model)), std::runtime_error);
}

}  // namespace
}  // namespace test
}  // namespace nuna::access
