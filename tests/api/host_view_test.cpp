#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::HasSubstr;

TEST(Buffer, OfNoElementsOrTooManyBytesIsRefused) {
  Context context = Context::self();
  EXPECT_EQ(code_of([&] { Buffer<int, 1>(context, {0}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Buffer<int, 2>(context, {4, -1}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Buffer<int, 2>(context, {4}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Buffer<int, 2>(context, {Index{1} << 40, Index{1} << 40}); }),
            ErrorCode::invalid_argument);
}

TEST(Buffer, ReleasedTwiceOrUsedAfterwardsIsRefused) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  x.release();
  EXPECT_EQ(code_of([&] { x.release(); }), ErrorCode::already_released);
  std::string text;
  EXPECT_EQ(code_of([&] { x.host(Access::read); }, &text), ErrorCode::already_released);
  EXPECT_THAT(text, HasSubstr("host_view_test.cpp:"));
  EXPECT_EQ(code_of([&] { context.launch("set", {10}, block(1), SetIndex{}, write(x)); }),
            ErrorCode::already_released);
}

TEST(Handles, ThatWereMovedFromAreRefusedByName) {
  Context context = Context::self();
  Buffer<int, 1> x(context, {10});
  context.fill(x, 1);
  Buffer<int, 1> y = std::move(x);
  EXPECT_EQ(code_of([&] { context.fill(x, 1); }), ErrorCode::already_released);
  EXPECT_EQ(code_of([&] { x.host(Access::read); }), ErrorCode::already_released);
  auto v = y.host(Access::read);
  const auto moved = std::move(v);
  v.close();
  Context other = std::move(context);
  EXPECT_EQ(code_of([&] { context.wait(); }), ErrorCode::invalid_argument);
  Context third = Context::self();
  EXPECT_EQ(code_of([&] { third.fill(y, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { third.fence(y); }), ErrorCode::invalid_argument);
  y.release();  // before its Context ends
}

TEST(Buffer, MayBeDestroyedWhileALaunchUsesIt) {
  Context context = Context::self(with_devices(2));
  for (int i = 0; i < 100; ++i) {
    Buffer<int, 1> x(context, {10'000});
    context.launch("set", {10'000}, block(1), SetIndex{}, write(x));
  }
  context.wait();
}

void end_the_context_first() {
  auto context = std::make_unique<Context>(Context::self());
  const Buffer<int, 1> x(*context, {10});
  context.reset();
}

TEST(ContextDeathTest, DestroyedBeforeItsBuffersStopsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      end_the_context_first(),
      "a Context was destroyed before 1 of its buffers, such as the one created at host_view_test.cpp");
}

TEST(HostView, ShowsWhatLaunchesWroteAndLaunchesSeeWhatItWrote) {
  for (const int devices : {1, 3}) {
    Context context = Context::self(with_devices(devices));
    Buffer<int, 2> x(context, {6, 5});
    {
      auto v = x.host(Access::write);
      std::fill(v.begin(), v.end(), 1);
    }
    {
      auto v = x.host(Box{{1, 3}, {2, 4}}, Access::write);
      EXPECT_EQ(v.begin(), nullptr) << "not contiguous";
      for (Index i = 1; i < 3; ++i) {
        for (Index j = 2; j < 4; ++j) v(i, j) = 5;
      }
    }
    struct Double {
      NUNA_KERNEL void operator()(Thread t, View<int, 2> x) const { x(t.global(0), t.global(1)) *= 2; }
    };
    context.launch("double", {6, 5}, block(1, 1), Double{}, read_write(x));
    auto v = x.host(Access::read);
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 5; ++j) {
        EXPECT_EQ(v(i, j), i >= 1 && i < 3 && j >= 2 && j < 4 ? 10 : 2)
            << devices << " devices, " << i << ", " << j;
      }
    }
  }
}

TEST(HostView, OutsideTheBufferOrEmptyIsRefused) {
  Context context = Context::self();
  Buffer<int, 2> x(context, {6, 5});
  EXPECT_EQ(code_of([&] { x.host(Box{{0, 7}, {0, 5}}, Access::read); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { x.host(Box{{3, 3}, {0, 5}}, Access::read); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { x.host(Box{{0, 6}}, Access::read); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { x.host_bytes({0, 121}, Access::read); }), ErrorCode::out_of_bounds);
}

TEST(HostView, ThatOverlapsAWritableOneIsRefusedWhereViewsAreBroughtWhole) {
  setenv("NUNA_FAULTS", "off", 1);
  Context context = Context::self();
  unsetenv("NUNA_FAULTS");
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  auto first = x.host(Box{{0, 5}}, Access::read_write);
  std::string text;
  EXPECT_EQ(code_of([&] { x.host(Box{{4, 8}}, Access::read); }, &text), ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("host_view_test.cpp:"));
  EXPECT_NO_THROW(x.host(Box{{5, 8}}, Access::read_write));
}

TEST(HostView, MayOverlapOthersOfOneRank) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  auto first = x.host(Box{{0, 5}}, Access::read_write);
  auto second = x.host(Access::read_write);
  first(4) = 3;
  EXPECT_EQ(second(4), 3);
}

TEST(HostView, IsClosedByALaunchThatTouchesTheBuffer) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {4});
  auto v = x.host(Access::write);
  std::fill(v.begin(), v.end(), 3);
  context.launch("add one", {4}, block(1), AddOne{}, read_write(x));
  v.close();  // does nothing any more
  EXPECT_EQ(x.host(Access::read)(2), 4);
}

TEST(Data, IsABarePointerUntilClose) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {100});
  int* p = x.data();
  for (int i = 0; i < 100; ++i) p[i] = i;
  x.close();
  context.launch("add one", {100}, block(1), AddOne{}, read_write(x));
  p = x.data();
  EXPECT_EQ(p[99], 100);
  x.close();
}

TEST(HostViewOfSeveralRanks, MergesWhatDifferentRanksChanged) {
  Context::in_process(3, with_devices(2), [](Context& context) {
    Buffer<int, 1> x(context, {30});
    context.launch("set", {30}, block(1), SetIndex{}, write(x));
    {
      auto v = x.host(Access::read_write);
      for (Index i = context.rank(); i < 30; i += 3) v(i) = -static_cast<int>(i);
    }
    auto v = x.host(Access::read);
    for (Index i = 0; i < 30; ++i) ASSERT_EQ(v(i), -i) << "rank " << context.rank();
  });
}

TEST(HostViewOfSeveralRanks, RefusesDifferentValuesForOneByteAndKeepsTheLowerRanks) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {30});
    context.fill(x, 0);
    auto v = x.host(Access::read_write);
    v(7) = 1 + context.rank();
    std::string text;
    EXPECT_EQ(code_of([&] { v.close(); }, &text), ErrorCode::conflicting_writes);
    EXPECT_THAT(text, HasSubstr("rank 0 and rank 1"));
    EXPECT_THAT(text, HasSubstr("elements (7)"));
    EXPECT_EQ(x.host(Access::read)(7), 1);
  });
}

TEST(HostViewOfSeveralRanks, RefusesAWriteViewThatRanksFilledDifferently) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {30});
    auto v = x.host(Access::write);
    std::fill(v.begin(), v.end(), context.rank());
    EXPECT_EQ(code_of([&] { v.close(); }), ErrorCode::unequal_fill);
    EXPECT_EQ(x.host(Access::read)(7), 0) << "rank 0's bytes are kept";
  });
}

TEST(HostViewOfSeveralRanks, WhoseBytesDifferSomewhereLeavesTheRestWithAllRanks) {
  constexpr Index kBytes = 1 << 20;
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<std::byte, 1> x(context, {kBytes});
    std::vector<std::byte> mine(kBytes, std::byte{5});
    mine[300'000] = std::byte(context.rank());
    EXPECT_EQ(code_of([&] { context.copy(x.address(), mine.data(), mine.size()); }), ErrorCode::unequal_fill);
    const std::string before = context.stats();
    mine[300'000] = std::byte{0};
    auto v = x.host(Access::read);
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), v.begin()));
    if (context.rank() == 1) {
      EXPECT_THAT(context.stats(), HasSubstr("\"receive\":65536}"));
    }
  });
}

TEST(ALedView, OfRankZeroAloneGivesOthersWhatIsWritten) {
  constexpr Index kCount = 100'000;
  Context::in_process(3, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {kCount});
    context.launch("set", {kCount}, block(1), SetIndex{}, write(x));
    x.handle().open_led(false, {});
    if (context.rank() == 0) {
      EXPECT_EQ(x.address()[kCount - 1], kCount - 1);
      x.address()[70'000] = -1;
    }
    x.close();
    auto v = x.host(Access::read);
    for (Index i = 0; i < kCount; ++i) ASSERT_EQ(v(i), i == 70'000 ? -1 : i) << "rank " << context.rank();
  });
}

TEST(ALedView, MovesOnlyTheWrittenPages) {
  constexpr Index kCount = 1 << 20;
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {kCount});
    {
      auto v = x.host(Access::write);
      std::fill(v.begin(), v.end(), 3);
    }
    x.handle().open_led(false, {});
    if (context.rank() == 0) x.address()[5000] = 4;
    x.close();
    EXPECT_EQ(x.host(Access::read)(5000), 4);
    if (context.rank() == 1) {
      EXPECT_THAT(context.stats(), HasSubstr("\"receive\":4096}"));
    }
  });
}

TEST(ALedView, OfAllRanksIsTheirsWhereTheyAgreeAndRankZerosElsewhere) {
  constexpr Index kCount = 100'000;
  Context::in_process(3, with_devices(2), [](Context& context) {
    Buffer<int, 1> x(context, {kCount});
    context.launch("set", {kCount}, block(1), SetIndex{}, write(x));
    x.handle().open_led(true, {});
    for (Index i = 0; i < 1000; ++i) x.address()[i] = 7;
    x.address()[50'000] = context.rank();
    if (context.rank() == 2) x.address()[90'000] = 1;
    EXPECT_EQ(code_of([&] { x.close(); }), ErrorCode::unequal_fill);
    auto v = x.host(Access::read);
    for (Index i = 0; i < kCount; ++i) ASSERT_EQ(v(i), i < 1000 ? 7 : i == 50'000 ? 0 : i) << context.rank();
  });
}

TEST(ALedView, IsClosedByALaunch) {
  constexpr Index kCount = 10'000;
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {kCount});
    context.fill(x, 1);
    for (const bool everywhere : {false, true}) {
      x.handle().open_led(everywhere, {});
      if (everywhere || context.rank() == 0) x.address()[9000] = 10;
      context.launch("add one", {kCount}, block(1), AddOne{}, read_write(x));
      EXPECT_EQ(x.host(Access::read)(9000), 11);
    }
    EXPECT_EQ(x.host(Access::read)(0), 3);
  });
}

TEST(HostViewOfSeveralRanks, KeepsAnErrorOfItsDestructorForTheNextCall) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {30});
    {
      auto v = x.host(Access::write);
      std::fill(v.begin(), v.end(), context.rank());
    }
    EXPECT_EQ(code_of([&] { x.host(Access::read); }), ErrorCode::unequal_fill);
    EXPECT_EQ(x.host(Access::read)(0), 0);
  });
}

TEST(HostViewOfSeveralRanks, ReadsBackToOneRankOnly) {
  Context::in_process(3, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {30});
    context.launch("set", {30}, block(1), SetIndex{}, write(x));
    auto v = x.host_at(1, Box{{5, 25}});
    EXPECT_EQ(v.box().empty(), context.rank() != 1);
    if (context.rank() == 1) {
      EXPECT_EQ(v(24), 24);
    }
    EXPECT_EQ(code_of([&] { x.host_at(3, Box{{5, 25}}); }), ErrorCode::invalid_argument);
  });
}

TEST(HostViewOfSeveralRanks, OnOneRankKeepsWritersOutOnAllOfThem) {
  Context::in_process(3, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {30});
    context.launch("set", {30}, block(1), SetIndex{}, write(x));
    auto v = x.host_at(1, Box{{5, 25}});
    EXPECT_EQ(code_of([&] { x.host(Box{{0, 10}}, Access::write); }), ErrorCode::invalid_argument);
    v.close();
    x.host(Box{{0, 1}}, Access::read_write)(0) = 3;
  });
}

TEST(HostView, OfAByteRangeDoesNotBringOldBytesOverItsNeighbours) {
  Context context = Context::self(with_devices(2));
  Buffer<std::uint32_t, 1> x(context, {4});
  context.fill(x, 0x11111111U);
  auto w = x.host_bytes({0, 2}, Access::write);
  std::memset(w.data(), 0x22, 2);
  auto r = x.host_bytes({2, 4}, Access::read);
  EXPECT_EQ(static_cast<int>(*static_cast<const unsigned char*>(r.data())), 0x11);
  r.close();
  w.close();
  EXPECT_EQ(x.host(Access::read)(0), 0x11112222U);
}

TEST(LocalBoxes, AreDisjointCoverTheBufferAndCanBeReadWithoutOtherRanks) {
  std::atomic<Index> elements{0};
  Context::in_process(3, with_devices(2), [&](Context& context) {
    Buffer<int, 1> x(context, {31});
    context.launch("set", {31}, block(1), SetIndex{}, write(x));
    for (const Box& box : x.local_boxes()) {
      elements += box.count();
      auto v = x.host_local(box);
      for (Index i = box[0].begin; i < box[0].end; ++i) ASSERT_EQ(v(i), i);
    }
    const Index foreign = context.rank() == 0 ? 30 : 0;
    EXPECT_EQ(code_of([&] { x.host_local(Box{{foreign, foreign + 1}}); }), ErrorCode::invalid_argument);
  });
  EXPECT_EQ(elements.load(), 31);
}

TEST(SelfContext, IsSharedByThreads) {
  Context context = Context::self(with_devices(2));
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&context, n] {
      Buffer<int, 1> x(context, {100});
      context.fill(x, n);
      for (int i = 0; i < 20; ++i) context.launch("add one", {100}, block(1), AddOne{}, read_write(x));
      EXPECT_EQ(x.host(Access::read)(50), n + 20);
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(ReplicatedContext, RefusesASecondThreadInside) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {10});
    context.fill(x, 0);
    std::atomic<bool> second_refused{false};
    // an access function runs inside the launch: from there another thread tries to enter
    const auto map = mapped([&](const Part& part, std::vector<Box>& boxes) {
      std::thread other([&] {
        try {
          context.wait();
        } catch (const Error& e) {
          second_refused = e.code() == ErrorCode::concurrent_use;
        }
      });
      other.join();
      boxes.push_back(part.threads);
    });
    context.launch("add one", {10}, block(1), AddOne{}, read_write(x, map));
    EXPECT_TRUE(second_refused.load());
    context.wait();
  });
}

TEST(ReplicatedContext, FindsRanksThatMakeDifferentCalls) {
  std::string text;
  const auto run = [&](auto call) {
    return code_of(
        [&] {
          Context::in_process(2, with_devices(1), [&](Context& context) {
            Buffer<int, 1> x(context, {10});
            Buffer<int, 1> y(context, {10});
            context.launch("set", {10}, block(1), SetIndex{}, write(x));
            call(context, x, y);
            context.launch("neighbours", {10}, block(1), Neighbours{}, read(x, halo(1)), write(y));
            context.wait();
          });
        },
        &text);
  };
  EXPECT_EQ(run([](Context& context, Buffer<int, 1>& x, Buffer<int, 1>&) {
              if (context.rank() == 1) context.launch("add one", {10}, block(1), AddOne{}, read_write(x));
            }),
            ErrorCode::diverged);
  EXPECT_THAT(text, HasSubstr("launch 'neighbours' at host_view_test.cpp:"));
  EXPECT_EQ(run([](Context& context, Buffer<int, 1>&, Buffer<int, 1>& y) {
              context.launch("set", context.rank() == 0 ? Domain{10} : Domain{9}, block(1), SetIndex{},
                             write(y));
            }),
            ErrorCode::diverged);
  EXPECT_EQ(run([](Context& context, Buffer<int, 1>& x, Buffer<int, 1>& y) {
              context.launch("set", {10}, block(1), SetIndex{}, write(y));
              if (context.rank() == 1) swap(x, y);
            }),
            ErrorCode::diverged);
  EXPECT_EQ(run([](Context& context, Buffer<int, 1>&, Buffer<int, 1>&) {
              if (context.rank() == 1) throw Error(ErrorCode::input_output, "a rank that gives up");
            }),
            ErrorCode::input_output)
      << "the cause, not what it caused";
}

// Rank 0 waits for a message of the launch that rank 1 left out, rank 1 in a collective: both live, neither gets on.
TEST(ReplicatedContext, FindsALaunchThatOneRankLeftOutThoughBothWait) {
  std::string text;
  EXPECT_EQ(code_of(
                [&] {
                  Context::in_process(2, with_devices(1), [](Context& context) {
                    Buffer<int, 1> x(context, {10});
                    Buffer<int, 1> y(context, {10});
                    context.launch("set", {10}, block(1), SetIndex{}, write(x));
                    if (context.rank() == 0)
                      context.launch("left out", {10}, block(1), Neighbours{}, read(x, halo(1)), write(y));
                    context.launch("local", {10}, block(1), AddOne{}, read_write(x));
                    if (context.rank() == 1) context.sum(1);
                    context.wait();
                  });
                },
                &text),
            ErrorCode::diverged);
  EXPECT_THAT(text, HasSubstr("'left out'"));
  EXPECT_THAT(text, HasSubstr("'local'"));
}

TEST(ReplicatedContext, TakesNoLongKernelOfAPeerForAStall) {
  ::setenv("NUNA_STALL", "0.6 s", 1);
  struct Sleeps {
    NUNA_KERNEL void operator()(Thread t, View<int, 1> x, int rank) const {
      if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      x(t.global(0)) = 1;
    }
  };
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {2});
    context.launch("sleeps", {2}, block(1), Sleeps{}, write(x), context.rank());
    if (context.rank() == 1) context.wait();
    EXPECT_EQ(context.sum(1), 2.0);
  });
  ::unsetenv("NUNA_STALL");
}

TEST(Max, IsTheSameBitsOnEveryRank) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Context::in_process(3, with_devices(1), [&](Context& context) {
    EXPECT_TRUE(std::isnan(context.max(context.rank() == 1 ? nan : 2.0)));
    EXPECT_EQ(context.max(-context.rank()), 0.0);
    EXPECT_EQ(std::signbit(context.max(context.rank() == 1 ? 0.0 : -0.0)), true);  // rank 0's comes first
  });
}

TEST(Sum, FoldsInRankOrder) {
  Context::in_process(3, with_devices(1), [](Context& context) {
    EXPECT_EQ(context.sum(context.rank() + 1.0), 6.0);
    EXPECT_EQ(context.max(context.rank() + 1.0), 3.0);
  });
}

}  // namespace
}  // namespace nuna::test
