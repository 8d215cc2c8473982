#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <numeric>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::HasSubstr;

std::vector<int> contents(Buffer<int, 1>& buffer) {
  auto view = buffer.host(Access::read);
  return {view.begin(), view.end()};
}

TEST(Launch, RunsEveryThreadOnceWhateverTheDevices) {
  for (const int devices : {1, 2, 3}) {
    Context context = Context::self(with_devices(devices, 2));
    Buffer<int, 1> x(context, {1000});
    context.fill(x, 7);
    context.launch("add one", {1000}, block(16), AddOne{}, read_write(x));
    EXPECT_EQ(contents(x), std::vector<int>(1000, 8)) << devices << " devices";
  }
}

TEST(Launch, OrdersLaunchesByTheirData) {
  Context context = Context::self(with_devices(3));
  Buffer<int, 1> x(context, {100});
  Buffer<int, 1> y(context, {100});
  context.launch("set", {100}, block(1), SetIndex{}, write(x));
  for (int i = 0; i < 50; ++i) {
    context.launch("neighbours", {100}, block(1), Neighbours{}, read(x, halo(1)), write(y));
    context.launch("neighbours", {100}, block(1), Neighbours{}, read(y, halo(1)), write(x));
    context.launch("set", {100}, block(1), SetIndex{}, write(x));
  }
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(contents(x), expected);
}

TEST(Launch, KeepsPlainArgumentsAsTheyWereAtTheCall) {
  struct Set {
    NUNA_KERNEL void operator()(Thread t, int value, View<int, 1> x, int more) const {
      x(t.global(0)) = value + more;
    }
  };
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  int value = 3;
  context.launch("set", {10}, block(1), Set{}, value, write(x), 4);
  value = 100;
  EXPECT_EQ(contents(x), std::vector<int>(10, 7));
}

TEST(Launch, OverAnInteriorLeavesTheRestAsItWas) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  context.fill(x, 1);
  context.launch("add one", Domain(Box{{3, 6}}).within({10}), block(1), AddOne{}, read_write(x));
  EXPECT_EQ(contents(x), (std::vector<int>{1, 1, 1, 2, 2, 2, 1, 1, 1, 1}));
}

TEST(Launch, OfMoreExplicitPartsThanBlocksIsRefused) {
  Context context = Context::self(with_devices(4));
  Buffer<int, 1> x(context, {3});
  std::string text;
  EXPECT_EQ(
      code_of([&] { context.launch("set", Domain({3}).along(0), block(1), SetIndex{}, write(x)); }, &text),
      ErrorCode::too_few_blocks);
  EXPECT_THAT(text, HasSubstr("4 devices along axis 0, but only 3 blocks"));
}

TEST(Launch, WithOverlappingWritesIsRefusedBeforeAnythingMoves) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  context.fill(x, 1);
  EXPECT_EQ(code_of([&] { context.launch("bad", {10}, block(1), AddOne{}, read_write(x, whole())); }),
            ErrorCode::overlapping_writes);
  EXPECT_EQ(contents(x), std::vector<int>(10, 1));
}

TEST(Launch, OutsideABufferIsRefused) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  EXPECT_EQ(code_of([&] { context.launch("bad", {11}, block(1), SetIndex{}, write(x)); }),
            ErrorCode::out_of_bounds);
}

TEST(Launch, WithAShiftedAccessFunctionTouchesTheShiftedElements) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {20});
  context.fill(x, 7);
  const auto own = [](const Part& p, std::vector<Box>& boxes) { boxes.push_back(p.threads); };
  struct SetBehind {
    NUNA_KERNEL void operator()(Thread t, View<int, 1> v) const { v(t.global(0) + 10) = 1; }
  };
  context.launch("unmoved", {10}, block(1), SetIndex{}, write(x, mapped(own)));
  context.launch("moved", {10}, block(1), SetBehind{}, write(x, mapped(own).shifted({10})));
  std::vector<int> wanted(20, 1);
  std::iota(wanted.begin(), wanted.begin() + 10, 0);
  EXPECT_EQ(contents(x), wanted);
  EXPECT_EQ(code_of([&] {
              context.launch("out", {10}, block(1), SetBehind{}, write(x, mapped(own).shifted({11})));
            }),
            ErrorCode::out_of_bounds);
}

TEST(Launch, OverNothingOrWithAnEmptyBlockIsRefused) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  EXPECT_EQ(code_of([&] { context.launch("bad", {0}, block(1), SetIndex{}, write(x)); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { context.launch("bad", {10}, block(0), SetIndex{}, write(x)); }),
            ErrorCode::invalid_argument);
}

TEST(Launch, WithABufferOfAnotherContextIsRefused) {
  Context context = Context::self();
  Context other = Context::self();
  Buffer<int, 1> x(other, {10});
  EXPECT_EQ(code_of([&] { context.launch("bad", {10}, block(1), SetIndex{}, write(x)); }),
            ErrorCode::invalid_argument);
}

struct SumOfTwo {
  NUNA_KERNEL void operator()(Thread t, View<const int, 1> a, View<const int, 1> b, View<int, 1> out) const {
    const Index i = t.global(0);
    const Index left = i > 0 ? i - 1 : i;
    out(i) = a(left) + b(left);
  }
};

std::int64_t sent(Context& context) {
  const std::string stats = context.stats();
  const std::size_t at = stats.find("\"send\":{\"count\":");
  return std::stoll(stats.substr(stats.find(':', at + 8) + 1));
}

TEST(Messages, OfSeveralBuffersToOneRankTravelAsOneWhenTheyAreSmall) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    for (const Index n : {Index{100}, Index{200'000}}) {
      Buffer<int, 1> a(context, {n});
      Buffer<int, 1> b(context, {n});
      Buffer<int, 1> out(context, {n});
      context.fill(a, 1);
      context.fill(b, 2);
      context.wait();
      const std::int64_t before = sent(context);
      const auto reach = halo(n / 4);  // a quarter of the array: 100 bytes, or 200 kB
      context.launch("sum", {n}, block(1), SumOfTwo{}, read(a, reach), read(b, reach), write(out));
      context.wait();
      EXPECT_EQ(sent(context) - before, n == 100 ? 1 : 2);
      EXPECT_EQ(out.host(Access::read)(n - 1), 3);
    }
  });
}

TEST(KernelThatThrows, SurfacesAtTheWaitWithItsNameAndWhatItThrew) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  context.launch("unlucky", {10}, block(1), Throws{}, write(x));
  std::string text;
  EXPECT_EQ(code_of([&] { context.wait(); }, &text), ErrorCode::kernel_failed);
  EXPECT_THAT(text, HasSubstr("unlucky"));
  EXPECT_THAT(text, HasSubstr("no luck"));
  EXPECT_NO_THROW(context.wait()) << "a failure surfaces once at wait";
}

TEST(KernelThatThrows, SticksToWhatItWroteUntilThatIsOverwritten) {
  Context context = Context::self(with_devices(1));
  Buffer<int, 1> x(context, {10});
  Buffer<int, 1> y(context, {10});
  context.launch("unlucky", {10}, block(1), Throws{}, write(x));
  context.launch("copy", {10}, block(1), Neighbours{}, read(x, halo(1)), write(y));
  EXPECT_EQ(code_of([&] { y.host(Access::read); }), ErrorCode::kernel_failed)
      << "failed data spreads to what is made of it";
  EXPECT_EQ(code_of([&] { x.host(Access::read); }), ErrorCode::kernel_failed);
  EXPECT_EQ(code_of([&] { context.fence(x); }), ErrorCode::kernel_failed);
  context.fill(x, 5);
  EXPECT_EQ(contents(x), std::vector<int>(10, 5));
}

TEST(KernelThatThrows, ReachesTheEventAndOtherRanks) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {10});
    Buffer<int, 1> y(context, {10});
    context.launch("unlucky", {10}, block(1), Throws{}, write(x));  // thread 5: rank 1
    context.launch("spread", {10}, block(1), Neighbours{}, read(x, halo(1)), write(y));
    EXPECT_EQ(code_of([&] { y.host(Access::read); }), ErrorCode::kernel_failed) << "rank " << context.rank();
    try {
      context.wait();
    } catch (const Error&) {
    }
  });
}

TEST(KernelThatThrows, LeavesTheBuffersThatItOnlyReadsAlone) {
  Context context = Context::self();
  Buffer<int, 1> a(context, {10});
  Buffer<int, 1> b(context, {10});
  context.fill(a, 1);
  context.launch(
      "bad", {10}, block(1), [](Thread, View<const int, 1>, View<int, 1>) { throw std::runtime_error("no"); },
      read(a), write(b));
  EXPECT_NO_THROW(context.fence(a));
  EXPECT_EQ(code_of([&] { context.fence(b); }), ErrorCode::kernel_failed);
  EXPECT_EQ(code_of([&] { context.wait(); }), ErrorCode::kernel_failed);
}

TEST(Event, ThatOutlivesItsContextDoesNotKeepTheRankFromLeaving) {
  std::vector<Event> last(2);
  std::string text;
  EXPECT_THROW(Context::in_process(2, with_devices(1),
                                   [&](Context& context) {
                                     Buffer<int, 1> x(context, {10});
                                     last[static_cast<std::size_t>(context.rank())] =
                                         context.launch("set", {10}, block(1), SetIndex{}, write(x));
                                     if (context.rank() == 0) throw std::runtime_error("rank 0 gives up");
                                     x.host(Access::read);
                                   }),
               std::runtime_error);
}

TEST(KernelThatThrows, IsOneThatUsesAContext) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  context.launch("nested", {10}, block(1), [&context](Thread, View<int, 1>) { context.wait(); }, write(x));
  std::string text;
  EXPECT_EQ(code_of([&] { context.wait(); }, &text), ErrorCode::kernel_failed);
  EXPECT_THAT(text, HasSubstr("a kernel cannot use a Context"));
}

TEST(Event, WaitsForItsLaunch) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  const Event event = context.launch("set", {10}, block(1), SetIndex{}, write(x));
  event.wait();
  EXPECT_TRUE(event.done());
  EXPECT_TRUE(Event().done());
}

TEST(Event, MayOutliveItsContext) {
  Event event;
  {
    Context context = Context::self();
    event = context.launch("nothing", {10}, block(1), Nothing{});
  }
  event.wait();
  EXPECT_TRUE(event.done());
}

TEST(MemoryLimit, MovesOldBuffersOutOfADeviceAndThenRefusesWithSizes) {
  Options options = with_devices(2);
  options.memory_limit_bytes = 1 << 20;
  Context context = Context::self(options);
  const Index n = 100'000;  // 400 kB, 200 kB a device
  std::vector<Buffer<int, 1>> buffers;
  for (int b = 0; b < 2; ++b) {
    buffers.emplace_back(context, Extents{n});
    context.fill(buffers.back(), b);
  }
  Buffer<int, 1> large(context, {450'000});  // 900 kB a device: one of the others must go
  context.fill(large, 9);
  EXPECT_EQ(contents(buffers[0]), std::vector<int>(static_cast<std::size_t>(n), 0));
  Buffer<int, 1> huge(context, {4'000'000});
  std::string text;
  EXPECT_EQ(code_of([&] { context.fill(huge, 1); }, &text), ErrorCode::out_of_memory);
  EXPECT_THAT(text, HasSubstr("NUNA_MEMORY_LIMIT"));
}

struct SetColumn {
  NUNA_KERNEL void operator()(Thread t, View<float, 2> x) const {
    const auto [i, j] = t.global<2>();
    x(i, j) = 1;
  }
};

TEST(MemoryLimit, GetsEverythingBackOfALaunchThatWasRefusedHalfWay) {
  Options options = with_devices(2);
  options.memory_limit_bytes = std::size_t{8} << 20;
  Context context = Context::self(options);
  {
    // cut along its rows, 128 kB apart in a device's memory: committed row by row
    Buffer<float, 2> columns(context, {1000, 32 * 1024});
    EXPECT_EQ(code_of([&] {
                context.launch("set", Domain({1000, 32 * 1024}).along(1), block(1, 1), SetColumn{},
                               write(columns));
              }),
              ErrorCode::out_of_memory);
  }
  Buffer<float, 1> rest(context, {3 << 20});  // 12 MiB: 6 MiB a device
  context.fill(rest, 2.0F);
  EXPECT_EQ(rest.host(Box{{0, 10}}, Access::read)(7), 2.0F);
}

TEST(MemoryLimit, EvictionDoesNotTouchWhatAnOpenViewWrites) {
  Options options = with_devices(2);
  options.memory_limit_bytes = 1 << 20;
  Context context = Context::self(options);
  const Index n = 200'000;  // 800 kB, 400 kB a device
  Buffer<int, 1> a(context, {n});
  context.fill(a, 1);
  auto v = a.host(Access::write);
  std::fill(v.begin(), v.end(), 2);
  Buffer<int, 1> b(context, {450'000});
  context.fill(b, 9);  // a must leave the devices
  v.close();
  EXPECT_EQ(contents(a), std::vector<int>(static_cast<std::size_t>(n), 2));
}

TEST(Check, NothingIsLostWhenALaunchIsRefusedForWantOfMemory) {
  Options options = with_devices(1);
  options.memory_limit_bytes = 1 << 20;
  Context context = Context::self(options);
  Buffer<int, 1> x(context, {1000});
  context.fill(x, 3);
  Buffer<int, 1> huge(context, {4'000'000});
  EXPECT_EQ(code_of([&] { context.fill(huge, 1); }), ErrorCode::out_of_memory);
  EXPECT_EQ(contents(x), std::vector<int>(1000, 3));
}

TEST(Launch, WritingAnewHealsWhateverTheCut) {
  for (const int devices : {1, 2}) {
    Context::in_process(3, with_devices(devices), [](Context& context) {
      Buffer<int, 1> x(context, {100});
      Buffer<int, 1> y(context, {100});
      context.launch("fails", {100}, block(8), Throws{}, write(x));
      context.launch("spreads", {100}, block(8), Neighbours{}, read(x, halo(1)), write(y));
      try {  // not on ranks that neither ran nor read what failed
        context.wait();
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::kernel_failed);
      }
      context.fill(x, 1);
      context.fill(y, 2);
      context.launch("neighbours", {100}, block(8), Neighbours{}, read(x, halo(1)), write(y));
      context.wait();
      EXPECT_EQ(contents(x), std::vector<int>(100, 1));
    });
  }
}

}  // namespace
}  // namespace nuna::test
