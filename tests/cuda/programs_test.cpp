// Programs give the same bits on GPUs as on the CPU, whatever the number of devices and ranks.

#include "cuda/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "device/cuda/cuda_device.hpp"
#include "nuna/error.hpp"

namespace nuna::programs {
namespace {

struct Shape {
  int ranks;
  int devices;
};

Options options(DeviceKind kind, int devices) {
  Options o;
  o.kind = kind;
  o.devices = devices;
  return o;
}

template <class Result>
Result run_on(DeviceKind kind, Shape shape, const std::function<Result(Context&)>& program) {
  Result result;
  std::mutex mutex;
  Context::in_process(shape.ranks, options(kind, shape.devices), [&](Context& context) {
    Result mine = program(context);
    const std::scoped_lock lock(mutex);
    if (context.rank() == 0) result = std::move(mine);
  });
  return result;
}

class CudaPrograms : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override { ASSERT_FALSE(device::find_cards().cards.empty()) << device::find_cards().why_none; }
  template <class Result>
  void expect_same(const std::function<Result(Context&)>& program) {
    const Result on_host = run_on<Result>(DeviceKind::host, {1, 1}, program);
    const Result on_cuda = run_on<Result>(DeviceKind::cuda, GetParam(), program);
    ASSERT_FALSE(on_host.empty());
    EXPECT_TRUE(on_host == on_cuda);
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, CudaPrograms,
                         testing::Values(Shape{1, 1}, Shape{1, 2}, Shape{1, 3}, Shape{2, 1}, Shape{3, 2}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.ranks) + "_ranks_" +
                                  std::to_string(shape.param.devices) + "_devices";
                         });

TEST_P(CudaPrograms, HeatHasTheSameBits) {
  expect_same<std::vector<float>>([](Context& c) { return heat(c, 50, 67, 6); });
}

TEST_P(CudaPrograms, TiledProductsHaveTheSameBits) {
  expect_same<std::vector<float>>([](Context& c) { return product(c, 37, 21, 29); });
}

TEST_P(CudaPrograms, ArithmeticHasTheSameBits) {
  expect_same<std::vector<double>>([](Context& c) { return arithmetic(c, 3000); });
}

TEST_P(CudaPrograms, FunctionsByPartRunInOrderOnTheirStream) {
  expect_same<std::vector<std::int64_t>>([](Context& c) { return row_sums(c, 60, 33); });
}

TEST_P(CudaPrograms, FillsCopiesAndViewsGiveTheSameBytes) {
  expect_same<std::vector<std::int32_t>>([](Context& c) { return fills_and_copies(c); });
}

TEST_P(CudaPrograms, NeighboursReadInPlaceHaveTheSameBits) {
  expect_same<std::vector<float>>([](Context& c) { return neighbours_in_place(c, 500); });
}

TEST(CudaContext, UsesTheMemoryOfAPeerInPlace) {
  Context context = Context::self(options(DeviceKind::cuda, 2));
  Buffer<float, 1> x(context, {10});
  EXPECT_EQ(context.describe(on(1, x), 0), "device 0 uses the memory of device 1 in place");
}

TEST_P(CudaPrograms, AdoptedHostMemoryHasTheSameBits) {
  expect_same<std::vector<float>>([](Context& c) { return adopted(c); });
}

TEST(CudaContext, UsesAdoptedCardMemoryInOrderWithStreamsOfTheProgram) {
  const auto on_host = run_on<std::vector<float>>(DeviceKind::host, {1, 1}, adopted);
  for (const int devices : {1, 2, 3})
    EXPECT_TRUE(on_host == run_on<std::vector<float>>(DeviceKind::cuda, {1, devices}, adopted_on_card))
        << devices;
}

TEST_P(CudaPrograms, AdoptedPinnedMemoryIsLeftPinned) {
  const base::LogCapture log;
  const auto on_cuda = run_on<std::vector<float>>(DeviceKind::cuda, GetParam(), adopted_pinned);
  EXPECT_TRUE(on_cuda == run_on<std::vector<float>>(DeviceKind::host, {1, 1}, adopted));
  EXPECT_THAT(log.lines(), testing::IsEmpty());
}

TEST_P(CudaPrograms, AKernelWithoutCodeForTheDeviceIsRefusedByName) {
  try {
    run_on<int>(DeviceKind::cuda, GetParam(), [](Context& c) {
      host_only(c);
      return 0;
    });
    FAIL() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unsupported);
    EXPECT_THAT(e.what(),
                testing::AllOf(testing::HasSubstr("'host only'"), testing::HasSubstr("nuna_add_kernels")));
  }
}

TEST(CudaContext, IsTheChoiceWhereThereAreGpusAndKernelsForThem) {
  ASSERT_FALSE(device::find_cards().cards.empty()) << device::find_cards().why_none;
  Context context = Context::self();
  EXPECT_EQ(context.devices(), static_cast<int>(device::find_cards().cards.size()));
}

}  // namespace
}  // namespace nuna::programs
