#include "execute/users.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "nuna/error.hpp"

namespace nuna::execute {
namespace {

using base::ByteBox;
using base::Ticket;

constexpr Index kRows = 40;
constexpr Index kColumns = 3;

ByteBox rows(Index begin, Index end) { return {{Interval{begin, end}, {0, 1}, {0, 1}, {0, 1}}}; }

/// What is known of each byte: who wrote it last, and who has read it since.
class Bytes {
 public:
  struct Byte {
    Ticket writer;
    std::vector<Ticket> readers;
  };
  template <class F>
  void for_each(const ByteBox& box, F f) {
    for (Index r = box[0].begin; r < box[0].end; ++r) {
      for (Index c = box[1].begin; c < box[1].end; ++c) f(bytes_[static_cast<std::size_t>(r * kColumns + c)]);
    }
  }

 private:
  std::array<Byte, kRows * kColumns> bytes_;
};

bool waits_for(const Tickets& after, const Ticket& ticket) {
  return ticket.done() || std::any_of(after.begin(), after.end(), [&](const Ticket& t) {
           return t.line == ticket.line && t.value >= ticket.value;
         });
}

bool shares_fate(const Tickets& after, const Ticket& ticket) {
  return std::any_of(after.begin(), after.end(), [&](const Ticket& t) {
    return t.line == ticket.line && t.value == ticket.value && !t.order_only;
  });
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  Index number(Index from, Index to) { return std::uniform_int_distribution<Index>(from, to)(random_); }
  ByteBox box() {
    const Index row = number(0, kRows - 1);
    const Index column = number(0, kColumns - 1);
    const bool is_long = number(0, 9) == 0;
    return {{Interval{row, number(row + 1, is_long ? kRows : std::min(kRows, row + 3))},
             {column, number(column + 1, kColumns)},
             {0, 1},
             {0, 1}}};
  }

 private:
  std::mt19937 random_;
};

TEST(Users, WhoeverComesWaitsForThoseWhoUseTheSameBytesAndSharesTheFateOfWritersOnly) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    base::Doorbell bell;
    std::array<base::Timeline, 3> lines{base::Timeline(bell), base::Timeline(bell), base::Timeline(bell)};
    std::array<std::uint64_t, 3> submitted{};
    std::array<std::uint64_t, 3> completed{};
    std::set<std::pair<std::size_t, std::uint64_t>> failed;
    Users users;
    Bytes bytes;
    for (int step = 0; step < 400; ++step) {
      const auto line = static_cast<std::size_t>(random.number(0, 2));
      if (random.number(0, 3) == 0 && completed[line] < submitted[line]) {
        const std::uint64_t value = ++completed[line];
        if (random.number(0, 4) == 0) {
          lines[line].fail(value, std::make_exception_ptr(Error(ErrorCode::kernel_failed, "as it must")));
          failed.emplace(line, value);
        }
        lines[line].complete(value);
        continue;
      }
      const ByteBox box = random.box();
      const bool writes = random.number(0, 1) == 0;
      Tickets after;
      if (writes) {
        users.before_write(box, after);
      } else {
        users.before_read(box, after);
      }
      const Ticket own{&lines[line], ++submitted[line]};
      bytes.for_each(box, [&](Bytes::Byte& byte) {
        ASSERT_TRUE(waits_for(after, byte.writer)) << "seed " << seed << ", step " << step;
        const auto of = static_cast<std::size_t>(byte.writer.line - lines.data());
        const bool may_fail =
            byte.writer.line != nullptr && (!byte.writer.done() || failed.contains({of, byte.writer.value}));
        if (!writes && may_fail) {
          ASSERT_TRUE(shares_fate(after, byte.writer)) << "seed " << seed << ", step " << step;
        }
        for (const Ticket& reader : byte.readers) {
          if (writes) {
            ASSERT_TRUE(waits_for(after, reader)) << "seed " << seed << ", step " << step;
          }
        }
        if (writes) {
          byte = {own, {}};
        } else {
          byte.readers.push_back(own);
        }
      });
      if (writes) {
        for (const Ticket& t : after) ASSERT_TRUE(t.order_only);
        users.note_write(box, own);
      } else {
        users.note_read(box, own);
      }
    }
    for (std::size_t l = 0; l < lines.size(); ++l) lines[l].complete(submitted[l]);
  }
}

TEST(Users, AnOperationLooksAtWhatUsesTheSameBytesHoweverManyOthersThereAre) {
  constexpr Index kMany = 20'000;
  base::Doorbell bell;
  base::Timeline line(bell);
  Users users;
  std::uint64_t value = 0;
  users.note_read(rows(0, 8 * kMany), {&line, ++value});
  for (Index r = 0; r < kMany; ++r) users.note_write(rows(8 * r, 8 * r + 4), {&line, ++value});
  const std::uint64_t before = users.looked_at();
  for (Index r = 0; r < kMany; ++r) {
    Tickets after;
    users.before_read(rows(8 * r, 8 * r + 2), after);
    EXPECT_EQ(after.size(), 1u);
    users.before_write(rows(8 * r, 8 * r + 4), after);
    users.note_write(rows(8 * r, 8 * r + 4), {&line, ++value});
  }
  EXPECT_LT(users.looked_at() - before, 10u * kMany);
  line.complete(value);
}

TEST(Users, AReaderOfManyRowsWaitsForEachWriterOnce) {
  constexpr Index kMany = 2'000;
  base::Doorbell bell;
  base::Timeline line(bell);
  Users users;
  for (Index r = 0; r < kMany; ++r)
    users.note_write(rows(r, r + 1), {&line, static_cast<std::uint64_t>(r + 1)});
  Tickets after;
  for (int again = 0; again < 3; ++again) users.before_read(rows(0, kMany), after);
  EXPECT_EQ(after.size(), static_cast<std::size_t>(kMany));
  Tickets order;
  users.before_write(rows(0, kMany), order);
  EXPECT_EQ(order.size(), 1u);
  line.complete(static_cast<std::uint64_t>(kMany));
}

}  // namespace
}  // namespace nuna::execute
