#include "sets_message.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "nuna/error.hpp"

namespace nuna::cudart {
namespace {

constexpr Index kFirst = 1 << 20;
constexpr Grid kGrid{12, 6, 1};
constexpr int kParts = 3;

std::shared_ptr<RecordedSets> recorded(Index first = kFirst, int parts = kParts) {
  const Chunks chunks{{7, {first, first + 100'000}}, {9, {first + 200'000, first + 210'000}}};
  return std::make_shared<RecordedSets>(std::make_shared<const Chunks>(chunks), kGrid, 1, parts);
}

std::shared_ptr<RecordedSets> touched() {
  auto sets = recorded();
  for (int p = 0; p < kParts; ++p) {
    PartSets& part = sets->part(p);
    part.add(0, {kFirst + 50'000, kFirst + 50'001 + p}, false);
    part.add(1, {kFirst + 200'000 + 10 * p, kFirst + 200'004 + 10 * p}, true);
  }
  return sets;
}

TEST(SetsMessage, SaysAllThatWasTouched) {
  const auto sets = touched();
  const auto other = recorded();
  EXPECT_EQ(add_message(message_of(*sets), *other), std::nullopt);
  EXPECT_TRUE(*other == *sets);
  EXPECT_EQ(other->part(2).reads(0).ranges(), (std::vector<Interval>{{50'000, 50'003}}));
  EXPECT_EQ(other->part(1).writes(1).ranges(), (std::vector<Interval>{{10, 14}}));
  EXPECT_EQ(other->refusal(), std::nullopt);
}

TEST(SetsMessage, SaysWhatStandsAgainstSharing) {
  const auto sets = touched();
  sets->part(1).refuse("atomic update (a.cu:3)");
  const auto other = recorded();
  EXPECT_EQ(add_message(message_of(*sets), *other), std::nullopt);
  EXPECT_EQ(other->refusal(), "atomic update (a.cu:3)");
}

TEST(SetsMessage, IsRefusedWhereMemoryLiesElsewhere) {
  const auto other = recorded(kFirst + 4096);
  EXPECT_EQ(add_message(message_of(*touched()), *other), "memory lies at other addresses on other ranks");
}

TEST(SetsMessage, OfAnotherLaunchIsAnError) {
  const std::vector<std::byte> message = message_of(*touched());
  EXPECT_THROW(add_message(message, *recorded(kFirst, kParts + 1)), Error);
  EXPECT_THROW(add_message({message.data(), message.size() - 1}, *recorded()), Error);
  EXPECT_THROW(add_message({}, *recorded()), Error);
}

}  // namespace
}  // namespace nuna::cudart
