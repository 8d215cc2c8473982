#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "nuna-bandwidth/measured_machine.hpp"
#include "nuna-bandwidth/memory.hpp"
#include "nuna-bandwidth/predict.hpp"
#include "nuna-bandwidth/schedule.hpp"
#include "nuna-bandwidth/statistics.hpp"
#include "nuna-bandwidth/table.hpp"
#include "topology/gathered.hpp"
#include "topology/machine_file.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::Index;
using nuna::topology::Machine;
using nuna::topology::MemoryId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Index kKiB = 1024;
constexpr Index kMiB = 1024 * kKiB;

MemoryId memory(int rank, int place) { return {{rank}, {place}}; }

// Two ranks of one node, each with two devices that have memories of their own.
Machine two_ranks() {
  nuna::topology::RankFacts facts;
  nuna::topology::set_node_name(facts, "n0");
  facts.devices = 2;
  facts.shares_host_memory = 0;
  facts.host_memory_bytes = facts.device_memory_bytes = Index{1} << 34;
  const std::vector<nuna::topology::RankFacts> ranks{facts, facts};
  return nuna::topology::assemble(ranks);
}

Row row(const Experiment& experiment, Index bytes, Scheme scheme, double seconds) {
  return {experiment, bytes, {{scheme, {seconds, seconds, seconds}, 15}}, {}, {}, ""};
}

TEST(Statistics, AreMediansAndQuartilesBetweenSamples) {
  EXPECT_EQ(quartiles_of({4.0, 1.0, 3.0, 2.0, 5.0}), (Quartiles{2.0, 3.0, 4.0}));
  EXPECT_EQ(quartiles_of({1.0, 2.0}), (Quartiles{1.25, 1.5, 1.75}));
  EXPECT_EQ(quartiles_of({7.0}), (Quartiles{7.0, 7.0, 7.0}));
  EXPECT_EQ(quartiles_of({}), Quartiles{});
}

TEST(Statistics, ARatioIsThatOfEachPairNotOfTheMedians) {
  EXPECT_EQ(ratios_of({2.0, 40.0, 6.0}, {1.0, 20.0, 3.0}), (Quartiles{2.0, 2.0, 2.0}));
}

TEST(Schedule, GivesEachCellItsShareOfTheTimeThatIsLeft) {
  const Schedule schedule({{kMiB, 1, 4}, {kMiB, 1, 4}});
  EXPECT_TRUE(schedule.another(0, 10, 10.0, 4.0));   // 4 s of 5, a cycle takes 0.4 s
  EXPECT_FALSE(schedule.another(0, 10, 10.0, 4.9));  // one more would be 5.39 s
  EXPECT_TRUE(schedule.another(1, 10, 10.0, 8.0));   // the last cell may have all that is left
}

TEST(Schedule, TakesAFewCyclesInAnyCaseAndNeverVeryMany) {
  const Schedule schedule({{kMiB, 1, 4}, {256 * kMiB, 2, 4}});
  EXPECT_TRUE(schedule.another(0, Schedule::kFewest - 1, 10.0, 5.0));
  EXPECT_FALSE(schedule.another(0, Schedule::kFewest, 10.0, 5.0));
  EXPECT_FALSE(schedule.another(1, Schedule::kMost, 1000.0, 0.001));
}

TEST(Schedule, TakesOneCycleWhenNoTimeIsLeft) {
  const Schedule schedule({{kMiB, 1, 4}});
  EXPECT_TRUE(schedule.another(0, 0, -1.0, 0.0));
  EXPECT_FALSE(schedule.another(0, 1, -1.0, 0.5));
  EXPECT_FALSE(schedule.another(0, 1, 1.0, 1.5));
}

TEST(Schedule, EndsInTimeWhateverTheCellsCost) {
  std::vector<CellPlan> cells;
  cells.reserve(100);
  for (int i = 0; i < 100; ++i) cells.push_back({kMiB << (i % 9), 1 + i % 2, 8});
  const Schedule schedule(cells);
  constexpr double kBudget = 50.0;
  double now = 0.0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const double cycle = 1e-5 + static_cast<double>(cells[c].bytes) * cells[c].ways * 1e-9;
    const double begin = now;
    for (int done = 0; schedule.another(c, done, kBudget - begin, now - begin); ++done) now += cycle;
    EXPECT_GT(now, begin);
  }
  EXPECT_LT(now, kBudget * 1.1);
  EXPECT_GT(now, kBudget * 0.5);
}

TEST(Experiments, AreThePairsOfTheFirstRankAndOfTwoRanks) {
  const std::vector<Experiment> all = experiments_of(two_ranks(), false);
  const auto count = [&](bool within, bool two_way) {
    return std::count_if(all.begin(), all.end(), [&](const Experiment& e) {
      return e.within_rank() == within && e.two_way == two_way;
    });
  };
  EXPECT_EQ(count(true, false), 6);  // each of three memories to each other
  EXPECT_EQ(count(true, true), 3);
  EXPECT_EQ(count(false, false), 2);  // host to host, device to device
  EXPECT_EQ(count(false, true), 2);
  EXPECT_EQ(experiments_of(two_ranks(), true).size(), 2u * 9 + 2 * 9);
}

TEST(Experiments, OfOneMemoryAreNone) {
  nuna::topology::RankFacts alone;
  nuna::topology::set_node_name(alone, "n0");
  const std::vector<nuna::topology::RankFacts> ranks{alone};
  EXPECT_TRUE(experiments_of(nuna::topology::assemble(ranks), true).empty());
}

TEST(Schemes, StageNothingThatIsHostMemoryAlready) {
  const Machine machine = two_ranks();
  EXPECT_THAT(
      schemes_of(machine, {{memory(0, 1), memory(0, 2)}, false}),
      ElementsAre(Scheme::naive, Scheme::pinned, Scheme::double_buffered, Scheme::direct, Scheme::nuna));
  EXPECT_THAT(schemes_of(machine, {{memory(0, 0), memory(0, 2)}, false}),
              ElementsAre(Scheme::pinned, Scheme::double_buffered, Scheme::direct, Scheme::nuna));
  EXPECT_THAT(schemes_of(machine, {{memory(0, 0), memory(1, 0)}, false}),
              ElementsAre(Scheme::mpi, Scheme::nuna, Scheme::api));
}

TEST(Schemes, HaveNamesThatAreReadBack) {
  for (const Scheme scheme : kSchemes) EXPECT_EQ(scheme_of(to_string(scheme)), scheme);
  EXPECT_EQ(scheme_of("fastest"), std::nullopt);
}

class Hpe : public testing::Test {
 protected:
  const Machine machine_ = nuna::topology::read_machine_file(std::filesystem::path(NUNA_TEST_SOURCE_DIR) /
                                                             "docs/machines/hpe.toml");
  double rate(int from, int to, Scheme scheme, Index bytes) const {
    const auto seconds = predicted_seconds(machine_, {memory(0, from), memory(0, to)}, scheme, bytes);
    return seconds ? static_cast<double>(bytes) / *seconds : 0.0;
  }
  // gpu0 and gpu1 on one bus, gpu2 on the other.
  static constexpr int kGpu0 = 1;
  static constexpr int kGpu1 = 2;
  static constexpr int kGpu2 = 3;
};

// Figure 7 (left) of the HPE paper: double-buffered above pinned above naive, from 256 KiB on.
TEST_F(Hpe, AcrossBusesDoubleBufferingIsAbovePinnedIsAboveNaive) {
  for (Index bytes = 256 * kKiB; bytes <= 256 * kMiB; bytes *= 4) {
    EXPECT_GT(rate(kGpu0, kGpu2, Scheme::double_buffered, bytes), rate(kGpu0, kGpu2, Scheme::pinned, bytes));
    EXPECT_GT(rate(kGpu0, kGpu2, Scheme::pinned, bytes), rate(kGpu0, kGpu2, Scheme::naive, bytes));
    EXPECT_EQ(rate(kGpu0, kGpu2, Scheme::direct, bytes), 0.0);
    // "HPE runtime matches the hand-tuned implementation"
    EXPECT_GE(rate(kGpu0, kGpu2, Scheme::nuna, bytes),
              rate(kGpu0, kGpu2, Scheme::double_buffered, bytes) * 0.999);
  }
}

TEST_F(Hpe, OnOneBusPeerDmaIsAboveAllThatIsStaged) {
  for (Index bytes = 256 * kKiB; bytes <= 256 * kMiB; bytes *= 4) {
    EXPECT_GT(rate(kGpu0, kGpu1, Scheme::direct, bytes), rate(kGpu0, kGpu1, Scheme::double_buffered, bytes));
    EXPECT_EQ(rate(kGpu0, kGpu1, Scheme::nuna, bytes), rate(kGpu0, kGpu1, Scheme::direct, bytes));
  }
}

TEST_F(Hpe, DoubleBufferingPaysMoreWhenMessagesAreLarge) {
  const auto gain = [&](Index bytes) {
    return rate(kGpu0, kGpu2, Scheme::double_buffered, bytes) / rate(kGpu0, kGpu2, Scheme::pinned, bytes);
  };
  EXPECT_GT(gain(64 * kMiB), gain(kMiB));
  EXPECT_GT(gain(256 * kMiB), 1.9);  // two stages that overlap
}

TEST_F(Hpe, ThePredictedTableNamesTheWayAndTheBest) {
  const std::vector<Row> rows = predicted(machine_, {kMiB}, {kSchemes.begin(), kSchemes.end()}, false);
  const auto found = std::find_if(rows.begin(), rows.end(), [](const Row& r) {
    return r.experiment.ends == nuna::route::Ends{memory(0, kGpu0), memory(0, kGpu2)};
  });
  ASSERT_NE(found, rows.end());
  EXPECT_EQ(found->best, Scheme::double_buffered);
  EXPECT_THAT(found->choice, HasSubstr("staged"));
  const std::string text = to_text(rows, machine_);
  EXPECT_THAT(text, HasSubstr("rank 0 gpu0 -> rank 0 gpu2, one way, GB/s, predicted"));
  EXPECT_THAT(text, Not(HasSubstr("quartiles")));
}

TEST(Blocks, AreAQuarterOfAMessageWithinBounds) {
  EXPECT_EQ(block_bytes(4 * kKiB, kMostBlockBytes), 64 * kKiB);
  EXPECT_EQ(block_bytes(kMiB, kMostBlockBytes), 256 * kKiB);
  EXPECT_EQ(block_bytes(256 * kMiB, kMostBlockBytes), 2 * kMiB);
  EXPECT_EQ(block_bytes(256 * kMiB, 4 * kKiB), 4 * kKiB);
}

TEST(Table, CountsTheBytesOfBothWays) {
  const Row two_way = row({{memory(0, 1), memory(0, 2)}, true}, 1000, Scheme::direct, 1e-6);
  EXPECT_DOUBLE_EQ(bytes_per_second(two_way, 1e-6), 2e9);
}

TEST(Table, ShowsAColumnForEachSchemeThatWasMeasured) {
  const Experiment experiment{{memory(0, 1), memory(0, 2)}, false};
  Row r = row(experiment, kMiB, Scheme::direct, 1e-4);
  r.cells.push_back({Scheme::nuna, {1e-4, 1e-4, 1e-4}, 30});
  r.best = Scheme::direct;
  r.ratio = {0.9, 1.0, 1.1};
  r.choice = "direct";
  const std::string text = to_text({r}, two_ranks());
  EXPECT_THAT(text, HasSubstr("rank 0 host:0 -> rank 0 host:1, one way, GB/s\n"));
  EXPECT_THAT(text, HasSubstr("direct      nuna  nuna/best"));
  EXPECT_THAT(text, HasSubstr("10.49     10.49       1.00   0.90-1.10     15  direct"));
  EXPECT_THAT(text, Not(HasSubstr("naive")));
}

TEST(Table, RowsTravelAsJsonUnchanged) {
  Row r = row({{memory(0, 1), memory(1, 2)}, true}, kMiB, Scheme::mpi, 1e-4);
  r.cells.push_back({Scheme::nuna, {1e-4, 2e-4, 3e-4}, 30});
  r.best = Scheme::mpi;
  r.ratio = {0.4, 0.5, 0.6};
  r.choice = "mapped";
  const Machine machine = two_ranks();
  const Row back = row_of(to_json(r, machine));
  EXPECT_EQ(back.experiment, r.experiment);
  EXPECT_EQ(back.best, r.best);
  EXPECT_EQ(to_json(back, machine), to_json(r, machine));
}

TEST(MeasuredMachine, HasTheRatesOfLargeAndTheLatenciesOfSmallTransfers) {
  const Experiment copy{{memory(0, 1), memory(0, 2)}, false};
  const Experiment message{{memory(0, 0), memory(1, 0)}, false};
  const double own_s = static_cast<double>(nuna::topology::kHostCopyLatencyPs) * 1e-12;
  const std::vector<Row> rows{
      row(copy, 4000, Scheme::direct, own_s + 1.5e-6), row(copy, 4'000'000, Scheme::direct, 1e-3),
      row(message, 8000, Scheme::mpi, 5e-6), row(message, 8'000'000, Scheme::mpi, 4e-3)};
  const Machine machine = measured_machine(two_ranks(), rows, {5'000'000'000, 6'000'000'000, 0}, "a test");
  EXPECT_EQ(machine.name, "n0 (measured)");
  EXPECT_EQ(machine.source, "a test");
  EXPECT_EQ(nuna::topology::problem(machine), "");
  // 1.5 us beyond the device's own, less 1 us for 4000 bytes; on the second rank alike
  for (const int rank : {0, 1}) {
    const auto link = nuna::topology::find_speed(machine, memory(rank, 1), memory(rank, 2));
    EXPECT_EQ(link, (nuna::topology::Speed{4'000'000'000, 500'000}));
  }
  const auto between = nuna::topology::find_speed(machine, memory(0, 0), memory(1, 0));
  EXPECT_EQ(between, (nuna::topology::Speed{2'000'000'000, 1'000'000}));
  EXPECT_EQ(nuna::topology::find_memory(machine, memory(1, 1))->copy_bytes_per_second, 6'000'000'000);
  // what was not measured stays
  EXPECT_EQ(nuna::topology::find_memory(machine, memory(0, 2))->copy_bytes_per_second,
            nuna::topology::kHostCopyBytesPerSecond);
  EXPECT_EQ(nuna::topology::read_machine(nuna::topology::write_machine(machine), "copy.toml"), machine);
}

TEST(Memory, LargeSizesAreLeftOutWhereTheyDoNotFit) {
  const std::vector<Index> sizes{kMiB, 16 * kMiB, 256 * kMiB};
  const int factor = bytes_per_byte(3, 2);
  EXPECT_EQ(that_fit(sizes, 256 * kMiB * factor * 2, 3, 2).size(), 3u);
  EXPECT_EQ(that_fit(sizes, 256 * kMiB * factor, 3, 2).size(), 2u);
  EXPECT_THAT(that_fit(sizes, 0, 3, 2), ElementsAre(kMiB));
}

}  // namespace
}  // namespace nuna_bandwidth
