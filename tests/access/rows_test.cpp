#include "access/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nuna::access {
namespace {

using ::testing::ElementsAre;
using Bytes = std::set<Index>;

Rows run(Index begin, Index end) { return {begin, end - begin, end - begin, 1}; }

Bytes bytes_of(const std::vector<Rows>& rows) {
  Bytes bytes;
  for (const Rows& r : rows) {
    for (Index k = 0; k < r.count; ++k) {
      for (Index i = 0; i < r.bytes; ++i) bytes.insert(r.begin + k * r.stride + i);
    }
  }
  return bytes;
}

Index sum_of(const std::vector<Rows>& rows) {
  Index sum = 0;
  for (const Rows& r : rows) sum += r.bytes * r.count;
  return sum;
}

std::vector<Rows> made(const Lattice& lattice, Index bytes) {
  std::vector<Rows> rows;
  EXPECT_TRUE(append_rows(lattice, bytes, &rows));
  return rows;
}

TEST(RowsOfBytes, OfALatticeAreAsFewAsItsLevelsAllow) {
  EXPECT_THAT(made({8, {}}, 4), ElementsAre(run(8, 12)));
  EXPECT_THAT(made({8, {{4, 10}}}, 4), ElementsAre(run(8, 48)));
  EXPECT_THAT(made({8, {{2, 10}}}, 4), ElementsAre(run(8, 30)));
  EXPECT_THAT(made({0, {{100, 5}, {4, 10}}}, 4), ElementsAre(Rows{0, 40, 100, 5}));
  EXPECT_THAT(made({0, {{500, 3}, {100, 5}, {4, 10}}}, 4), ElementsAre(Rows{0, 40, 100, 15}));
  EXPECT_THAT(made({0, {{1000, 2}, {100, 5}, {4, 10}}}, 4),
              ElementsAre(Rows{0, 40, 100, 5}, Rows{1000, 40, 100, 5}));
  // Two columns of each of many rows: two entries, not one for each row.
  EXPECT_THAT(made({0, {{32, 2}, {1024, 200}}}, 4),
              ElementsAre(Rows{0, 4, 1024, 200}, Rows{32, 4, 1024, 200}));
}

TEST(RowsOfBytes, BecomeOneWhereTheyTouch) {
  EXPECT_THAT(*unite({run(4, 8), run(0, 4), run(20, 24)}), ElementsAre(run(0, 8), run(20, 24)));
  EXPECT_THAT(*unite({Rows{0, 4, 16, 9}, Rows{4, 12, 16, 9}}), ElementsAre(run(0, 144)));
  EXPECT_THAT(*unite({Rows{0, 4, 16, 3}, Rows{48, 4, 16, 3}}), ElementsAre(Rows{0, 4, 16, 6}));
  EXPECT_THAT(*unite({run(0, 4), run(16, 20), run(32, 36)}), ElementsAre(Rows{0, 4, 16, 3}));
  EXPECT_THAT(*unite({run(0, 1000), Rows{12, 4, 100, 5}}), ElementsAre(run(0, 1000)));
  EXPECT_THAT(*unite({Rows{0, 50, 100, 10}, Rows{10, 4, 200, 5}}), ElementsAre(Rows{0, 50, 100, 10}));
}

TEST(RowsOfBytes, ThatAreTooManyAreNotUnited) {
  EXPECT_FALSE(unite({Rows{0, 1, 3, 100'000}, Rows{1, 1, 5, 100'000}}));
  std::vector<Rows> rows;
  EXPECT_FALSE(append_rows({0, {{10, 300}, {1'000'000, 300}, {1'000'000'000, 300}}}, 4, &rows));
}

class RandomRows {
 public:
  explicit RandomRows(unsigned seed) : random_(seed) {}
  Index pick(Index from, Index to) { return std::uniform_int_distribution<Index>(from, to)(random_); }
  std::vector<Rows> pick_rows() {
    static constexpr Index kStrides[] = {8, 16, 16, 16, 48, 15};
    std::vector<Rows> rows;
    const bool one_stride = pick(0, 1) == 0;
    for (Index i = pick(1, 6); i > 0; --i) {
      const Index stride = one_stride ? 16 : kStrides[pick(0, 5)];
      const Index count = pick(1, 7);
      rows.push_back({pick(-60, 60), pick(1, count == 1 ? 50 : stride), 0, count});
      rows.back().stride = count == 1 ? rows.back().bytes : stride;
    }
    return rows;
  }

 private:
  std::mt19937_64 random_;
};

TEST(RowsOfBytes, HoldTheSameBytesWhenUnitedAndMeetWhereTheyShareOne) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomRows random(seed);
    std::vector<std::vector<Rows>> lists;
    Bytes all;
    Index sum = 0;
    for (Index i = random.pick(1, 3); i > 0; --i) {
      const std::vector<Rows> rows = random.pick_rows();
      const auto united = unite(rows);
      ASSERT_TRUE(united);
      const Bytes bytes = bytes_of(rows);
      ASSERT_EQ(bytes_of(*united), bytes);
      ASSERT_EQ(sum_of(*united), static_cast<Index>(bytes.size()));
      all.insert(bytes.begin(), bytes.end());
      sum += static_cast<Index>(bytes.size());
      lists.push_back(*united);
    }
    const Meetings meetings = find_meeting(lists);
    ASSERT_TRUE(meetings.known);
    ASSERT_EQ(meetings.first.has_value(), sum != static_cast<Index>(all.size()));
    if (!meetings.first) continue;
    std::vector<Rows> both = lists[meetings.first->one];
    const std::vector<Rows>& other = lists[meetings.first->other];
    both.insert(both.end(), other.begin(), other.end());
    ASSERT_LT(static_cast<Index>(bytes_of(both).size()), sum_of(both));
  }
}

TEST(RowsOfBytes, OfRandomLatticesAreTheirBytes) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomRows random(seed);
    Lattice lattice{random.pick(-20, 20), {}};
    std::vector<Rows> bytes{run(0, random.pick(1, 8))};
    const Index size = bytes.front().bytes;
    bytes.front().begin = lattice.first;
    for (Index i = random.pick(0, 4); i > 0; --i) {
      lattice.steps.push_back({random.pick(1, 40), random.pick(2, 5)});
      std::vector<Rows> copies;
      for (Index k = 0; k < lattice.steps.back().count; ++k) {
        for (Rows r : bytes) {
          r.begin += k * lattice.steps.back().step;
          copies.push_back(r);
        }
      }
      bytes = copies;
    }
    const std::vector<Rows> rows = made(lattice, size);
    ASSERT_EQ(bytes_of(rows), bytes_of(bytes));
    ASSERT_EQ(sum_of(rows), static_cast<Index>(bytes_of(bytes).size()));
  }
}

}  // namespace
}  // namespace nuna::access
