// Several threads use one GPU at the same time (HPE, section 4.1), and host memory is pinned and let go of meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cuda/programs.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/host_pins.hpp"
#include "nuna/error.hpp"

namespace nuna::programs {
namespace {

class CudaSharing : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(device::find_cards().cards.empty()) << device::find_cards().why_none; }
  static Options cuda(int devices) {
    Options o;
    o.kind = DeviceKind::cuda;
    o.devices = devices;
    return o;
  }
};

TEST_F(CudaSharing, ThreadsWithContextsOfTheirOwnShareACard) {
  Options host;
  host.kind = DeviceKind::host;
  std::vector<float> wanted;
  {
    Context context = Context::self(host);
    wanted = heat(context, 40, 40, 5);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; ++round) {
        Context context = Context::self(cuda(1 + t % 2));
        if (heat(context, 40, 40, 5) != wanted) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(CudaSharing, ThreadsShareOneContext) {
  Context context = Context::self(cuda(2));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const std::vector<double> first = arithmetic(context, 300);
      for (int round = 0; round < 4; ++round) {
        if (arithmetic(context, 300) != first) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(CudaSharing, ThreadsOfOneContextUseEachOthersMemory) {
  Context context = Context::self(cuda(3));
  const std::vector<float> first = neighbours_in_place(context, 200);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        if (neighbours_in_place(context, 200) != first) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(CudaSharing, ASmallNeighbourDoesNotHoldALargeBuffersMemory) {
  constexpr Index kMiB = Index{1} << 20;
  base::Doorbell bell;
  device::CudaDeviceConfig config;
  config.name = "cuda:0";
  config.range_bytes = std::size_t{1} << 30;
  config.memory_bytes = 40 * kMiB;
  config.bell = &bell;
  const auto card = device::make_cuda_device(config);
  card->commit({0, 31 * kMiB});
  card->commit({31 * kMiB, 31 * kMiB + 4096});
  card->release({0, 31 * kMiB});
  card->commit({64 * kMiB, 100 * kMiB});
  card->release({31 * kMiB, 31 * kMiB + 4096});
  card->commit({100 * kMiB, 104 * kMiB});
}

TEST_F(CudaSharing, PinsMeltAndEndWhenTheirPagesGo) {
  constexpr Index kPage = 4096;
  const auto pins = device::make_host_pins(0);
  std::vector<std::byte> memory(64 * kPage);
  auto* const first = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(memory.data()) + kPage - 1) / kPage * kPage);
  EXPECT_EQ(pins->pin(first, 100, 100), nullptr);  // not managed
  pins->manage(first, 32 * kPage);
  auto small = pins->pin(first, 100, 100);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(pins->pin(first + 50, 3 * kPage, 3 * kPage), nullptr);  // a part of it is in use
  small.reset();
  auto large = pins->pin(first + 50, 3 * kPage, 3 * kPage);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(pins->pin(first, 10, 10), large);                               // lies in it
  EXPECT_EQ(pins->pin(first + 31 * kPage, 2 * kPage, 2 * kPage), nullptr);  // beyond what is managed
  std::thread later([&, held = std::move(large)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    held.reset();
  });
  pins->forget(first, kPage);  // waits for it
  later.join();
  EXPECT_NE(pins->pin(first, kPage, kPage), nullptr);
  pins->unmanage(first);
  EXPECT_EQ(pins->pin(first, kPage, kPage), nullptr);
}

}  // namespace
}  // namespace nuna::programs
