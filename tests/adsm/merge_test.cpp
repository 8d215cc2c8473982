#include "adsm/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "nuna/error.hpp"

namespace nuna::adsm {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t n, std::mt19937& random) {
  Bytes bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

TEST(Merge, OfChangesEqualsEachRanksBytes) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const std::size_t size = 1 + random() % 10'000;
    const Bytes twin = random_bytes(size, random);
    const int ranks = 1 + static_cast<int>(random() % 4);
    Bytes expected = twin;
    std::vector<Bytes> now(static_cast<std::size_t>(ranks), twin);
    for (int change = 0; change < 30; ++change) {
      const std::size_t at = random() % size;
      const std::byte value{static_cast<unsigned char>(random())};
      // a byte belongs to one rank: no conflicts
      now[at % static_cast<std::size_t>(ranks)][at] = value;
      expected[at] = value;
    }
    std::vector<Bytes> messages;
    for (const Bytes& n : now) messages.push_back(changes(n, twin));
    Bytes merged = twin;
    EXPECT_FALSE(merge(messages, merged).has_value()) << "seed " << seed;
    EXPECT_EQ(merged, expected) << "seed " << seed;
  }
}

TEST(Merge, NamesTheFirstConflictAndKeepsTheLowestRanksBytes) {
  const Bytes twin(100, std::byte{0});
  std::vector<Bytes> now(3, twin);
  for (std::size_t i = 20; i < 30; ++i) now[1][i] = std::byte{1};
  for (std::size_t i = 25; i < 40; ++i) now[2][i] = std::byte{2};
  std::vector<Bytes> messages;
  for (const Bytes& n : now) messages.push_back(changes(n, twin));
  Bytes merged = twin;
  const auto conflict = merge(messages, merged);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->rank_a, 1);
  EXPECT_EQ(conflict->rank_b, 2);
  EXPECT_EQ(conflict->bytes, (Interval{25, 30}));
  EXPECT_EQ(merged[27], std::byte{1});
  EXPECT_EQ(merged[35], std::byte{2});
}

TEST(Merge, OfEqualChangesIsNoConflict) {
  const Bytes twin(10, std::byte{0});
  Bytes now = twin;
  now[3] = std::byte{7};
  const std::vector<Bytes> messages{changes(now, twin), changes(now, twin)};
  Bytes merged = twin;
  EXPECT_FALSE(merge(messages, merged).has_value());
  EXPECT_EQ(merged, now);
}

TEST(Merge, RefusesAMessageThatIsNone) {
  Bytes twin(10, std::byte{0});
  const std::vector<Bytes> messages{Bytes(5, std::byte{1})};
  EXPECT_THROW(merge(messages, twin), Error);
  const std::vector<Bytes> too_far{changes(Bytes(20, std::byte{1}), Bytes(20, std::byte{0}))};
  EXPECT_THROW(merge(too_far, twin), Error);
}

TEST(ChunkHashes, FindTheChunkThatDiffers) {
  std::mt19937 random(3);
  const Bytes a = random_bytes(300'000, random);
  Bytes b = a;
  EXPECT_TRUE(differences(std::vector{chunk_hashes(a), chunk_hashes(b)}, 300'000).empty());
  b[200'000] ^= std::byte{1};
  const auto found = differences(std::vector{chunk_hashes(a), chunk_hashes(a), chunk_hashes(b)}, 300'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().rank_b, 2);
  EXPECT_EQ(found.front().bytes, (Interval{3 * kChunkBytes, 4 * kChunkBytes}));
}

TEST(ChunkHashes, SeeBytesThatChangedPlaces) {
  Bytes a(100, std::byte{0});
  Bytes b = a;
  a[8] = std::byte{1};
  b[16] = std::byte{1};
  EXPECT_EQ(differences(std::vector{chunk_hashes(a), chunk_hashes(b)}, 100).size(), 1u);
}

TEST(LedChanges, AreAlikeWhereAllRanksLeftTheSame) {
  std::mt19937 random(5);
  const Bytes twin = random_bytes(50'000, random);
  Bytes now = twin;
  for (std::size_t i = 3000; i < 15'000; ++i) now[i] ^= std::byte{9};
  const Bytes message = changed_pages(now, twin);
  const LedChanges changes = led_changes(std::vector{message, message, message}, true, 50'000);
  EXPECT_EQ(changes.alike, (std::vector<Interval>{{0, 4 * kPageBytes}}));
  EXPECT_TRUE(changes.of_first.empty());
  EXPECT_FALSE(changes.unequal.has_value());
}

TEST(LedChanges, AreRankZerosWhereAnotherDiffers) {
  const Bytes twin(50'000, std::byte{0});
  std::vector<Bytes> now(3, twin);
  for (Bytes& each : now) each[10] = std::byte{1};
  now[0][3 * kPageBytes] = std::byte{1};  // only there
  now[2][49'999] = std::byte{2};          // not there
  for (std::size_t rank = 0; rank < 3; ++rank) now[rank][5 * kPageBytes] = std::byte(rank + 1);
  std::vector<Bytes> messages;
  for (const Bytes& each : now) messages.push_back(changed_pages(each, twin));
  const LedChanges changes = led_changes(messages, true, 50'000);
  EXPECT_EQ(changes.alike, (std::vector<Interval>{{0, kPageBytes}}));
  EXPECT_EQ(changes.of_first, (std::vector<Interval>{{3 * kPageBytes, 4 * kPageBytes},
                                                     {5 * kPageBytes, 6 * kPageBytes},
                                                     {12 * kPageBytes, 50'000}}));
  ASSERT_TRUE(changes.unequal.has_value());
  EXPECT_EQ(changes.unequal->rank_b, 1);
  EXPECT_EQ(changes.unequal->bytes, changes.of_first.front());
}

TEST(LedChanges, AreRankZerosWhereItAloneHadTheView) {
  const Bytes twin(10'000, std::byte{0});
  Bytes now = twin;
  now[5000] = std::byte{1};
  const LedChanges changes = led_changes(std::vector{changed_pages(now, twin), Bytes()}, false, 10'000);
  EXPECT_TRUE(changes.alike.empty());
  EXPECT_EQ(changes.of_first, (std::vector<Interval>{{kPageBytes, 2 * kPageBytes}}));
  EXPECT_FALSE(changes.unequal.has_value());
}

TEST(LedChanges, RefuseAMessageThatIsNone) {
  const Bytes short_one(5);
  EXPECT_THROW(led_changes(std::vector<Bytes>{short_one}, true, 10), Error);
  const Bytes far = changed_pages(Bytes(10'000, std::byte{1}), Bytes(10'000, std::byte{0}));
  EXPECT_THROW(led_changes(std::vector<Bytes>{far}, true, 10), Error);
}

}  // namespace
}  // namespace nuna::adsm
