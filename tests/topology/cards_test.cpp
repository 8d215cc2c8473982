#include "topology/cards.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nuna::topology {
namespace {

std::vector<CardFacts> cards(std::initializer_list<int> numbers, std::int64_t free_bytes = 1200) {
  std::vector<CardFacts> all;
  for (const int n : numbers) {
    CardFacts card;
    card.uuid[0] = static_cast<std::byte>(n);
    card.free_bytes = free_bytes;
    all.push_back(card);
  }
  return all;
}

std::vector<int> numbers(const std::vector<CardShare>& shares) {
  std::vector<int> all;
  for (const CardShare& share : shares) all.push_back(share.card);
  return all;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Cards, OneRankGetsAllThatItSees) {
  const auto seen = cards({7, 8, 9});
  const std::vector<RankCards> ranks{{0, seen}};
  EXPECT_THAT(numbers(share_out(ranks, 0)[0]), ElementsAre(0, 1, 2));
}

TEST(Cards, RanksOfANodeDivideItsCards) {
  const auto seen = cards({1, 2, 3, 4});
  const std::vector<RankCards> ranks{{0, seen}, {0, seen}};
  const auto shares = share_out(ranks, 0);
  EXPECT_THAT(numbers(shares[0]), ElementsAre(0, 1));
  EXPECT_THAT(numbers(shares[1]), ElementsAre(2, 3));
  EXPECT_EQ(shares[1][0].sharers, 1);
}

TEST(Cards, MoreRanksThanCardsShareThemAndTheirMemory) {
  const auto seen = cards({1, 2});
  const std::vector<RankCards> ranks{{0, seen}, {0, seen}, {0, seen}};
  const auto shares = share_out(ranks, 0);
  EXPECT_EQ(shares[0], (std::vector<CardShare>{{0, 2, 600}}));
  EXPECT_EQ(shares[1], (std::vector<CardShare>{{1, 1, 1200}}));
  EXPECT_EQ(shares[2], (std::vector<CardShare>{{0, 2, 600}}));
}

TEST(Cards, TheSameCardUnderAnotherNumberIsOneCard) {
  const auto first = cards({1, 2});
  const auto second = cards({2, 1});
  const std::vector<RankCards> ranks{{0, first}, {0, second}};
  const auto shares = share_out(ranks, 0);
  EXPECT_THAT(numbers(shares[0]), ElementsAre(0));
  EXPECT_THAT(numbers(shares[1]), ElementsAre(0));  // which is card 2
  EXPECT_EQ(shares[1][0].sharers, 1);
}

TEST(Cards, RanksThatAreShownOneCardEachTakeIt) {
  const auto first = cards({1});
  const auto second = cards({2});
  const std::vector<RankCards> ranks{{0, first}, {0, second}};
  const auto shares = share_out(ranks, 0);
  EXPECT_THAT(numbers(shares[0]), ElementsAre(0));
  EXPECT_EQ(shares[1][0].sharers, 1);
}

TEST(Cards, NodesDoNotShare) {
  const auto seen = cards({1});
  const std::vector<RankCards> ranks{{0, seen}, {1, seen}};
  EXPECT_EQ(share_out(ranks, 0)[1][0].sharers, 1);
}

TEST(Cards, MoreDevicesThanCardsAreSpreadEvenly) {
  const auto seen = cards({1, 2});
  const std::vector<RankCards> ranks{{0, seen}};
  const auto shares = share_out(ranks, 5);
  EXPECT_THAT(numbers(shares[0]), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_EQ(shares[0][0].free_bytes, 400);
  EXPECT_EQ(shares[0][1].free_bytes, 600);
}

TEST(Cards, EveryRankHasAsManyDevicesAsTheOthers) {
  const auto many = cards({1, 2, 3, 4});
  const auto few = cards({5});
  const std::vector<RankCards> ranks{{0, many}, {1, few}};
  EXPECT_EQ(share_out(ranks, 0)[0].size(), 1U);
}

TEST(Cards, WhoSeesNoneGetsNone) {
  const std::vector<RankCards> ranks{{0, {}}};
  EXPECT_THAT(share_out(ranks, 3)[0], IsEmpty());
}

}  // namespace
}  // namespace nuna::topology
