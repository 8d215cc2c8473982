#include "device/page_ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nuna::device {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PageLedger, CountsWholePages) {
  PageLedger ledger(100);
  ledger.commit({250, 251});
  EXPECT_EQ(ledger.held_bytes(), 100);
  ledger.commit({299, 301});
  EXPECT_EQ(ledger.held_bytes(), 200);
}

TEST(PageLedger, CommittingTwiceAddsNothing) {
  PageLedger ledger(100);
  ledger.commit({50, 450});
  EXPECT_THAT(ledger.missing({50, 450}), IsEmpty());
  EXPECT_THAT(ledger.missing({0, 500}), IsEmpty());
  ledger.commit({0, 500});
  EXPECT_EQ(ledger.held_bytes(), 500);
}

TEST(PageLedger, OnlyTheGapsOfAnOverlappingRangeAreMissing) {
  PageLedger ledger(100);
  ledger.commit({100, 200});
  ledger.commit({420, 430});
  EXPECT_THAT(ledger.missing({0, 700}),
              ElementsAre(Interval{0, 100}, Interval{200, 400}, Interval{500, 700}));
}

TEST(PageLedger, ASharedPageGoesWithItsLastByte) {
  PageLedger ledger(100);
  ledger.commit({0, 150});
  ledger.commit({160, 300});
  EXPECT_THAT(ledger.freed({0, 150}), ElementsAre(Interval{0, 100}));
  ledger.release({0, 150});
  EXPECT_EQ(ledger.held_bytes(), 200);
  EXPECT_THAT(ledger.freed({160, 300}), ElementsAre(Interval{100, 300}));
  ledger.release({160, 300});
  EXPECT_EQ(ledger.held_bytes(), 0);
}

TEST(PageLedger, ReleasingTheMiddleOfAPageKeepsIt) {
  PageLedger ledger(100);
  ledger.commit({0, 100});
  ledger.release({40, 60});
  EXPECT_EQ(ledger.held_bytes(), 100);
  ledger.release({0, 40});
  EXPECT_EQ(ledger.held_bytes(), 100);
  ledger.release({60, 100});
  EXPECT_EQ(ledger.held_bytes(), 0);
}

TEST(PageLedger, ReleasingWhatIsNotCommittedFreesNothing) {
  PageLedger ledger(100);
  EXPECT_THAT(ledger.freed({0, 1000}), IsEmpty());
  ledger.commit({300, 400});
  EXPECT_THAT(ledger.freed({0, 1000}), ElementsAre(Interval{300, 400}));
  EXPECT_THAT(ledger.freed({400, 1000}), IsEmpty());
}

TEST(PageLedger, EmptyRangesDoNothing) {
  PageLedger ledger(100);
  ledger.commit({50, 50});
  ledger.release({50, 50});
  EXPECT_THAT(ledger.missing({50, 50}), IsEmpty());
  EXPECT_THAT(ledger.freed({50, 50}), IsEmpty());
  EXPECT_EQ(ledger.held_bytes(), 0);
}

// The same by brute force: one flag a byte.
class Bytes {
 public:
  Bytes(Index size, Index page) : flags_(static_cast<std::size_t>(size)), page_(page) {}
  void set(Interval bytes, bool on) {
    for (Index i = bytes.begin; i < bytes.end; ++i) flags_[static_cast<std::size_t>(i)] = on;
  }
  std::vector<bool> pages() const {
    std::vector<bool> held(flags_.size() / static_cast<std::size_t>(page_));
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      if (flags_[i]) held[i / static_cast<std::size_t>(page_)] = true;
    }
    return held;
  }

 private:
  std::vector<bool> flags_;
  Index page_;
};

TEST(PageLedger, AgreesWithOneFlagPerByte) {
  constexpr Index kSize = 96;
  constexpr Index kPage = 8;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    PageLedger ledger(kPage);
    Bytes bytes(kSize, kPage);
    for (int step = 0; step < 100; ++step) {
      const auto begin = static_cast<Index>(random() % kSize);
      const Interval range{begin,
                           begin + static_cast<Index>(random() % static_cast<unsigned>(kSize - begin + 1))};
      const bool on = random() % 2 == 0;
      const auto before = bytes.pages();
      bytes.set(range, on);
      const auto after = bytes.pages();
      std::vector<bool> changed(before.size());
      const auto ranges = on ? ledger.missing(range) : ledger.freed(range);
      for (const Interval& r : ranges) {
        for (Index p = r.begin / kPage; p < r.end / kPage; ++p) changed[static_cast<std::size_t>(p)] = true;
      }
      on ? ledger.commit(range) : ledger.release(range);
      Index held = 0;
      for (std::size_t p = 0; p < after.size(); ++p) {
        ASSERT_EQ(changed[p], before[p] != after[p]) << "seed " << seed << " step " << step << " page " << p;
        held += after[p] ? kPage : 0;
      }
      ASSERT_EQ(ledger.held_bytes(), held);
    }
  }
}

}  // namespace
}  // namespace nuna::device
