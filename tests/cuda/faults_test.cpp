// What becomes of a program when its driver or its GPUs fail. Each fault has a process of its own: the stand-in for the driver is
// told at its start what is to fail. (On a real driver nothing fails on demand: tests/gpu/run leaves these out.)

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cuda/programs.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/host_pins.hpp"
#include "nuna/error.hpp"

namespace nuna::programs {
namespace {

Options cuda(int devices = 1) {
  Options o;
  o.kind = DeviceKind::cuda;
  o.devices = devices;
  return o;
}

// Runs a program to its end, Context and all, and tells how it went: exit code 3 for an Error.
[[noreturn]] void tell(const std::function<void()>& program) {
  try {
    program();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", to_string(e.code()), e.what());
    std::exit(3);
  }
  std::exit(0);
}

constexpr const char* kNowhere = "/nonexistent/libcuda.so.1";

class CudaFaultsDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void TearDown() override { unsetenv("NUNA_TEST_CUDA"); }
  static void fault(const char* text) { setenv("NUNA_TEST_CUDA", text, 1); }
};

const auto kRefused = testing::ExitedWithCode(3);
const auto kFine = testing::ExitedWithCode(0);

void heat_on(int devices) {
  tell([=] {
    Context context = Context::self(cuda(devices));
    heat(context, 40, 40, 12);
  });
}

TEST_F(CudaFaultsDeathTest, AKernelThatLeavesItsArraysIsNamedAndItsDeviceLost) {
  fault("devices=1");
  EXPECT_EXIT(tell([] {
                Context context = Context::self(cuda());
                programs::fault(context);
              }),
              kRefused,
              "device_lost: .*device cuda:0.* broke while its GPU ran .*'wild' on cuda:0: "
              ".*CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(CudaFaultsDeathTest, ALostDeviceReleasesTheOtherRanks) {
  fault("devices=2");
  EXPECT_EXIT(tell([] {
                Context::in_process(3, cuda(), [](Context& context) {
                  if (context.rank() == 0) {
                    programs::fault(context);  // which is a call that the others do not make
                  } else {
                    heat(context, 40, 40, 3);
                  }
                });
              }),
              kRefused,
              "device_lost: .*device rank . cuda:0.* broke while its GPU ran .*'wild' on rank 0 cuda:0");
}

TEST_F(CudaFaultsDeathTest, ADeviceThatVanishesInTheMiddleIsNamed) {
  fault("devices=2,lose=0@9");
  EXPECT_EXIT(heat_on(2), kRefused,
              "device_lost: .*device cuda:0.* broke while its GPU ran .*CUDA_ERROR_LAUNCH_FAILED");
}

TEST_F(CudaFaultsDeathTest, OutOfMemoryTellsSizes) {
  fault("devices=1,fail=cuMemCreate@*:CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EXIT(heat_on(1), kRefused,
              "out_of_memory: .*wanted.*cuMemCreate .2 MiB on cuda:0.*CUDA_ERROR_OUT_OF_MEMORY");
}

TEST_F(CudaFaultsDeathTest, ARefusedLaunchIsNamed) {
  fault("devices=1,fail=cuLaunchKernel@3:CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  EXPECT_EXIT(
      heat_on(1), kRefused,
      "device_failed: cuLaunchKernel .'jacobi' on cuda:0. failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
}

TEST_F(CudaFaultsDeathTest, ARefusedCopyTellsItsSize) {
  fault("devices=1,fail=cuMemcpyAsync@5:CUDA_ERROR_INVALID_VALUE");
  EXPECT_EXIT(heat_on(1), kRefused,
              "device_failed: cuMemcpyAsync .[0-9.]+ K?i?B by cuda:0. failed with CUDA_ERROR_INVALID");
}

// The cards do not reach each other, so that halves go through staging blocks, part by part.
TEST_F(CudaFaultsDeathTest, AFailedPartOfAStagedCopyIsNotLost) {
  const auto turn = [] {
    constexpr Index kCount = Index{3} << 18;
    Context context = Context::self(cuda(2));
    const std::vector<float> turned = half_turn(context, kCount);
    for (Index i = 0; i < kCount; ++i) {
      if (turned[static_cast<std::size_t>(i)] != static_cast<float>((i + kCount / 2) % kCount % 1000))
        std::exit(9);
    }
  };
  for (const int nth : {24, 26, 28}) {
    fault(
        ("devices=2,peer=0,fail=cuMemcpyAsync@" + std::to_string(nth) + ":CUDA_ERROR_OUT_OF_MEMORY").c_str());
    EXPECT_EXIT(tell(turn), [](int status) { return kRefused(status) || kFine(status); }, "") << nth;
  }
}

TEST_F(CudaFaultsDeathTest, WhatIsOnACardThatIsNotReachedIsCopied) {
  fault("devices=2,peer=0");
  EXPECT_EXIT(tell([] {
                std::vector<float> wanted;
                {
                  Options host;
                  host.kind = DeviceKind::host;
                  Context context = Context::self(host);
                  wanted = neighbours_in_place(context, 500);
                }
                Context context = Context::self(cuda(2));
                if (neighbours_in_place(context, 500) != wanted) std::exit(9);
                Buffer<float, 1> x(context, {10});
                throw Error(ErrorCode::unsupported, context.describe(on(1, x), 0));
              }),
              kRefused, "device 0 uses a copy: its GPU has no peer access to that of device 1");
}

// A copy through the CPU's hands comes after one by the engine that it follows.
TEST_F(CudaFaultsDeathTest, ABouncedCopyWaitsForWhatItReads) {
  fault("devices=1,slow=cuMemcpyAsync:20000us");
  EXPECT_EXIT(tell([] {
                constexpr Index kPage = 4096;
                base::Doorbell bell;
                device::CudaDeviceConfig config;
                config.name = "cuda:0";
                config.range_bytes = std::size_t{1} << 26;
                config.memory_bytes = std::size_t{1} << 24;
                config.bell = &bell;
                config.pins = device::make_host_pins(0);
                const auto card = device::make_cuda_device(config);
                auto* host = static_cast<std::byte*>(
                    mmap(nullptr, 16 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
                std::fill_n(host, 16 * kPage, std::byte{1});
                config.pins->manage(host, 16 * kPage);
                card->commit({0, 1 << 20});
                const auto run = [](std::byte* first, Index bytes) {
                  return device::Region{first, {1, 1, 1}, {}, bytes};
                };
                card->fill(run(card->base(), kPage), std::byte{7}, {}).wait();
                const auto out = card->copy(run(host, kPage), run(card->base(), kPage), {});
                std::byte* there = card->base() + (1 << 16);
                const auto in = card->copy(run(there, 4 * kPage), run(host, 4 * kPage), std::span(&out, 1));
                std::byte got{};
                card->copy(run(&got, 1), run(there, 1), std::span(&in, 1)).wait();
                if (got != std::byte{7}) std::exit(9);
              }),
              kFine, "");
}

TEST_F(CudaFaultsDeathTest, AStreamThatCannotBeMadeIsRefusedAtTheCreation) {
  fault("devices=1,fail=cuStreamCreateWithPriority@2:CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EXIT(heat_on(1), kRefused, "out_of_memory: cuStreamCreateWithPriority .cuda:0 in. failed");
}

TEST_F(CudaFaultsDeathTest, AContextThatCannotBeMadeIsRefusedAtTheCreation) {
  fault("devices=1,fail=cuDevicePrimaryCtxRetain@*:CUDA_ERROR_DEVICE_UNAVAILABLE");
  EXPECT_EXIT(heat_on(1), kRefused, "device_lost: cuDevicePrimaryCtxRetain");
}

TEST_F(CudaFaultsDeathTest, AnEventThatFailsIsAFailureOfItsOperation) {
  fault("devices=1,fail=cuEventRecord@6:CUDA_ERROR_INVALID_HANDLE");
  EXPECT_EXIT(heat_on(1), kRefused,
              "device_failed: cuEventRecord .cuda:0.* failed with CUDA_ERROR_INVALID_HANDLE");
}

TEST_F(CudaFaultsDeathTest, AnArchitectureWithoutCodeIsRefusedByName) {
  fault("devices=1,capability=70");
  EXPECT_EXIT(heat_on(1), kRefused, "unsupported: .*CMAKE_CUDA_ARCHITECTURES");
}

TEST_F(CudaFaultsDeathTest, HostMemoryThatCannotBePinnedIsCopiedAllTheSame) {
  fault("devices=2,fail=cuMemHostRegister@*:CUDA_ERROR_OPERATING_SYSTEM");
  EXPECT_EXIT(heat_on(2), kFine, "host memory is not pinned any more");
}

TEST_F(CudaFaultsDeathTest, WithoutGpusTheCpuIsTaken) {
  fault("devices=0");
  EXPECT_EXIT(tell([] {
                Context context = Context::self();
                heat(context, 20, 20, 2);
              }),
              kFine, "");
  EXPECT_EXIT(heat_on(1), kRefused,
              "unsupported: there are no CUDA devices: .*CUDA_ERROR_NO_DEVICE.*NUNA_DEVICE=host");
}

TEST_F(CudaFaultsDeathTest, WithoutADriverTheCpuIsTaken) {
  const std::string driver = std::getenv("NUNA_CUDA_DRIVER");
  setenv("NUNA_CUDA_DRIVER", kNowhere, 1);
  EXPECT_EXIT(tell([] {
                Context context = Context::self();
                heat(context, 20, 20, 2);
              }),
              kFine, "");
  EXPECT_EXIT(heat_on(1), testing::ExitedWithCode(3),
              "unsupported: there are no CUDA devices: .*/nonexistent");
  setenv("NUNA_CUDA_DRIVER", driver.c_str(), 1);
}

}  // namespace
}  // namespace nuna::programs
