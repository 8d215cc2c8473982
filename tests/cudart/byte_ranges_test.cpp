#include "byte_ranges.hpp"

#include <gmock/gmock.h>

namespace nuna::cudart {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ByteRanges, RangesThatMeetAreOne) {
  const ByteRanges set({{20, 30}, {0, 10}, {10, 15}, {25, 28}, {40, 40}});
  EXPECT_THAT(set.ranges(), ElementsAre(Interval{0, 15}, Interval{20, 30}));
}

TEST(ByteRanges, HoldsWhatLiesInOneRange) {
  const ByteRanges set({{0, 10}, {20, 30}, {40, 50}});
  std::size_t near = 0;
  for (const Interval inside : {Interval{0, 10}, {24, 28}, {40, 41}, {3, 4}})
    EXPECT_TRUE(set.holds(inside, &near));
  for (const Interval outside : {Interval{8, 12}, {10, 20}, {-4, 2}, {50, 51}, {0, 50}})
    EXPECT_FALSE(set.holds(outside, &near));
  EXPECT_FALSE(ByteRanges().holds({0, 1}, &near));
}

TEST(MarkedBytes, TellWhatIsLeft) {
  MarkedBytes marks(ByteRanges({{0, 10}, {20, 30}}));
  marks.mark({2, 4});
  marks.mark({8, 24});
  marks.mark({100, 104});
  EXPECT_THAT(marks.unmarked(8), ElementsAre(Interval{0, 2}, Interval{4, 8}, Interval{24, 30}));
  EXPECT_THAT(marks.unmarked(1), ElementsAre(Interval{0, 2}));
  marks.mark({0, 30});
  EXPECT_THAT(marks.unmarked(8), IsEmpty());
}

}  // namespace
}  // namespace nuna::cudart
