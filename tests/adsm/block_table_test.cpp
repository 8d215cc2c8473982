#include "adsm/block_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace nuna::adsm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Index> touched(const BlockTable& table, Interval range) {
  std::vector<Index> blocks;
  table.for_each(range, [&](Index block) { blocks.push_back(block); });
  return blocks;
}

void touch(BlockTable& table, Index block) {
  table.touch(block);
  table[block].store(word::kRead);
}

Index resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  Index all = 0;
  Index resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(BlockTable, IsUntouchedAtFirst) {
  const BlockTable table(1000);
  EXPECT_EQ(table.blocks(), 1000);
  EXPECT_TRUE(table.untouched());
  EXPECT_EQ(table.next(0), 1000);
  EXPECT_EQ(table[999].load(), 0U);
  EXPECT_THAT(touched(table, {0, 1000}), IsEmpty());
}

TEST(BlockTable, FindsBlocksAcrossTheBordersOfWords) {
  // A word of bits has 64 blocks, a coarse one 4096.
  const std::vector<Index> blocks{0, 1, 63, 64, 127, 128, 4095, 4096, 4159, 8191, 3 * 4096, 100'000};
  BlockTable table(100'001);
  for (const Index b : blocks) touch(table, b);
  EXPECT_EQ(touched(table, {0, table.blocks()}), blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(table.next(blocks[i]), blocks[i]);
    EXPECT_EQ(table.next(i > 0 ? blocks[i - 1] + 1 : 0), blocks[i]);
  }
  EXPECT_EQ(table.next(100'001), 100'001);
}

TEST(BlockTable, ForEachStaysWithinItsRange) {
  BlockTable table(10'000);
  for (const Index b : {10, 20, 64, 5000, 9999}) touch(table, b);
  EXPECT_THAT(touched(table, {10, 20}), ElementsAre(10));
  EXPECT_THAT(touched(table, {11, 65}), ElementsAre(20, 64));
  EXPECT_THAT(touched(table, {65, 5000}), IsEmpty());
  EXPECT_THAT(touched(table, {9999, 10'000}), ElementsAre(9999));
  EXPECT_THAT(touched(table, {7, 7}), IsEmpty());
}

TEST(BlockTable, LastBlockIsOneLikeTheOthersWhateverTheSize) {
  for (const Index blocks : {1, 63, 64, 65, 4095, 4096, 4097, 64 * 4096, 64 * 4096 + 1}) {
    BlockTable table(blocks);
    touch(table, blocks - 1);
    EXPECT_THAT(touched(table, {0, blocks}), ElementsAre(blocks - 1));
    EXPECT_GE(table.next(blocks), blocks);
    table.clear(blocks - 1);
    EXPECT_TRUE(table.untouched()) << blocks;
  }
}

TEST(BlockTable, BlocksMayBeForgottenWhileTheyAreLookedAt) {
  BlockTable table(5000);
  for (Index b = 0; b < 5000; b += 3) touch(table, b);
  table.for_each({100, 4900}, [&](Index b) { table.clear(b); });
  EXPECT_THAT(touched(table, {100, 4900}), IsEmpty());
  EXPECT_EQ(table.next(100), 4902);
  EXPECT_FALSE(table.untouched());
}

TEST(BlockTable, IsTheSetOfWhatWasTouchedAndNotCleared) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Index blocks = 1 + static_cast<Index>(random() % (seed % 3 == 0 ? 20'000 : 300));
    const auto any = [&] { return static_cast<Index>(random()) % blocks; };
    BlockTable table(blocks);
    std::set<Index> model;
    for (int step = 0; step < 300; ++step) {
      const Index b = any();
      if (random() % 3 != 0) {
        touch(table, b);
        model.insert(b);
      } else {
        const auto victim = model.lower_bound(b);
        const Index cleared = victim != model.end() ? *victim : b;
        table.clear(cleared);
        model.erase(cleared);
        ASSERT_EQ(table[cleared].load(), 0U);
      }
      ASSERT_EQ(table.untouched(), model.empty()) << "seed " << seed;
      const Index from = any();
      const auto next = model.lower_bound(from);
      ASSERT_EQ(table.next(from), next != model.end() ? *next : blocks) << "seed " << seed;
    }
    const Interval range{any(), any()};
    std::vector<Index> expected;
    std::copy_if(model.begin(), model.end(), std::back_inserter(expected),
                 [&](Index b) { return range.begin <= b && b < range.end; });
    ASSERT_EQ(touched(table, range), expected) << "seed " << seed;
  }
}

TEST(BlockTable, ManyThreadsTouchAtOnce) {
  BlockTable table(30'000);
  std::vector<std::thread> threads;
  for (Index t = 0; t < 4; ++t) {
    threads.emplace_back([&table, t] {
      for (Index b = t / 2; b < 30'000; b += 2) touch(table, b);  // two threads touch each
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(touched(table, {0, 30'000}).size(), 30'000U);
  table.for_each({0, 30'000}, [&](Index b) { table.clear(b); });
  EXPECT_TRUE(table.untouched());
}

TEST(BlockTable, OfAHugeBufferCostsOnlyTheBlocksInUse) {
  constexpr Index kBlocks = Index{1} << 28;  // of 16 TiB in 64 KiB
  const Index before = resident_bytes();
  BlockTable table(kBlocks);
  EXPECT_EQ(table.next(0), kBlocks);
  touch(table, kBlocks / 2 + 1);
  touch(table, kBlocks - 1);
  EXPECT_THAT(touched(table, {0, kBlocks}), ElementsAre(kBlocks / 2 + 1, kBlocks - 1));
  EXPECT_LT(resident_bytes() - before, Index{8} << 20);
}

}  // namespace
}  // namespace nuna::adsm
