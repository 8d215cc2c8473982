// Every kind of device: copies, fills, and the memory behind its range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "device/conformance.hpp"
#include "nuna/error.hpp"

namespace nuna::device::conformance {
namespace {

class DeviceMemory : public Conformance {};
class SparseDeviceMemory : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Kinds, SparseDeviceMemory, testing::ValuesIn(sparse_kinds()),
                         [](const auto& kind) { return kind.param.name; });
INSTANTIATE_TEST_SUITE_P(Kinds, DeviceMemory, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

// ---- copies and fills ----

// Axes of one array region, slowest first: a dense box inside an array that is `slack` wider in every axis.
Region box_region(std::byte* first, std::array<Index, 3> counts, Index run_bytes,
                  std::array<Index, 3> slack) {
  Region r{first, counts, {}, run_bytes};
  r.stride_bytes[2] = run_bytes + slack[2];
  r.stride_bytes[1] = r.stride_bytes[2] * counts[2] + slack[1];
  r.stride_bytes[0] = r.stride_bytes[1] * counts[1] + slack[0];
  return r;
}

template <class Visit>
void for_bytes(const Region& r, Visit visit) {
  for (Index i = 0; i < r.counts[0]; ++i) {
    for (Index j = 0; j < r.counts[1]; ++j) {
      for (Index k = 0; k < r.counts[2]; ++k) {
        const Index run = i * r.stride_bytes[0] + j * r.stride_bytes[1] + k * r.stride_bytes[2];
        for (Index b = 0; b < r.run_bytes; ++b) visit(run + b);
      }
    }
  }
}

// Forms of a region of 720 bytes: counts and run.
constexpr std::array<std::array<Index, 4>, 9> kForms{{{1, 1, 1, 720},
                                                      {1, 1, 720, 1},
                                                      {1, 1, 9, 80},
                                                      {1, 10, 18, 4},
                                                      {5, 6, 3, 8},
                                                      {3, 5, 12, 4},
                                                      {2, 1, 3, 120},
                                                      {1, 40, 1, 18},
                                                      {4, 3, 4, 15}}};

Region random_form(std::mt19937& random, std::byte* first) {
  const auto& form = kForms[random() % kForms.size()];
  std::array<Index, 3> slack{};
  for (Index& s : slack) s = random() % 2 == 0 ? 0 : static_cast<Index>(random() % 9);
  return box_region(first, {form[0], form[1], form[2]}, form[3], slack);
}

constexpr Index kRoom = 16'384;  // bytes enough for every form

TEST_P(DeviceMemory, CopiesBetweenAllFormsOfRegionsEqualAPlainLoop) {
  device().commit({0, 2 * kRoom});
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> host(kRoom);
    for (std::byte& b : host) b = static_cast<std::byte>(random());
    std::vector<std::byte> result(kRoom, std::byte{0x77});
    // host -> device -> device -> host, in four independent forms
    const Region first = random_form(random, host.data() + random() % 32);
    const Region second = random_form(random, at(static_cast<Index>(random() % 32)));
    const Region third = random_form(random, at(kRoom + static_cast<Index>(random() % 32)));
    const Region fourth = random_form(random, result.data() + random() % 32);
    device().copy(second, first, {});
    const auto inside = device().copy(third, second, {});
    device().copy(fourth, third, std::span(&inside, 1)).wait();

    std::vector<std::byte> logical;
    for_bytes(first, [&](Index offset) { logical.push_back(first.first[offset]); });
    std::vector<std::byte> expected(kRoom, std::byte{0x77});
    std::size_t next = 0;
    for_bytes(fourth, [&](Index offset) {
      expected[static_cast<std::size_t>(fourth.first + offset - result.data())] = logical[next++];
    });
    ASSERT_EQ(result, expected) << "seed " << seed;
  }
}

TEST_P(DeviceMemory, FillSetsARegionAndNothingElse) {
  device().commit({0, kRoom});
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const Region region = random_form(random, at(static_cast<Index>(random() % 32)));
    device().fill(run_of(at(0), kRoom), std::byte{1}, {});
    device().fill(region, std::byte{0xff}, {});
    std::vector<std::byte> result(kRoom);
    settle();
    device().copy(run_of(result.data(), kRoom), run_of(at(0), kRoom), {}).wait();
    std::vector<std::byte> expected(kRoom, std::byte{1});
    for_bytes(region, [&](Index offset) {
      expected[static_cast<std::size_t>(region.first + offset - at(0))] = std::byte{0xff};
    });
    ASSERT_EQ(result, expected) << "seed " << seed;
  }
}

TEST_P(DeviceMemory, LargeStridedCopiesArriveWhole) {
  constexpr Index kRows = 1500;
  constexpr Index kRow = 2500;
  constexpr Index kPitch = 4096;
  device().commit({0, kRows * kPitch});
  std::vector<std::byte> host(kRows * kRow);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  std::vector<std::byte> back(host.size());
  const Region rows{at(100), {1, 1, kRows}, {0, 0, kPitch}, kRow};
  const auto in = device().copy(rows, run_of(host.data(), kRows * kRow), {});
  device().copy(run_of(back.data(), kRows * kRow), rows, std::span(&in, 1)).wait();
  EXPECT_TRUE(back == host);
}

TEST_P(DeviceMemory, OperationsOnNothingComplete) {
  const Region none{at(0), {3, 0, 2}, {64, 8, 8}, 8};
  device().copy(none, none, {});
  device().fill(none, std::byte{1}, {});
  const auto last = device().run(kernel(failing(), 0, Box{{0, 5}, {2, 2}}), {});
  last.wait();
  EXPECT_EQ(said(last), "");
}

// ---- memory ----

TEST_P(DeviceMemory, CommitIsIdempotentAndKeepsContents) {
  device().commit({0, kMiB});
  device().fill(run_of(at(0), kMiB), std::byte{0x5a}, {}).wait();
  device().commit({kMiB / 2, 3 * kMiB});
  device().commit({0, kMiB});
  device().commit({7, 7});
  EXPECT_EQ(read<std::byte>(kMiB - 1), std::byte{0x5a});
  device().fill(run_of(at(0), 3 * kMiB), std::byte{0x11}, {}).wait();
  EXPECT_EQ(read<std::byte>(3 * kMiB - 1), std::byte{0x11});
}

TEST_P(SparseDeviceMemory, OutOfMemoryNamesDeviceAndSizesAndChangesNothing) {
  device().commit({0, 10 * kMiB});
  device().fill(run_of(at(0), 10 * kMiB), std::byte{0x21}, {}).wait();
  try {
    device().commit({20 * kMiB, 28 * kMiB});
    FAIL() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(e.what(),
                testing::AllOf(testing::HasSubstr(device().properties().name), testing::HasSubstr("8 MiB"),
                               testing::HasSubstr("10 MiB"), testing::HasSubstr("16 MiB"),
                               testing::HasSubstr("NUNA_MEMORY_LIMIT")));
  }
  EXPECT_EQ(read<std::byte>(10 * kMiB - 1), std::byte{0x21});
  device().commit({20 * kMiB, 26 * kMiB});
  device().fill(run_of(at(20 * kMiB), 6 * kMiB), std::byte{1}, {}).wait();
}

TEST_P(DeviceMemory, ReleasedMemoryCanBeCommittedAgain) {
  for (int round = 0; round < 20; ++round) {
    const Index begin = GetParam().sparse ? 2 * round * kMiB : 0;
    device().commit({begin, begin + kLimit});
    device().fill(run_of(at(begin), kLimit), static_cast<std::byte>(round), {}).wait();
    EXPECT_EQ(read<std::byte>(begin + kLimit - 1), static_cast<std::byte>(round));
    device().release({begin, begin + kLimit});
  }
}

TEST_P(DeviceMemory, ReleasingAPartKeepsTheRest) {
  device().commit({0, 4 * kMiB});
  device().fill(run_of(at(0), 4 * kMiB), std::byte{0x33}, {}).wait();
  device().release({kMiB + 5, 3 * kMiB + 7});
  EXPECT_EQ(read<std::byte>(kMiB + 4), std::byte{0x33});
  EXPECT_EQ(read<std::byte>(3 * kMiB + 7), std::byte{0x33});
  const Index range = device().range_bytes();
  device().release({0, range});
  device().commit({range - kLimit, range});
}

}  // namespace
}  // namespace nuna::device::conformance
