// Plain pointers into buffers (D6, D7): bytes come when they are touched, and launches see what was written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "pointers.hpp"

namespace nuna::test {
namespace {

class Pointers : public ::testing::TestWithParam<int> {
 protected:
  Context context_ = Context::self(with_devices(GetParam()));
};
INSTANTIATE_TEST_SUITE_P(Devices, Pointers, ::testing::Values(1, 2, 3));

TEST_P(Pointers, ShowWhatTheLastLaunchWroteAndLaunchesSeeWhatTheyWrote) {
  Buffer<int, 1> x(context_, {kMany});
  int* p = x.data();
  for (Index i = 0; i < kMany; ++i) p[i] = static_cast<int>(i);
  for (int round = 0; round < 5; ++round) {
    context_.launch("scale", {kMany}, block(64), Scale{}, read_write(x));
    EXPECT_EQ(x.data(), p) << "the pointer stays";
    for (Index i = 0; i < kMany; i += kPage / 3) p[i] -= 1;  // read and written, here and there
  }
  for (Index i = 0; i < kMany; ++i) {
    auto v = static_cast<std::uint32_t>(i);
    for (int round = 0; round < 5; ++round) v = v * 3 + 1 - (i % (kPage / 3) == 0 ? 1 : 0);
    ASSERT_EQ(p[i], static_cast<int>(v)) << i;
  }
}

TEST_P(Pointers, OfAViewStayGoodAcrossLaunches) {
  Buffer<int, 1> x(context_, {kMany});
  context_.fill(x, 1);
  const auto v = x.host(Access::read);
  EXPECT_EQ(v(5), 1);
  context_.launch("scale", {kMany}, block(64), Scale{}, read_write(x));
  EXPECT_EQ(v(5), 4);
  EXPECT_EQ(v(kMany - 1), 4);
}

TEST_P(Pointers, WaitForTheLaunchThatMakesTheBytesAndNotForOthers) {
  std::atomic<bool> go{false};
  Buffer<int, 1> x(context_, {kMany});
  Buffer<int, 1> y(context_, {kMany});
  context_.fill(x, 1);
  context_.fill(y, 2);
  int* const px = x.data();
  int* const py = y.data();
  EXPECT_EQ(py[0], 2);
  context_.launch("held", {kMany}, block(64), Held{&go}, read_write(x));
  py[0] = 5;  // while it runs
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go.store(true);
  });
  EXPECT_EQ(px[17], 7);
  EXPECT_TRUE(go.load());
  EXPECT_EQ(py[0], 5);
  opens.join();
}

TEST_P(Pointers, WriteOnlyAfterWhatReadsTheOldBytes) {
  std::atomic<bool> go{true};
  Buffer<int, 1> in(context_, {kMany});
  Buffer<int, 1> out(context_, {kMany});
  int* const p = in.data();
  const int* const q = out.data();
  for (int round = 0; round < 20; ++round) {
    std::fill(p, p + kMany, round);
    context_.launch("copy", {kMany}, block(64), CopyTo{}, read(in), write(out));
    p[0] = -1;  // the launch must not see it
    p[kMany - 1] = -1;
    EXPECT_EQ(q[0], round);
    EXPECT_EQ(q[kMany - 1], round);
    EXPECT_EQ(p[0], -1);
  }
}

TEST_P(Pointers, MayBeWrittenWhileALaunchStillReadsTheOldBytes) {
  std::atomic<bool> go{false};
  struct HeldCopy {
    std::atomic<bool>* go;
    NUNA_KERNEL void operator()(Thread t, View<const int, 1> in, View<int, 1> out) const {
      while (!go->load()) std::this_thread::yield();
      out(t.global(0)) = in(t.global(0));
    }
  };
  Buffer<int, 1> in(context_, {kMany});
  Buffer<int, 1> out(context_, {kMany});
  int* const p = in.data();
  std::fill(p, p + kMany, 3);
  for (int round = 0; round < 3; ++round) {
    go.store(false);
    context_.launch("held copy", {kMany}, block(64), HeldCopy{&go}, read(in), write(out));
    const int now = p[1];
    p[1] = now + 1;  // does not wait: nobody would let the launch go
    p[kMany - 1] = now + 1;
    EXPECT_EQ(p[1], now + 1);
    EXPECT_EQ(p[0], 3);
    go.store(true);
    EXPECT_EQ(out.data()[1], now);
    EXPECT_EQ(out.data()[kMany - 1], now);
    context_.launch("copy", {kMany}, block(64), CopyTo{}, read(in), write(out));
    EXPECT_EQ(out.data()[1], now + 1);
    EXPECT_EQ(out.data()[kMany - 1], now + 1);
    EXPECT_EQ(p[1], now + 1);
    EXPECT_EQ(p[0], 3);
  }
}

TEST_P(Pointers, IntoABufferThatWasNeverTouchedCostOnlyWhatTheyTouch) {
#if defined(__SANITIZE_THREAD__)
  constexpr Index kPart = Index{1} << 24;  // there are fewer addresses
#else
  constexpr Index kPart = Index{1} << 30;
#endif
  Buffer<char, 1> large(context_, {64 * kPart});  // more than the machine has
  char* const p = large.data();
  p[0] = 1;
  p[33 * kPart] = 2;
  p[64 * kPart - 1] = 3;
  EXPECT_EQ(p[33 * kPart], 2);
  context_.fill(large, Box{{0, 1000}}, char{9});
  EXPECT_EQ(p[999], 9);
  EXPECT_EQ(p[33 * kPart], 2);
  EXPECT_EQ(p[64 * kPart - 1], 3);
}

TEST_P(Pointers, OfSeveralThreadsReadAndWriteAtOnce) {
  Buffer<int, 1> x(context_, {kMany});
  context_.fill(x, 0);
  int* const p = x.data();
  constexpr int kThreads = 4;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([=] {
        for (Index i = t; i < kMany; i += kThreads * 37) p[i] += t + 1;  // neighbours share blocks
      });
    }
    for (std::thread& t : threads) t.join();
    context_.launch("add one", {kMany}, block(64), AddOne{}, read_write(x));
  }
  for (Index i = 0; i < kMany; ++i) {
    int expected = 10;
    for (int t = 0; t < kThreads; ++t) {
      if (i >= t && (i - t) % (kThreads * 37) == 0) expected += 10 * (t + 1);
    }
    ASSERT_EQ(p[i], expected) << i;
  }
}

TEST_P(Pointers, AreTakenByCopies) {
  Buffer<int, 1> x(context_, {kMany});
  Buffer<int, 1> y(context_, {kMany});
  int* const p = x.data();
  int* const q = y.data();
  for (Index i = 0; i < kMany; ++i) p[i] = static_cast<int>(i);
  context_.fill(y, 0);
  context_.copy(q + 10, p + 20, 1000 * sizeof(int));
  EXPECT_EQ(q[10], 20);
  EXPECT_EQ(q[1009], 1019);
  EXPECT_EQ(q[9], 0);
  EXPECT_EQ(q[1010], 0);
  char odd[7];
  context_.copy(odd, reinterpret_cast<const char*>(p + 3) + 1, sizeof odd);
  EXPECT_EQ(std::memcmp(odd, reinterpret_cast<const char*>(p + 3) + 1, sizeof odd), 0);
  context_.copy(reinterpret_cast<char*>(q) + 1, odd, sizeof odd);
  EXPECT_EQ(std::memcmp(reinterpret_cast<const char*>(q) + 1, odd, sizeof odd), 0);
  EXPECT_EQ(q[1009], 1019);
}

TEST_P(Pointers, AreReadByAnAccessFunctionWhileALaunchIsPlanned) {
  Buffer<int, 1> rows(context_, {5});
  Buffer<int, 1> x(context_, {400});
  context_.launch("set", {5}, block(1), SetIndex{}, write(rows));  // on the devices
  context_.fill(x, 0);
  const int* const first = rows.data();
  const AccessMap hundreds = mapped([first](const Part& part, std::vector<Box>& elements) {
    const Interval threads = part.threads[0];
    elements.push_back(Box{{100 * first[threads.begin], 100 * first[threads.end]}});
  });
  struct Mark {
    NUNA_KERNEL void operator()(Thread t, View<const int, 1> rows, View<int, 1> x) const {
      for (Index i = 100 * rows(t.global(0)); i < 100 * rows(t.global(0) + 1); ++i)
        x(i) = rows(t.global(0)) + 1;
    }
  };
  context_.launch("mark", {4}, block(1), Mark{}, read(rows, whole()), read_write(x, hundreds));
  const auto v = x.host(Access::read);
  for (int i = 0; i < 400; ++i) ASSERT_EQ(v(i), i / 100 + 1) << i;
}

TEST_P(Pointers, WrittenByAnAccessFunctionWhileALaunchIsPlannedComeBeforeTheLaunch) {
  Buffer<int, 1> x(context_, {400});
  Buffer<int, 1> y(context_, {400});
  context_.launch("set", {400}, block(1), SetIndex{}, write(x));  // each device has its part
  int* const p = x.data();
  const AccessMap as_threads = mapped([p](const Part& part, std::vector<Box>& elements) {
    p[0] = -5;
    p[399] = -6;
    elements.push_back(Box{part.threads[0]});
  });
  context_.launch("copy", {400}, block(1), CopyTo{}, read(x), write(y, as_threads));
  const int* const q = y.data();
  EXPECT_EQ(q[0], -5);
  EXPECT_EQ(q[1], 1);
  EXPECT_EQ(q[398], 398);
  EXPECT_EQ(q[399], -6);
}

void write_through_a_view_for_reading() {
  Context context = Context::self();
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, 1);
  const auto v = x.host(Access::read);
  v(3) = 2;
}

void touch_after_the_close() {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, 1);
  int* const p = x.data();
  x.close();
  p[0] = 1;
}

void touch_after_the_release() {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, 1);
  int* const p = x.data();
  x.release();
  p[0] = 1;
}

TEST(PointersDeathTest, ThatMustNotBeUsedDieWithAReason) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(write_through_a_view_for_reading(),
               "host view that was opened for reading was written through.*created at pointers_test.cpp");
  EXPECT_DEATH(touch_after_the_release(), "used after the buffer was released");
  EXPECT_DEATH(touch_after_the_close(), "no host view is open for.*created at pointers_test.cpp");
}

}  // namespace
}  // namespace nuna::test
