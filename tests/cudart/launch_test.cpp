#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

class Launches : public Cudart {};

TEST_F(Launches, ComputeWhatTheKernelSays) {
  constexpr int kCount = 100'001;
  float* const data = device_floats(kCount);
  ASSERT_EQ(cudaMemset(data, 0, kCount * sizeof(float)), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(add(data, kCount, 1.5f), cudaSuccess);
  std::vector<float> values(kCount);
  ASSERT_EQ(cudaMemcpy(values.data(), data, kCount * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float v) { return v == 4.5f; }));
}

TEST_F(Launches, RunEachBlockOfThreeAxesOnce) {
  for (const dim3 grid : {dim3(7, 5, 3), dim3(1000, 3, 1), dim3(1, 1, 77), dim3(3, 1000, 2), dim3(4096)}) {
    const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
    std::vector<int> marks(blocks);
    int* pointer = marks.data();
    void* arguments[] = {&pointer};
    for (int round = 1; round <= 3; ++round) {
      ASSERT_EQ(launch(kMark, grid, 32, arguments), cudaSuccess);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_EQ(std::count(marks.begin(), marks.end(), round), static_cast<std::ptrdiff_t>(blocks));
    }
  }
}

TEST_F(Launches, CopyArgumentsAtTheCall) {
  ASSERT_EQ(sleep_on(5), cudaSuccess);
  int value = 1;
  void* arguments[] = {&value};
  ASSERT_EQ(launch(kAppend, 1, 1, arguments), cudaSuccess);
  value = 2;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(appended[0], 1);
}

TEST_F(Launches, TakeManyAndLargeArguments) {
  struct Wide {
    int first;
    int rest[3];
  };
  std::array<Wide, 20> values{};
  void* arguments[20];
  for (int i = 0; i < 20; ++i) {
    values[static_cast<std::size_t>(i)].first = i;
    arguments[i] = &values[static_cast<std::size_t>(i)];
  }
  ASSERT_EQ(launch(kWide, 1, 1, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counted, 190);
}

TEST_F(Launches, GiveBlocksTheScratchMemoryThatTheyAskFor) {
  ASSERT_EQ(launch(kShared, 64, dim3(33, 3, 2), nullptr, 40'000), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counted, 64);
}

TEST_F(Launches, RefuseShapesThatCannotBe) {
  EXPECT_EQ(launch(kEmpty, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kEmpty, 1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kEmpty, 1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kEmpty, 1, dim3(32, 33)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kEmpty, 1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kEmpty, dim3(1, 65536)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kEmpty, dim3(1, 1, 65536)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(kSmall, 1, 65), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(kEmpty, 0x7fffffffu), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Launches, RefuseSharedMemoryBeyondWhatWasAskedFor) {
  EXPECT_EQ(launch(kShared, 1, 32, nullptr, 48 * 1024), cudaErrorInvalidValue);
  ASSERT_EQ(cudaFuncSetAttribute(kShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
            cudaSuccess);
  EXPECT_EQ(launch(kShared, 1, 32, nullptr, 200 * 1024), cudaSuccess);
  EXPECT_EQ(launch(kShared, 1, 32, nullptr, 201 * 1024), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024),
            cudaErrorInvalidValue);
  ASSERT_EQ(cudaFuncSetAttribute(kShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 0), cudaSuccess);
}

TEST_F(Launches, RefuseKernelsThatThereAreNot) {
  int unknown = 0;
  EXPECT_EQ(launch(&unknown), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(kMissing), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(kEmpty, 1, 1, nullptr, 0, reinterpret_cast<cudaStream_t>(&unknown)),
            cudaErrorInvalidResourceHandle);
}

TEST_F(Launches, RefuseCodeForCpusThatThisIsNot) {
  if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi2")) GTEST_SKIP();
  EXPECT_EQ(launch(kFuture), cudaErrorNoKernelImageForDevice);
}

TEST_F(Launches, FindKernelsOfADeviceLinkByName) {
  if (on_gpus()) GTEST_SKIP() << "such images hold no code for GPUs";
  ASSERT_EQ(launch(kLinked, 5), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counted, 5);
}

TEST_F(Launches, OnGpusAreRefusedWhereAnImageHasNoCodeForThem) {
  if (!on_gpus()) GTEST_SKIP() << "the devices are the CPU's cores";
  EXPECT_EQ(launch(kLinked, 5), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(launch(kCount, 5), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counted, 5);
}

TEST_F(Launches, RefuseGridsThatAKernelCannotCount) {
  EXPECT_EQ(launch(kNarrow, 1 << 21, 1024), cudaErrorNotSupported);
  EXPECT_EQ(launch(kNarrow, 2, 1024), cudaSuccess);
}

TEST_F(Launches, TakeTheirShapeFromTheStackOfConfigurations) {
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(4, 2), dim3(8), 16, cudaStreamPerThread), 0u);
  dim3 grid;
  dim3 block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.x * 100 + grid.y * 10 + grid.z, 421u);
  EXPECT_EQ(block.x, 8u);
  EXPECT_EQ(shared, 16u);
  EXPECT_EQ(stream, cudaStreamPerThread);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

TEST_F(Launches, CooperateInGridsWhoseBlocksRunTogether) {
  constexpr int kBlocks = 7;
  constexpr int kRounds = 50;
  EXPECT_EQ(cudaLaunchCooperativeKernel(kMeet, 1, 32, nullptr, 0, nullptr), cudaErrorInvalidValue);
  int rounds = kRounds;
  std::atomic<int> counts[kRounds] = {};
  std::atomic<int>* to = counts;
  void* arguments[] = {&to, &rounds};
  ASSERT_EQ(cudaLaunchCooperativeKernel(kMeet, kBlocks, 32, arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const auto& count : counts) EXPECT_EQ(count.load(), kBlocks);
  EXPECT_EQ(cudaLaunchCooperativeKernel(kMeet, 100'000, 32, arguments, 0, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = kBlocks;
  config.blockDim = 1;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  ASSERT_EQ(cudaLaunchKernelExC(&config, kMeet, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const auto& count : counts) EXPECT_EQ(count.load(), 2 * kBlocks);
}

TEST_F(Launches, ComeFromAnyNumberOfThreads) {
  constexpr int kThreads = 8;
  constexpr int kEach = 500;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      cudaStream_t stream = nullptr;
      failures += cudaStreamCreate(&stream) != cudaSuccess;
      for (int i = 0; i < kEach; ++i) {
        failures += launch(kCount, 3, 1, nullptr, 0, stream) != cudaSuccess;
        if (i % 100 == 0) failures += cudaStreamSynchronize(stream) != cudaSuccess;
        void* memory = nullptr;
        failures += cudaMallocAsync(&memory, 1000, stream) != cudaSuccess;
        failures += cudaFreeAsync(memory, stream) != cudaSuccess;
      }
      failures += cudaStreamDestroy(stream) != cudaSuccess;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(counted, kThreads * kEach * 3);
}

TEST_F(Launches, AreAnsweredAfterMoreThanTheQueueHolds) {
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(launch(kCount), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counted, 20'000);
}

}  // namespace
}  // namespace cudart_test
