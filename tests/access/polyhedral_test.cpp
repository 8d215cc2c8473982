#include "access/polyhedral.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "access/kernels.hpp"
#include "access/model_builder.hpp"

namespace nuna::access {

// GoogleTest's name.
static void PrintTo(const Rows& rows, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << rows.count << " rows of " << rows.bytes << " at " << rows.begin << ", " << rows.stride << " apart";
}

namespace test {
namespace {

using ::testing::ElementsAre;

// NOLINTBEGIN(readability-identifier-naming): as a kernel names them
const Sum x = global(0);
const Sum y = global(1);
const Sum n = scalar(0);
const Sum width = scalar(0);
const Sum height = scalar(1);
// NOLINTEND(readability-identifier-naming)

/// One row.
Rows run(Index begin, Index end) { return {begin, end - begin, end - begin, 1}; }

// --- common kernels -------------------------------------------------------------------------------------------------

TEST(LaunchAccess, OfVectorsIsOneRunThatEndsWhereTheGuardDoes) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {2000}};
  LaunchAccess launch = Kernel().writes(kOut, x, {x < n}).reads(kIn, x, {x < n}).at(numbers);
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {0, 4})).rows, ElementsAre(run(0, 4096)));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {4, 8})).rows, ElementsAre(run(4096, 8000)));
  EXPECT_THAT(launch.read(kIn, blocks(numbers, 0, {7, 8})).rows, ElementsAre(run(7168, 8000)));
  EXPECT_TRUE(launch.is_disjoint(0, {2, 4, 6}));
  EXPECT_TRUE(launch.reads(kIn) && launch.writes(kOut) && launch.writes_all(kOut));
  EXPECT_FALSE(launch.reads(kOut) || launch.writes(kIn) || launch.reads(kMore) || launch.refusal());
}

const LaunchNumbers kStencil{{16, 16, 1}, {256, 256, 1}, {4096, 4096}};

TEST(LaunchAccess, OfAStencilCutByRowsIsWithoutTheBorders) {
  LaunchAccess launch = stencil().at(kStencil);
  EXPECT_THAT(launch.written(kOut, blocks(kStencil, 1, {0, 64})).rows,
              ElementsAre(Rows{4 * 4097, 4 * 4094, 4 * 4096, 1023}));
  EXPECT_THAT(launch.written(kOut, blocks(kStencil, 1, {64, 128})).rows,
              ElementsAre(Rows{4 * (4096 * 1024 + 1), 4 * 4094, 4 * 4096, 1024}));
  EXPECT_TRUE(launch.is_disjoint(1, {64, 128, 192}));
}

TEST(LaunchAccess, OfAStencilCutByColumnsIsRowsOfAPart) {
  LaunchAccess launch = stencil().at(kStencil);
  EXPECT_THAT(launch.written(kOut, blocks(kStencil, 0, {64, 128})).rows,
              ElementsAre(Rows{4 * (4096 + 1024), 4 * 1024, 4 * 4096, 4094}));
  EXPECT_TRUE(launch.is_disjoint(0, {64, 128, 192}));
}

TEST(LaunchAccess, OfAStencilReadsTheHalo) {
  LaunchAccess launch = stencil().at(kStencil);
  // A row above and one below without their ends, whole rows between them.
  EXPECT_THAT(
      launch.read(kIn, blocks(kStencil, 1, {64, 128})).rows,
      ElementsAre(Rows{4 * (4096 * 1023 + 1), 4 * 4094, 4 * 4094, 1}, run(4 * 4096 * 1024, 4 * 4096 * 2048),
                  Rows{4 * (4096 * 2048 + 1), 4 * 4094, 4 * 4094, 1}));
  EXPECT_THAT(launch.read(kIn, blocks(kStencil, 0, {64, 128})).rows,
              ElementsAre(run(4 * 1024, 4 * 2048), Rows{4 * (4096 + 1023), 4 * 1026, 4 * 4096, 4094},
                          run(4 * (4096 * 4095 + 1024), 4 * (4096 * 4095 + 2048))));
}

TEST(LaunchAccess, OfTiledMatricesReadsRowsOfOneAndAllOfTheOther) {
  const LaunchNumbers numbers{{16, 16, 1}, {32, 32, 1}, {512}};
  LaunchAccess launch = tiled_product().at(numbers);
  EXPECT_THAT(launch.read(kIn, blocks(numbers, 1, {8, 16})).rows, ElementsAre(run(2048 * 128, 2048 * 256)));
  EXPECT_THAT(launch.read(kMore, blocks(numbers, 1, {8, 16})).rows, ElementsAre(run(0, 2048 * 512)));
  EXPECT_THAT(launch.read(kMore, blocks(numbers, 0, {8, 16})).rows, ElementsAre(Rows{512, 512, 2048, 512}));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 1, {8, 16})).rows,
              ElementsAre(run(2048 * 128, 2048 * 256)));
}

TEST(LaunchAccess, OfATransposedMatrixIsColumns) {
  const LaunchNumbers numbers{{16, 16, 1}, {4, 8, 1}, {64, 128}};
  LaunchAccess launch = Kernel().writes(kOut, height * x + y).reads(kIn, width * y + x).at(numbers);
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 1, {2, 4})).rows, ElementsAre(Rows{128, 128, 512, 64}));
  EXPECT_THAT(launch.read(kIn, blocks(numbers, 1, {2, 4})).rows, ElementsAre(run(32 * 256, 64 * 256)));
  EXPECT_TRUE(launch.is_disjoint(1, {2, 4, 6}));
}

TEST(LaunchAccess, OfTheFieldsOfAStructIsOneRun) {
  const LaunchNumbers numbers{{256, 1, 1}, {64, 1, 1}, {16384}};
  LaunchAccess launch = n_body().at(numbers);
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {16, 32})).rows, ElementsAre(run(65536, 131072)));
  EXPECT_THAT(launch.read(kIn, blocks(numbers, 0, {16, 32})).rows, ElementsAre(run(0, 262144)));
  EXPECT_TRUE(launch.is_disjoint(0, {16, 32, 48}));
}

TEST(LaunchAccess, OfTwoFieldsOfAStructOfFourIsRows) {
  const LaunchNumbers numbers{{256, 1, 1}, {64, 1, 1}, {}};
  LaunchAccess launch = Kernel().writes(kOut, Sum(4) * x).writes(kOut, Sum(4) * x + 1).at(numbers);
  EXPECT_THAT(launch.written(kOut, all(numbers)).rows, ElementsAre(Rows{0, 8, 16, 16384}));
}

TEST(LaunchAccess, OfALoopOverTheGridIsAChunkOfEachRound) {
  const LaunchNumbers numbers{{256, 1, 1}, {64, 1, 1}, {1'000'000}};
  const Sum at = x + block_size(0) * grid_size(0) * extra(0);
  LaunchAccess launch = Kernel().with_extra(1).writes(kOut, at, {Sum(0) <= extra(0), at < n}).at(numbers);
  EXPECT_THAT(launch.written(kOut, all(numbers)).rows, ElementsAre(run(0, 4'000'000)));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {0, 16})).rows,
              ElementsAre(Rows{0, 16384, 65536, 61}, run(61 * 65536, 4'000'000)));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {16, 32})).rows,
              ElementsAre(Rows{16384, 16384, 65536, 61}));
  EXPECT_TRUE(launch.is_disjoint(0, {16, 32, 48}));
}

TEST(LaunchAccess, OfQuotientsAndRemaindersIsExact) {
  const LaunchNumbers numbers{{255, 1, 1}, {1024, 1, 1}, {100}};
  const Sum q = extra(0);
  const auto quotient = [&](const Sum& divisor) {
    return Domain{divisor * q <= x, x < divisor * q + divisor};
  };
  const Kernel kernel = Kernel()
                            .with_extra(1)
                            .writes(kOut, q, quotient(Sum(2)))
                            .reads(kIn, x - n * q, quotient(n))
                            .reads(kMore, Sum(200) * q + (x - n * q), quotient(n));
  LaunchAccess launch = kernel.at(numbers);
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {0, 512})).rows, ElementsAre(run(0, 4 * 255 * 256)));
  EXPECT_THAT(launch.read(kIn, blocks(numbers, 0, {3, 5})).rows, ElementsAre(run(0, 400)));
  EXPECT_THAT(launch.read(kMore, all(numbers)).rows,
              ElementsAre(Rows{0, 400, 800, 2611}, run(2611 * 800, 2611 * 800 + 80)));
  // 255 threads: the first of every other block writes what the last before it does.
  EXPECT_TRUE(launch.is_disjoint(0, {512}));
  Refusal why;
  EXPECT_FALSE(launch.is_disjoint(0, {512, 513}, &why));
  EXPECT_EQ(why, (Refusal{"blocks of two parts write the same bytes", {"kernel.cu", 1}}));
}

TEST(LaunchAccess, OfATriangleIsARowOfEachLength) {
  const LaunchNumbers numbers{{4, 1, 1}, {2, 1, 1}, {8}};
  const Sum k = extra(0);
  LaunchAccess launch = Kernel().with_extra(1).writes(kOut, n * x + k, {Sum(0) <= k, k <= x}).at(numbers);
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {0, 1})).rows,
              ElementsAre(run(0, 4), run(32, 40), run(64, 76), run(96, 112)));
  EXPECT_TRUE(launch.is_disjoint(0, {1}));
}

TEST(LaunchAccess, OfABandOfAMatrixIsRowsFurtherApartThanItsOwn) {
  const LaunchNumbers numbers{{256, 1, 1}, {1024, 1, 1}, {262'144}};
  const Sum k = extra(0);
  LaunchAccess launch =
      Kernel().with_extra(1).reads(kIn, n * x + k, {x - 1 <= k, k <= x + 1, Sum(0) <= k, k < n}).at(numbers);
  const Index line = 4 * 262'144;
  EXPECT_THAT(launch.read(kIn, all(numbers)).rows, ElementsAre(run(0, 8), Rows{line, 12, line + 4, 262'142},
                                                               run(line * 262'144 - 8, line * 262'144)));
}

TEST(LaunchAccess, OfAVectorBackToFrontIsOneRun) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {2000}};
  LaunchAccess launch = Kernel().writes(kOut, n - 1 - x, {x < n}).at(numbers);
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {0, 4})).rows, ElementsAre(run(8000 - 4096, 8000)));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {4, 8})).rows, ElementsAre(run(0, 8000 - 4096)));
}

TEST(LaunchAccess, OfAVolumeIsRunsOfPlanesOrRowsOfRows) {
  const LaunchNumbers numbers{{8, 8, 4}, {8, 8, 16}, {64, 64}};
  const Sum z = global(2);
  LaunchAccess launch = Kernel().writes(kOut, width * (height * z + y) + x).at(numbers);
  const Index plane = 4 * 64 * 64;
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 2, {4, 8})).rows,
              ElementsAre(run(16 * plane, 32 * plane)));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 1, {2, 4})).rows,
              ElementsAre(Rows{plane / 4, plane / 4, plane, 64}));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {0, 4})).rows, ElementsAre(Rows{0, 128, 256, 4096}));
  EXPECT_TRUE(launch.is_disjoint(0, {2, 4}) && launch.is_disjoint(1, {2, 4}) &&
              launch.is_disjoint(2, {2, 4}));
}

// --- what is not certain ----------------------------------------------------------------------------------------------

TEST(LaunchAccess, UnderAConditionOnDataMayBeWritten) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {2000}};
  LaunchAccess launch = Kernel().writes(kOut, x, {x < n}).maybe().writes(kMore, x, {x < n}).at(numbers);
  EXPECT_FALSE(launch.writes_all(kOut));
  EXPECT_TRUE(launch.writes_all(kMore));
  EXPECT_THAT(launch.written(kOut, all(numbers)).rows, ElementsAre(run(0, 8000)));
  EXPECT_TRUE(launch.is_disjoint(0, {4}));
}

TEST(LaunchAccess, ThroughAnIndexFromMemoryReadsAnywhereAndMustNotWrite) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {2000}};
  LaunchAccess gather = Kernel().writes(kOut, x).touches(Access::Kind::read, kIn, {}, {x < n}).at(numbers);
  EXPECT_FALSE(gather.refusal());
  EXPECT_TRUE(gather.read(kIn, all(numbers)).anywhere);
  EXPECT_TRUE(gather.read(kIn, blocks(numbers, 0, {8, 9})).empty());
  LaunchAccess scatter = Kernel().touches(Access::Kind::write, kOut, {}).at(numbers);
  EXPECT_EQ(scatter.refusal(), (Refusal{"a write to a place that is not known", {"kernel.cu", 1}}));
  EXPECT_TRUE(scatter.written(kOut, all(numbers)).anywhere);
  EXPECT_FALSE(scatter.writes_all(kOut) || scatter.is_disjoint(0, {4}));
}

TEST(LaunchAccess, WithAtomicUpdatesIsRefused) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {2000}};
  LaunchAccess launch = Kernel().writes(kOut, x).touches(Access::Kind::atomic, kIn, x * Sum(4)).at(numbers);
  EXPECT_EQ(launch.refusal(), (Refusal{"atomic update", {"kernel.cu", 2}}));
  EXPECT_TRUE(launch.reads(kIn) && launch.writes(kIn));
  EXPECT_FALSE(launch.writes_all(kIn));
}

TEST(LaunchAccess, OfAKernelThatTheCompilerRefusedIsAnywhere) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {}};
  LaunchAccess launch = Kernel().writes(kOut, x).refused("calls foo, whose body is elsewhere").at(numbers);
  EXPECT_EQ(launch.refusal()->reason, "calls foo, whose body is elsewhere");
  EXPECT_TRUE(launch.read(kIn, all(numbers)).anywhere && launch.written(kOut, all(numbers)).anywhere);
}

TEST(LaunchAccess, ThatNoThreadDoesIsNone) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {0}};
  LaunchAccess launch =
      Kernel().writes(kOut, x, {x < n}).touches(Access::Kind::atomic, kIn, {}, {x < n}).at(numbers);
  EXPECT_FALSE(launch.refusal() || launch.writes(kOut) || launch.reads(kIn));
  EXPECT_TRUE(launch.written(kOut, all(numbers)).empty());
  EXPECT_TRUE(launch.is_disjoint(0, {4}));
}

// --- parts that must not be -------------------------------------------------------------------------------------------

TEST(LaunchAccess, OfBlocksThatOverlapIsNotDisjoint) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {}};
  LaunchAccess launch = Kernel().writes(kMore, x).writes(kOut, Sum(255) * block(0) + thread(0)).at(numbers);
  Refusal why;
  EXPECT_FALSE(launch.is_disjoint(0, {4}, &why));
  EXPECT_EQ(why, (Refusal{"blocks of two parts write the same bytes", {"kernel.cu", 2}}));
  EXPECT_FALSE(launch.refusal());
}

TEST(LaunchAccess, OfOneCellByEveryBlockIsNotDisjoint) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 2, 1}, {}};
  LaunchAccess launch = Kernel().writes(kOut, 0, {thread(0) < Sum(1)}).at(numbers);
  EXPECT_THAT(launch.written(kOut, all(numbers)).rows, ElementsAre(run(0, 4)));
  EXPECT_FALSE(launch.is_disjoint(0, {4}) || launch.is_disjoint(1, {1}));
}

TEST(LaunchAccess, OfOneBlockOnlyIsDisjoint) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 2, 1}, {}};
  LaunchAccess launch = Kernel().writes(kOut, 0, {block(0) == Sum(3), thread(0) < Sum(1)}).at(numbers);
  EXPECT_TRUE(launch.is_disjoint(0, {4}));
  EXPECT_FALSE(launch.is_disjoint(1, {1}));
}

TEST(LaunchAccess, OfRowsThatInterleaveIsDisjoint) {
  const LaunchNumbers numbers{{128, 1, 1}, {8, 1, 1}, {}};
  LaunchAccess launch = Kernel().writes(kOut, Sum(8) * thread(0) + block(0)).at(numbers);
  EXPECT_TRUE(launch.is_disjoint(0, {1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(launch.written(kOut, blocks(numbers, 0, {2, 4})).rows, ElementsAre(Rows{8, 8, 32, 128}));
}

// --- integers of the code ---------------------------------------------------------------------------------------------

TEST(LaunchAccess, HoldsWhereAnIndexJustFits) {
  const Index most = std::numeric_limits<std::int32_t>::max();
  const Kernel kernel = Kernel().writes(kOut, x, {x < n}).assumes(x + scalar(1), {x < n});
  const auto refusal = [&](Index guard, Index more) {
    return kernel.at({{256, 1, 1}, {8, 1, 1}, {guard, more}}).refusal();
  };
  EXPECT_FALSE(refusal(5000, most - 2047));
  EXPECT_EQ(refusal(5000, most - 2046), (Refusal{"an index of 32 bits may wrap", {"kernel.cu", 2}}));
  EXPECT_FALSE(refusal(2000, most - 1999));
  EXPECT_TRUE(refusal(2000, most - 1998));
  EXPECT_FALSE(refusal(2000, -most - 1));
  EXPECT_TRUE(refusal(2000, -most - 2));
}

TEST(LaunchAccess, HoldsWhereTwoGuardsTogetherKeepAnIndexSmall) {
  // x + y < n, so that the sum of both times a large number fits, although each alone may be large.
  const auto refusal = [](Index factor) {
    return Kernel()
        .assumes((x + y) * scalar(1), {x + y < n})
        .at({{16, 16, 1}, {64, 64, 1}, {1000, factor}})
        .refusal();
  };
  EXPECT_FALSE(refusal(2'149'633));  // 999 times
  EXPECT_TRUE(refusal(2'149'634));
}

TEST(LaunchAccess, HoldsForUnsignedIndicesThatAreNotNegative) {
  const auto refusal = [](Index from) {
    return Kernel().assumes(x - n, {}, 32, false).at({{256, 1, 1}, {8, 1, 1}, {from}}).refusal();
  };
  EXPECT_FALSE(refusal(0));
  EXPECT_TRUE(refusal(1));
  EXPECT_FALSE(refusal(-4'294'965'248));  // the largest x is 2047
  EXPECT_TRUE(refusal(-4'294'965'249));
}

// --- limits -----------------------------------------------------------------------------------------------------------

TEST(LaunchAccess, WithLargeNumbersIsExact) {
  const Index far = Index{1} << 40;
  const LaunchNumbers numbers{{1024, 1, 1}, {1 << 20, 1, 1}, {far}};
  LaunchAccess launch = Kernel().writes(kOut, x + n).at(numbers);
  EXPECT_THAT(launch.written(kOut, all(numbers)).rows, ElementsAre(run(4 * far, 4 * far + (Index{1} << 32))));
}

TEST(LaunchAccess, WithNumbersTooLargeIsRefused) {
  const Index huge = std::numeric_limits<Index>::max();
  const LaunchNumbers numbers{{1024, 1, 1}, {1 << 20, 1, 1}, {huge}};
  LaunchAccess launch = Kernel().reads(kIn, x).writes(kOut, x * n).at(numbers);
  EXPECT_EQ(launch.refusal(), (Refusal{"numbers too large to follow", {"kernel.cu", 2}}));
  EXPECT_TRUE(launch.written(kOut, all(numbers)).anywhere && launch.read(kIn, all(numbers)).anywhere);
}

TEST(LaunchAccess, OfALoopWithoutAnEndIsAnywhere) {
  const LaunchNumbers numbers{{256, 1, 1}, {8, 1, 1}, {}};
  LaunchAccess launch = Kernel()
                            .with_extra(1)
                            .reads(kIn, x + extra(0), {Sum(0) <= extra(0)})
                            .writes(kOut, x + extra(0), {Sum(0) <= extra(0)})
                            .at(numbers);
  EXPECT_TRUE(launch.read(kIn, all(numbers)).anywhere);
  EXPECT_FALSE(launch.refusal());
  EXPECT_TRUE(launch.written(kOut, all(numbers)).anywhere);
  EXPECT_EQ(launch.refusal(), (Refusal{"writes too irregular to list", {"kernel.cu", 2}}));
}

TEST(LaunchAccess, OfTooManyRowsIsMoreForReadsAndRefusedForWrites) {
  const LaunchNumbers numbers{{256, 1, 1}, {1024, 1, 1}, {262'144}};
  const Sum k = extra(0);
  const Domain triangle{Sum(0) <= k, k <= x};
  LaunchAccess launch =
      Kernel().with_extra(1).reads(kIn, n * x + k, triangle).writes(kOut, n * x + k, triangle).at(numbers);
  EXPECT_THAT(launch.read(kIn, all(numbers)).rows, ElementsAre(run(0, Index{4} * 262'144 * 262'144)));
  EXPECT_FALSE(launch.refusal());
  EXPECT_TRUE(launch.written(kOut, all(numbers)).anywhere);
  EXPECT_EQ(launch.refusal(), (Refusal{"writes too irregular to list", {"kernel.cu", 2}}));
}

}  // namespace
}  // namespace test
}  // namespace nuna::access
