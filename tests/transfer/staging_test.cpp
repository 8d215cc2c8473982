#include "transfer/staging.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/log.hpp"

namespace nuna::transfer {
namespace {

constexpr Index kBlocks = 4;

TEST(Staging, HasNoMoreBlocksThanItsBound) {
  Staging pool(kBlocks * Staging::kBlockBytes);
  Staging::User user(pool);
  std::vector<Block> held;
  while (Block b = user.take(static_cast<int>(held.size()))) held.push_back(std::move(b));
  EXPECT_EQ(held.size(), 4U);
  EXPECT_EQ(pool.blocks(), 4);
  held.pop_back();
  EXPECT_TRUE(user.take(3));
}

TEST(Staging, GivesEveryTransferOneBlockHoweverManyThereAre) {
  Staging pool(Staging::kBlockBytes);
  std::vector<std::unique_ptr<Staging::User>> users;
  std::vector<Block> held;
  for (int i = 0; i < 10; ++i) {
    users.push_back(std::make_unique<Staging::User>(pool));
    held.push_back(users.back()->take(0));
    EXPECT_TRUE(held.back());
    EXPECT_FALSE(users.back()->take(1));
  }
  held.clear();
  EXPECT_LE(pool.blocks(), 1) << "what was made beyond the bound goes again";
}

TEST(Staging, LetsNobodyHaveMoreThanAShare) {
  Staging pool(kBlocks * Staging::kBlockBytes);
  Staging::User first(pool);
  Staging::User second(pool);
  std::vector<Block> held;
  while (Block b = first.take(static_cast<int>(held.size()))) held.push_back(std::move(b));
  EXPECT_EQ(held.size(), 2U);
  EXPECT_TRUE(second.take(1));
}

TEST(Staging, GoesOnWithMemoryThatCannotBeLocked) {
  const base::LogCapture log(base::LogLevel::info);
  Staging pool(kBlocks * Staging::kBlockBytes, base::Injection::parse("staged:refused"));
  Staging::User user(pool);
  const Block first = user.take(0);
  const Block second = user.take(1);
  ASSERT_TRUE(second);
  EXPECT_FALSE(pool.pinned());
  EXPECT_EQ(log.lines().size(), 1U);
  first.data()[Staging::kBlockBytes - 1] = std::byte{1};
}

}  // namespace
}  // namespace nuna::transfer
