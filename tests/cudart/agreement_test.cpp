// What ranks agree on, with ranks in this process.

#include "agreement.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nuna::cudart {
namespace {

Options one_device() {
  Options options;
  options.kind = DeviceKind::host;
  options.devices = 1;
  options.threads_per_device = 1;
  return options;
}

std::vector<std::byte> filled(std::size_t count, int value) {
  return std::vector<std::byte>(count, std::byte(value));
}

TEST(Agreement, IsOnRankZerosBytes) {
  Context::in_process(3, one_device(), [](Context& context) {
    Agreement agreement(context);
    for (const std::size_t count : {1, 8, 1024, 1025, 100'000}) {
      auto bytes = filled(count, 7);
      EXPECT_TRUE(agreement.settle(bytes));
      bytes = filled(count, context.rank() + 1);
      EXPECT_FALSE(agreement.settle(bytes));
      EXPECT_EQ(bytes, filled(count, 1));
    }
  });
}

TEST(Agreement, OnWhatWasAlikeNeedsNoMessage) {
  Context::in_process(2, one_device(), [](Context& context) {
    Agreement agreement(context);
    auto bytes = filled(1, 7);
    EXPECT_TRUE(agreement.settle_once(1, bytes));
    if (context.rank() == 0) {
      EXPECT_TRUE(agreement.settle_once(1, bytes)) << "rank 1 does not take part";
    }
    bytes = filled(1, context.rank());
    for (int round = 0; round < 2; ++round) {
      bytes = filled(1, context.rank());
      EXPECT_FALSE(agreement.settle_once(2, bytes));
      EXPECT_EQ(bytes, filled(1, 0));
    }
  });
}

}  // namespace
}  // namespace nuna::cudart
