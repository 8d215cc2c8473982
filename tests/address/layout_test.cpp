#include "address/layout.hpp"

#include <gtest/gtest.h>

#include "base/check.hpp"

namespace nuna::address {
namespace {

MemoryId memory(int rank, int place) { return {base::RankId{rank}, base::PlaceId{place}}; }

TEST(GlobalAddress, GivesBackItsParts) {
  for (const int rank : {0, 1, 77, kMaxRanks - 1}) {
    for (const int place : {0, 1, base::kMaxPlaces - 1}) {
      for (const Index offset : {Index{0}, Index{1}, Index{0x123456789a}, kMaxOffset}) {
        const GlobalAddress address = GlobalAddress::make(memory(rank, place), offset);
        EXPECT_FALSE(address.is_local());
        EXPECT_EQ(address.memory(), memory(rank, place));
        EXPECT_EQ(address.offset(), offset);
        EXPECT_EQ(GlobalAddress::from_bits(address.bits()), address);
      }
    }
  }
}

TEST(GlobalAddress, HasTheDocumentedBits) {
  EXPECT_EQ(GlobalAddress::make(memory(0, 0), 0).bits(), 0x0000'8000'0000'0000U);
  EXPECT_EQ(GlobalAddress::make(memory(2, 3), 0x10).bits(), 0x0001'8300'0000'0010U);
  EXPECT_EQ(GlobalAddress::make(memory(kMaxRanks - 1, 0), 0).bits(), 0xffff'8000'0000'0000U);
}

TEST(GlobalAddress, TakesARawPointerAsLocal) {
  int here = 0;
  const GlobalAddress address = GlobalAddress::local(&here);
  EXPECT_TRUE(address.is_local());
  EXPECT_EQ(address.bits(), reinterpret_cast<std::uintptr_t>(&here));
  EXPECT_TRUE(GlobalAddress().is_local());
}

TEST(GlobalAddress, MovesToAnotherMemoryAtTheSameOffset) {
  const GlobalAddress address = GlobalAddress::make(memory(5, 0), 4096);
  EXPECT_EQ(address.with_memory(memory(5, 3)), GlobalAddress::make(memory(5, 3), 4096));
  EXPECT_EQ(address.advanced(-96).offset(), 4000);
}

TEST(GlobalAddress, SortsByRankThenPlaceThenOffset) {
  EXPECT_LT(GlobalAddress::make(memory(0, 9), 99), GlobalAddress::make(memory(1, 0), 0));
  EXPECT_LT(GlobalAddress::make(memory(1, 0), 99), GlobalAddress::make(memory(1, 1), 0));
  EXPECT_LT(GlobalAddress::make(memory(1, 1), 0), GlobalAddress::make(memory(1, 1), 1));
}

TEST(GlobalAddress, RefusesPartsThatDoNotFit) {
  const base::ThrowOnPanic throwing;
  EXPECT_THROW(GlobalAddress::make(memory(kMaxRanks, 0), 0), base::BrokenInvariant);
  EXPECT_THROW(GlobalAddress::make(memory(-1, 0), 0), base::BrokenInvariant);
  EXPECT_THROW(GlobalAddress::make(memory(0, base::kMaxPlaces), 0), base::BrokenInvariant);
  EXPECT_THROW(GlobalAddress::make(memory(0, 0), kMaxOffset + 1), base::BrokenInvariant);
  EXPECT_THROW(GlobalAddress::make(memory(0, 0), 5).advanced(-6), base::BrokenInvariant);
}

TEST(GlobalAddress, ALocalPointerHasNoRankAndNoOffset) {
  const base::ThrowOnPanic throwing;
  EXPECT_THROW((void)GlobalAddress().memory(), base::BrokenInvariant);
  EXPECT_THROW((void)GlobalAddress().offset(), base::BrokenInvariant);
}

TEST(GlobalAddress, ReadsAsText) {
  EXPECT_EQ(to_string(memory(3, 0)), "rank 3, host memory");
  EXPECT_EQ(to_string(GlobalAddress::make(memory(3, 2), 4096)), "rank 3, place 2, offset 0x1000");
  EXPECT_EQ(to_string(GlobalAddress::from_bits(0x7f0000001000)), "local 0x7f0000001000");
}

}  // namespace
}  // namespace nuna::address
