// Several devices: run with NUNA_DEVICES=3, as all of these tests are once more.

#include <cstdlib>
#include <numeric>
#include <vector>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

class Spread : public Cudart {
 protected:
  void SetUp() override {
    const char* const devices = std::getenv("NUNA_DEVICES");
    if (devices == nullptr || std::atoi(devices) < 2) GTEST_SKIP() << "one device has nothing to share";
    Cudart::SetUp();
    added.clear();
  }
  /// On host devices, whose kernel tells; on GPUs no host code runs.
  static void expect_parts(std::size_t parts) { EXPECT_EQ(added.size(), on_gpus() ? 0 : parts); }
  static std::size_t devices() { return static_cast<std::size_t>(std::atoi(std::getenv("NUNA_DEVICES"))); }
  static std::vector<float> fetched(const float* data, std::size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }
};

TEST_F(Spread, AKernelRunsOnEachDeviceWithItsOwnMemory) {
  constexpr int kCount = 100'000;
  float* const data = device_floats(kCount);
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), 0.0f);
  ASSERT_EQ(cudaMemcpy(data, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(add(data, kCount, 1), cudaSuccess);
  ASSERT_EQ(add(data, kCount, 2), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  expect_parts(devices());
  EXPECT_EQ(added.count(data), 0u);
  for (float& value : values) value += 3;
  EXPECT_EQ(fetched(data, kCount), values);
}

TEST_F(Spread, WhatBlocksDoNotTouchStays) {
  constexpr int kCount = 10'000;
  float* const data = device_floats(kCount + 2);
  std::vector<float> values(kCount + 2, 5.0f);
  ASSERT_EQ(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(add(data + 1, kCount, 1), cudaSuccess);
  std::fill(values.begin() + 1, values.end() - 1, 6.0f);
  EXPECT_EQ(fetched(data, values.size()), values);
  expect_parts(devices());
}

TEST_F(Spread, FewBlocksRunOnOneDevice) {
  float* const data = device_floats(256);
  ASSERT_EQ(cudaMemset(data, 0, 256 * sizeof(float)), cudaSuccess);
  ASSERT_EQ(add(data, 256, 1), cudaSuccess);
  EXPECT_EQ(fetched(data, 256), std::vector<float>(256, 1.0f));
  expect_parts(1);
  EXPECT_EQ(added.count(data), 0u);
}

TEST_F(Spread, TheHostSeesManagedMemoryAsTheDevicesLeftIt) {
  constexpr int kCount = 50'000;
  float* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&data), kCount * sizeof(float)), cudaSuccess);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < kCount; ++i) data[i] = static_cast<float>(i);
    ASSERT_EQ(add(data, kCount, static_cast<float>(round)), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(data[i], static_cast<float>(i + round)) << i;
  }
  expect_parts(devices());
}

TEST_F(Spread, OperationsKeepTheirOrder) {
  constexpr int kCount = 30'000;
  float* const data = device_floats(kCount);
  float* const other = device_floats(kCount);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(cudaMemsetAsync(data, 0, kCount * sizeof(float)), cudaSuccess);
    ASSERT_EQ(add(data, kCount, 1), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(other, data, kCount * sizeof(float), cudaMemcpyDeviceToDevice), cudaSuccess);
    ASSERT_EQ(add(other, kCount, 2), cudaSuccess);
    ASSERT_EQ(add(data, kCount, 4), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(event), cudaSuccess);
    ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
    ASSERT_EQ(fetched(other, kCount), std::vector<float>(kCount, 3.0f)) << round;
    ASSERT_EQ(fetched(data, kCount), std::vector<float>(kCount, 5.0f)) << round;
  }
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Spread, MoreKindsOfLaunchesThanAreRememberedAreAllRight) {
  constexpr int kMost = 4000;
  constexpr int kKinds = 1500;
  float* const data = device_floats(kMost);
  ASSERT_EQ(cudaMemset(data, 0, kMost * sizeof(float)), cudaSuccess);
  std::vector<float> values(kMost);
  for (int round = 0; round < 2; ++round) {
    for (int count = kMost - kKinds; count < kMost; ++count) {
      ASSERT_EQ(add(data, count, 1), cudaSuccess);
      for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] += 1;
    }
  }
  EXPECT_EQ(fetched(data, kMost), values);
}

TEST_F(Spread, UploadsOfAllKindsReachTheLaunchesBehindThem) {
  constexpr std::size_t kCount = 50'000;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  float* const data = device_floats(kCount);
  float* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned), kBytes), cudaSuccess);
  std::vector<float> values(kCount);
  for (int round = 1; round <= 4; ++round) {
    const auto number = static_cast<float>(round);
    std::fill(pinned, pinned + kCount, number);
    ASSERT_EQ(cudaMemcpyAsync(data, pinned, kBytes, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(add(data, kCount, 1), cudaSuccess);
    EXPECT_EQ(fetched(data, kCount), std::vector<float>(kCount, number + 1));

    ASSERT_EQ(cudaMemset(data, 0, kBytes), cudaSuccess);
    ASSERT_EQ(add(data, kCount, number), cudaSuccess);
    EXPECT_EQ(fetched(data, kCount), std::vector<float>(kCount, number));

    std::fill(values.begin(), values.end(),
              number);  // a few in the midst, which change while they are on their way
    ASSERT_EQ(add(data, kCount, number), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(data + 100, values.data(), 400, cudaMemcpyHostToDevice), cudaSuccess);
    std::fill_n(values.begin(), 100, -1.0f);
    ASSERT_EQ(add(data, kCount, 1), cudaSuccess);
    std::fill(values.begin(), values.end(), 2 * number + 1);
    std::fill_n(values.begin() + 100, 100, number + 1);
    EXPECT_EQ(fetched(data, kCount), values);

    const std::vector<float> rows(100 * 300, -number);  // 100 rows of 300 numbers in rows of 500
    ASSERT_EQ(cudaMemcpy2D(data, 2000, rows.data(), 1200, 1200, 100, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(add(data, kCount, 1), cudaSuccess);
    for (std::size_t i = 0; i < kCount; ++i) values[i] = i % 500 < 300 ? 1 - number : values[i] + 1;
    EXPECT_EQ(fetched(data, kCount), values);
  }
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Spread, PointersToOtherMemoryRunOnTheHost) {
  constexpr int kCount = 30'000;
  float* data = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&data), kCount * sizeof(float)), cudaSuccess);
  std::fill(data, data + kCount, 1.0f);
  ASSERT_EQ(add(data, kCount, 1), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<float>(data, data + kCount), std::vector<float>(kCount, 2.0f));
  EXPECT_EQ(added, std::set<const float*>{data});
  EXPECT_EQ(cudaFreeHost(data), cudaSuccess);
}

}  // namespace
}  // namespace cudart_test
