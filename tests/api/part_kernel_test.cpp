// Kernels by part: host code that is called once for each device's part, in order with what shares its data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What the calls of a launch were given.
struct Calls {
  std::mutex mutex;
  std::vector<Part> parts;
  void note(const Part& part) {
    const std::lock_guard lock(mutex);
    parts.push_back(part);
  }
  std::vector<Part> sorted() {
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.threads[0].begin < b.threads[0].begin; });
    return parts;
  }
};

TEST(PartKernel, IsCalledOnceForEachPartAndTheBoxesCoverTheDomain) {
  for (const int devices : {1, 3}) {
    Context context = Context::self(with_devices(devices, 2));
    Buffer<int, 2> x(context, {50, 8});
    Calls calls;
    const auto caller = std::this_thread::get_id();
    context.launch(
        "parts", Domain(Box{{3, 47}, {0, 8}}).within({50, 8}), block(4, 8),
        [&](const Part& part, View<int, 2> view) {
          EXPECT_NE(std::this_thread::get_id(), caller);
          EXPECT_FALSE(part.on_cuda());
          EXPECT_EQ(part.cuda_device(), -1);
          EXPECT_EQ(part.stream<void*>(), nullptr);
          for (Index i = part.box()[0].begin; i < part.box()[0].end; ++i)
            std::fill(&view(i, 0), &view(i, 0) + view.extent(1), static_cast<int>(i));
          calls.note(part);
        },
        write(x));
    context.wait();
    const std::vector<Part> parts = calls.sorted();
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(devices));
    Index at = 3;
    for (const Part& part : parts) {
      EXPECT_EQ(part.box()[0].begin, at);
      EXPECT_EQ(part.box()[1], (Interval{0, 8}));
      EXPECT_EQ(part.blocks[0], (Interval{part.box()[0].begin / 4, (part.box()[0].end + 3) / 4}));
      at = part.box()[0].end;
    }
    EXPECT_EQ(at, 47);
    const auto view = x.host_at(0, Box{{3, 47}, {0, 8}});
    for (Index i = 3; i < 47; ++i) ASSERT_EQ(view(i, 7), i);
  }
}

TEST(PartKernel, IsCalledOnceForEachPartOnAnyRanks) {
  Context::in_process(3, with_devices(2), [&](Context& context) {
    Buffer<int, 1> x(context, {60});
    Calls calls;
    context.launch(
        "parts", {60}, block(1), [&](const Part& part, View<int, 1>) { calls.note(part); }, may_write(x));
    context.wait();
    EXPECT_EQ(calls.parts.size(), 2U);
  });
}

/// Prefix sums of each part, by a library function of the host.
struct PrefixOfPart {
  void operator()(const Part& part, View<const int, 1> in, View<int, 1> out) const {
    const Interval mine = part.box()[0];
    std::partial_sum(&in(mine.begin), &in(mine.begin) + mine.size(), &out(mine.begin));
  }
};

TEST(PartKernel, RunsInOrderWithTheLaunchesThatShareItsData) {
  constexpr Index kSize = 40'000;
  for (const char* ahead : {"0", "1"}) {
    setenv("NUNA_OVERLAP", ahead, 1);
    for (const int ranks : {1, 2}) {
      Context::in_process(ranks, with_devices(2, 2), [&](Context& context) {
        Buffer<int, 1> x(context, {kSize}), y(context, {kSize});
        for (int round = 0; round < 20; ++round) {
          context.launch("set", {kSize}, block(1), SetIndex{}, write(x));
          context.launch("neighbours", {kSize}, block(1), Neighbours{}, read(x, halo(1)), write(y));
          context.launch("prefix", {kSize}, block(1), PrefixOfPart{}, read(y), write(x));
          context.launch("add one", {kSize}, block(1), AddOne{}, read_write(x));
        }
        const auto view = x.host(Access::read);
        const Index part = kSize / ranks / 2;
        int sum = 0;
        for (Index i = 0; i < kSize; ++i) {
          const auto neighbours = static_cast<int>(i == 0 ? 1 : i == kSize - 1 ? i + i + i - 1 : 3 * i);
          sum = i % part == 0 ? neighbours : static_cast<int>(static_cast<unsigned>(sum) + neighbours);
          ASSERT_EQ(view(i), sum + 1) << i << ", " << ranks << " ranks";
        }
      });
    }
  }
  unsetenv("NUNA_OVERLAP");
}

TEST(PartKernel, IsNeverDividedEvenWhereHalosTravel) {
  setenv("NUNA_OVERLAP", "1", 1);
  Context::in_process(2, with_devices(2), [&](Context& context) {
    Buffer<int, 1> x(context, {1000}), y(context, {1000});
    context.launch("set", {1000}, block(1), SetIndex{}, write(x));
    Calls calls;
    context.launch(
        "parts", {1000}, block(1),
        [&](const Part& part, View<const int, 1>, View<int, 1>) { calls.note(part); }, read(x, halo(1)),
        may_write(y));
    context.wait();
    ASSERT_EQ(calls.parts.size(), 2U);
    for (const Part& part : calls.parts) EXPECT_EQ(part.box().count(), 250);
  });
  unsetenv("NUNA_OVERLAP");
}

TEST(PartKernel, ThatThrowsFailsItsLaunch) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  context.launch(
      "library", {10}, block(1),
      [](const Part&, View<int, 1>) { throw std::runtime_error("the library said 3"); }, write(x));
  std::string text;
  EXPECT_EQ(code_of([&] { context.wait(); }, &text), ErrorCode::kernel_failed);
  EXPECT_THAT(text, AllOf(HasSubstr("kernel 'library' failed"), HasSubstr("the library said 3")));
}

TEST(PartKernel, CannotUseTheContext) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  context.launch("nested", {10}, block(1), [&](const Part&, View<int, 1>) { context.wait(); }, write(x));
  EXPECT_EQ(code_of([&] { context.wait(); }), ErrorCode::kernel_failed);
}

TEST(PartKernel, FindsStridesAndPointersForLibraries) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 3> x(context, {6, 5, 4});
  context.fill(x, 1);
  context.launch(
      "strides", {6, 5, 4}, block(1, 1, 1),
      [](const Part& part, View<int, 3> view) {
        const Box& box = part.box();
        int* const first = &view(box[0].begin, box[1].begin, box[2].begin);
        EXPECT_EQ(first, view.data_handle() + box[0].begin * view.stride(0) + box[1].begin * view.stride(1) +
                             box[2].begin * view.stride(2));
        for (Index i = 0; i < box[0].size(); ++i)
          for (Index j = 0; j < box[1].size(); ++j)
            for (Index k = 0; k < box[2].size(); ++k)
              first[i * view.stride(0) + j * view.stride(1) + k] = static_cast<int>(view.stride(2)) + 1;
      },
      read_write(x));
  const auto view = x.host(Access::read);
  EXPECT_EQ(std::count(view.begin(), view.end(), 2), 120);
}

}  // namespace
}  // namespace nuna::test
