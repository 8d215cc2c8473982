// Launches on one device, and arguments that lie on a device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct AddFirst {
  NUNA_KERNEL void operator()(Thread t, View<const int, 1> from, View<int, 1> x) const {
    x(t.global(0)) += from(t.global(0));
  }
};
struct WhoRuns {
  void operator()(const Part& part, View<int, 1> parts) const {
    parts(part.box()[0].begin) = static_cast<int>(part.box()[0].size());
  }
};

std::vector<int> contents(Buffer<int, 1>& buffer) {
  auto view = buffer.host(Access::read);
  return {view.begin(), view.end()};
}

std::int64_t copied_bytes(const Context& context) {
  return nlohmann::json::parse(context.stats())["bytes_by_route"]["device_to_device"].get<std::int64_t>();
}

TEST(OneDevice, RunsAllThreadsAsOnePart) {
  Context context = Context::self(with_devices(3));
  Buffer<int, 1> x(context, {90});
  context.fill(x, 0);
  context.launch("who", on(2), {90}, block(1), WhoRuns{}, may_write(x, whole()));
  const std::vector<int> parts = contents(x);
  EXPECT_EQ(parts[0], 90);
  EXPECT_EQ(parts[30], 0);
}

TEST(OneDevice, OfSeveralRanksGivesAllOfThemTheResult) {
  for (const int device : {0, 1, 2, 3}) {
    Context::in_process(2, with_devices(2), [&](Context& context) {
      Buffer<int, 1> x(context, {50});
      Buffer<int, 1> y(context, {50});
      context.launch("set", {50}, block(1), SetIndex{}, write(x));
      context.launch("neighbours", on(device), {50}, block(1), Neighbours{}, read(x, halo(1)), write(y));
      context.launch("add", {50}, block(1), AddFirst{}, on(device, x), read_write(y));
      EXPECT_EQ(contents(y)[24], 4 * 24) << device;
    });
  }
}

TEST(OneDevice, ThatIsNotThereIsRefused) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  std::string text;
  const auto launch = [&](int device) {
    return [&, device] { context.launch("set", on(device), {10}, block(1), SetIndex{}, write(x)); };
  };
  EXPECT_EQ(code_of(launch(2), &text), ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("launch 'set' at on_device_test.cpp:"));
  EXPECT_THAT(text, HasSubstr("is on device 2, but the Context has 2 devices, 0 to 1"));
  EXPECT_EQ(code_of(launch(-1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { context.launch("set", {10}, block(1), SetIndex{}, on(-1, write(x))); }),
            ErrorCode::invalid_argument);
}

TEST(OneDevice, ThatRunsWhereAnotherRanksDoesIsFoundAsADifference) {
  EXPECT_EQ(code_of([] {
              Context::in_process(2, with_devices(2), [](Context& context) {
                Buffer<int, 1> x(context, {10});
                context.launch("set", on(context.rank()), {10}, block(1), SetIndex{}, write(x));
                context.sum(1);
              });
            }),
            ErrorCode::diverged);
}

TEST(OnDevice, ANeighboursBufferIsReadWhereItLies) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {1000});
  Buffer<int, 1> y(context, {1000});
  context.launch("set", on(1), {1000}, block(1), SetIndex{}, write(x));
  context.launch("set", on(0), {1000}, block(1), SetIndex{}, write(y));
  context.launch("add", on(0), {1000}, block(1), AddFirst{}, on(1, x), read_write(y));
  context.wait();
  EXPECT_EQ(copied_bytes(context), 0);
  EXPECT_EQ(contents(y)[777], 2 * 777);
  context.launch("add", on(0), {1000}, block(1), AddFirst{}, read(x), read_write(y));
  context.wait();
  EXPECT_EQ(copied_bytes(context), 4000) << "without on() it has an instance of its own";
}

TEST(OnDevice, WhatIsWrittenThereIsThere) {
  Context context = Context::self(with_devices(3));
  Buffer<int, 1> x(context, {900});
  context.launch("set", {900}, block(1), SetIndex{}, on(1, write(x)));
  context.launch("add one", on(1), {900}, block(1), AddOne{}, read_write(x));
  context.wait();
  EXPECT_EQ(copied_bytes(context), 0);
  EXPECT_EQ(contents(x)[899], 900);
}

TEST(OneDevice, CopiesAndFillsWhereItIsAsked) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {100});
  Buffer<int, 1> y(context, {100});
  context.fill(on(0), x, 3);
  context.fill(on(1), y, 5);
  context.copy_box(on(1), y, Box{{0, 10}}, x, Box{{90, 100}});
  context.launch("add one", on(1), {100}, block(1), AddOne{}, read_write(y));
  context.wait();
  EXPECT_EQ(copied_bytes(context), 40) << "what was copied, once";
  EXPECT_EQ(contents(y)[9], 4);
  EXPECT_EQ(contents(y)[10], 6);
  EXPECT_EQ(code_of([&] { context.fill(on(2), x, 1); }), ErrorCode::invalid_argument);
}

TEST(OnDevice, IsDescribed) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  EXPECT_EQ(context.describe(on(1, x), 0), "device 0 uses the memory of device 1 in place");
  EXPECT_EQ(context.describe(on(0, write(x)), 0), "device 0 uses its own memory");
  EXPECT_EQ(context.describe(read(x), 1), "device 1 uses its own memory");
  EXPECT_EQ(code_of([&] { static_cast<void>(context.describe(on(2, x), 0)); }), ErrorCode::invalid_argument);
  Context::in_process(2, with_devices(1), [](Context& ranks) {
    Buffer<int, 1> y(ranks, {10});
    EXPECT_EQ(ranks.describe(on(1, y), 0), "device 0 uses a copy: device 1 belongs to rank 1");
  });
}

TEST(OnDevice, IsPrintedByADryRun) {
  ::testing::internal::CaptureStdout();
  {
    Options options = with_devices(2);
    options.dry_run = true;
    Context context = Context::self(options);
    Buffer<int, 1> x(context, {60});
    Buffer<int, 1> y(context, {60});
    context.launch("set", on(1), {60}, block(1), SetIndex{}, write(x));
    context.launch("neighbours", on(0), {60}, block(1), Neighbours{}, on(1, x), write(y));
  }
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("rank 0: run part 0 on device 1: threads [0, 60)"));
  EXPECT_THAT(text, HasSubstr("run on device 0: threads [0, 60), argument 0 in place 2"));
  EXPECT_THAT(text, Not(HasSubstr("copy")));
}

// HPE, section 4.1: threads share all devices of a Context, each launches on one.
TEST(OnDevice, ThreadsWithADeviceEachReadTheirNeighbours) {
  constexpr int kDevices = 4;
  constexpr int kSteps = 25;
  Context context = Context::self(with_devices(kDevices));
  std::vector<Buffer<int, 1>> all;
  for (int d = 0; d < kDevices; ++d) {
    all.emplace_back(context, Extents{64});
    context.fill(all.back(), d);
  }
  context.wait();
  std::vector<std::thread> threads;
  for (int d = 0; d < kDevices; ++d) {
    threads.emplace_back([&, d] {
      const auto at = [&](int which) -> Buffer<int, 1>& { return all[static_cast<std::size_t>(which)]; };
      Buffer<int, 1> sum(context, {64});
      context.launch("set", on(d), {64}, block(1), SetIndex{}, write(sum));
      for (int step = 0; step < kSteps; ++step) {
        const int other = (d + step) % kDevices;
        context.launch("add", on(d), {64}, block(1), AddFirst{}, on(other, at(other)), read_write(sum));
      }
      int expected = 10;
      for (int step = 0; step < kSteps; ++step) expected += (d + step) % kDevices;
      EXPECT_EQ(contents(sum)[10], expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nuna::test
