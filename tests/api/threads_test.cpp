// Threads that share a self Context: they take turns, and who waits lets the others have theirs.
//
// The tests of what a waiting thread lets others do would hang, not fail, if it did not: kernels wait at a gate that
// only the other thread opens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace nuna {
namespace {

using test::AddOne;
using test::code_of;
using test::Neighbours;
using test::SetIndex;
using test::with_devices;

/// What somebody waits for and another opens, once.
class Gate {
 public:
  void open() {
    open_.store(true);
    open_.notify_all();
  }
  void wait() const { open_.wait(false); }
  bool is_open() const { return open_.load(); }

 private:
  std::atomic<bool> open_{false};
};

struct WaitsAt {
  const Gate* gate;
  void operator()(Thread t, View<int, 1> x) const {
    gate->wait();
    x(t.global(0)) += 1;
  }
};

struct WaitsAndThrows {
  const Gate* gate;
  void operator()(Thread t, View<int, 1> x) const {
    gate->wait();
    x(t.global(0)) = 0;
    throw std::runtime_error("no luck");
  }
};

/// `body(n)` in each of `count` threads.
void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n) threads.emplace_back(body, n);
  for (std::thread& t : threads) t.join();
}

/// One device, whose memory is the host's, and two with memories of their own.
struct Manner {
  int devices;
  bool faults;
};

Context context_of(Manner manner) {
  if (!manner.faults) setenv("NUNA_FAULTS", "off", 1);
  Context context = Context::self(with_devices(manner.devices));
  unsetenv("NUNA_FAULTS");
  return context;
}

class ThreadsOfOneContext : public ::testing::TestWithParam<Manner> {
 protected:
  Context context = context_of(GetParam());
  Buffer<int, 1> known{context, {10}};  // in the host's memory
  Buffer<int, 1> own{context, {10}};
  Gate kernels;

  void SetUp() override {
    context.fill(known, 4);
    context.fill(own, 0);
    known.host(Access::read);
  }

  /// What the waiting thread does, beside another that makes calls once the first is about to, and then opens the gate.
  void expect_others_go_on_while(const std::function<void()>& waits) {
    Gate soon;
    in_threads(2, [&](int n) {
      if (n == 0) {
        soon.open();
        waits();
        EXPECT_TRUE(kernels.is_open());
      } else {
        soon.wait();
        for (int i = 0; i < 20; ++i) {
          context.launch("add one", {10}, block(1), AddOne{}, read_write(own));
          EXPECT_EQ(known.host(Access::read)(3), 4);
          std::this_thread::yield();
        }
        const Buffer<int, 1> fresh(context, {10});
        EXPECT_NE(fresh.address(), nullptr);
        kernels.open();
      }
    });
    EXPECT_EQ(own.host(Access::read)(9), 20);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, ThreadsOfOneContext,
                         ::testing::Values(Manner{1, true}, Manner{2, true}, Manner{1, false},
                                           Manner{2, false}),
                         [](const auto& of) {
                           return std::to_string(of.param.devices) + (of.param.faults ? "Faults" : "Whole");
                         });

TEST_P(ThreadsOfOneContext, OneThatWaitsForALongKernelDoesNotKeepOthersFromLaunchingAndReading) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  expect_others_go_on_while([&] { context.wait(); });
}

TEST_P(ThreadsOfOneContext, OneThatFencesABufferDoesNotKeepOthers) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  expect_others_go_on_while([&] { context.fence(x); });
}

TEST_P(ThreadsOfOneContext, OneThatOpensAViewForReadingDoesNotKeepOthers) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  expect_others_go_on_while([&] { EXPECT_EQ(x.host(Access::read)(7), 1); });
}

TEST_P(ThreadsOfOneContext, OneThatOpensAViewForWritingDoesNotKeepOthers) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  expect_others_go_on_while([&] {
    auto v = x.host(Access::read_write);
    v(7) += 1;
  });
  EXPECT_EQ(x.host(Access::read)(7), 2);
}

TEST_P(ThreadsOfOneContext, OneThatReadsItsLocalBoxesDoesNotKeepOthers) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  const Box box = x.local_boxes().front();
  expect_others_go_on_while([&] { EXPECT_EQ(x.host_local(box)(box[0].begin), 1); });
}

TEST_P(ThreadsOfOneContext, OneThatCopiesToItsOwnMemoryDoesNotKeepOthers) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  std::vector<int> mine(10);
  expect_others_go_on_while([&] { context.copy(mine.data(), x.address(), 40); });
  EXPECT_THAT(mine, ::testing::Each(1));
}

TEST_P(ThreadsOfOneContext, OneThatReleasesABusyBufferDoesNotKeepOthers) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  expect_others_go_on_while([&] { x.release(); });
}

TEST_P(ThreadsOfOneContext, OneThatIsHeldBackForItsManyLaunchesDoesNotKeepOthersFromReading) {
  constexpr int kMany = 200;  // more than may be in flight
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  std::atomic<int> launched{0};
  in_threads(2, [&](int n) {
    if (n == 0) {
      for (int i = 0; i < kMany; ++i) {
        context.launch("add one", {10}, block(1), AddOne{}, read_write(x));
        ++launched;
        launched.notify_all();
      }
      EXPECT_TRUE(kernels.is_open());
    } else {
      for (int i = 0; i < 50; i = launched.load()) launched.wait(i);
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(known.host(Access::read)(3), 4);
        std::this_thread::yield();
      }
      EXPECT_LT(launched.load(), kMany);
      kernels.open();
    }
  });
  EXPECT_EQ(x.host(Access::read)(5), 1 + kMany);
}

TEST_P(ThreadsOfOneContext, LaunchCopyAndReadBuffersOfTheirOwnAndShared) {
  constexpr int kElements = 1000;
  Buffer<int, 1> shared(context, {kElements});
  context.launch("set", {kElements}, block(1), SetIndex{}, write(shared));
  in_threads(4, [&](int n) {
    Buffer<int, 1> x(context, {kElements});
    Buffer<int, 1> y(context, {kElements});
    std::vector<int> mine(kElements);
    for (int round = 0; round < 20; ++round) {
      context.copy(x.address(), shared.address(), sizeof(int) * kElements);
      context.launch("add one", {kElements}, block(1), AddOne{}, read_write(x));
      context.launch("neighbours", {kElements}, block(1), Neighbours{}, read(x, halo(1)), write(y));
      EXPECT_EQ(shared.host(Access::read)(n + round), n + round);
      context.copy(mine.data(), y.address(), sizeof(int) * kElements);
      EXPECT_EQ(mine[500], 3 * 501);
      if (round % 4 == n) context.wait();
      {
        auto v = x.host(Access::read_write);
        v(500) += 10;
      }
      context.launch("neighbours", {kElements}, block(1), Neighbours{}, read(x, halo(1)), write(y));
      if (round % 4 == n) context.fence(y);
      EXPECT_EQ(y.host(Access::read)(501), 3 * 502 + 10);
    }
  });
}

TEST_P(ThreadsOfOneContext, CopyOutOfAndIntoABufferThatOthersLaunchOn) {
  constexpr int kRounds = 50;
  Buffer<int, 1> x(context, {100});
  context.fill(x, 0);
  std::atomic<int> launched{0};
  in_threads(4, [&](int n) {
    std::vector<int> mine(100);
    for (int round = 0; round < kRounds; ++round) {
      if (n < 2) {
        context.launch("add one", {100}, block(1), AddOne{}, read_write(x));
        ++launched;
      } else {
        const int before = launched.load();
        context.copy(mine.data(), x.address(), 400);
        EXPECT_GE(mine[0], before);
        EXPECT_THAT(mine, ::testing::Each(mine[0]));  // no launch came between
      }
    }
  });
  EXPECT_EQ(x.host(Access::read)(99), 2 * kRounds);
}

TEST_P(ThreadsOfOneContext, GetOneViewByCallingDataAtTheSameTime) {
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  in_threads(3, [&](int n) {
    if (n == 2) return kernels.open();
    int* data = x.data();
    EXPECT_EQ(data, x.address());
    EXPECT_EQ(data[3], 1);
  });
}

TEST_P(ThreadsOfOneContext, AreRefusedWritableViewsBroughtWholeOfTheSameBytesAlsoWhileTheFirstIsBeingOpened) {
  if (GetParam().faults) return;  // then views may overlap
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  std::atomic<int> opened{0};
  std::atomic<int> refused{0};
  Gate both;
  in_threads(3, [&](int n) {
    if (n == 2) return kernels.open();
    const auto told = [&](std::atomic<int>& count) {
      ++count;
      if (opened.load() + refused.load() == 2) both.open();
    };
    try {
      auto v = x.host(Access::read_write);
      told(opened);
      both.wait();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      told(refused);
    }
  });
  EXPECT_EQ(opened.load(), 1);
  EXPECT_EQ(refused.load(), 1);
}

TEST_P(ThreadsOfOneContext, ThatWaitAtTheSameTimeGetAFailureOnce) {
  Buffer<int, 1> x(context, {10});
  context.launch("unlucky", {10}, block(1), WaitsAndThrows{&kernels}, write(x));
  std::atomic<int> caught{0};
  in_threads(3, [&](int n) {
    if (n == 2) return kernels.open();
    try {
      context.wait();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kernel_failed);
      ++caught;
    }
  });
  EXPECT_EQ(caught.load(), 1);
  EXPECT_NO_THROW(context.wait());
}

TEST_P(ThreadsOfOneContext, ThatFailAndWaitManyTimesGetNoFailureTwice) {
  constexpr int kRounds = 50;
  Gate open;
  open.open();
  std::atomic<int> caught{0};
  in_threads(3, [&](int) {
    Buffer<int, 1> x(context, {10});
    for (int round = 0; round < kRounds; ++round) {
      context.launch("unlucky", {1}, block(1), WaitsAndThrows{&open}, write(x, fixed(Box{{0, 10}})));
      try {
        context.wait();
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::kernel_failed);
        ++caught;
      }
    }
  });
  EXPECT_GE(caught.load(), 1);
  EXPECT_LE(caught.load(), 3 * kRounds);
  EXPECT_NO_THROW(context.wait());
}

TEST_P(ThreadsOfOneContext, MayReleaseABufferWhileAnotherWaits) {
  Buffer<int, 1> x(context, {10});
  Buffer<int, 1> idle(context, {10});
  context.fill(x, 0);
  context.fill(idle, 0);
  context.fence(idle);
  context.launch("long", {10}, block(1), WaitsAt{&kernels}, read_write(x));
  Gate soon;
  in_threads(2, [&](int n) {
    if (n == 0) {
      soon.open();
      context.wait();
      EXPECT_TRUE(kernels.is_open());
    } else {
      soon.wait();
      idle.release();
      kernels.open();
    }
  });
  EXPECT_EQ(code_of([&] { idle.host(Access::read); }), ErrorCode::already_released);
}

TEST_P(ThreadsOfOneContext, MayReleaseABufferWhoseViewAnotherIsOpening) {
  for (const Access access : {Access::read, Access::write, Access::read_write}) {
    Gate gate;
    Buffer<int, 1> x(context, {10});
    context.fill(x, 0);
    context.launch("long", {10}, block(1), WaitsAt{&gate}, read_write(x));
    in_threads(4, [&](int n) {
      if (n == 3) return gate.open();
      try {
        if (n == 0) return x.release();
        x.host(access);
      } catch (const Error& e) {  // released before, or meanwhile; or the other's view
        EXPECT_TRUE(n != 0 && (e.code() == ErrorCode::already_released ||
                               (access != Access::read && e.code() == ErrorCode::invalid_argument)))
            << e.what();
      }
    });
    EXPECT_EQ(code_of([&] { x.address(); }), ErrorCode::already_released);
  }
}

TEST_P(ThreadsOfOneContext, MayLaunchOnABufferWhoseViewAnotherIsOpening) {
  constexpr int kRounds = 50;
  Buffer<int, 1> x(context, {10});
  context.fill(x, 0);
  in_threads(2, [&](int n) {
    for (int round = 0; round < kRounds; ++round) {
      if (n == 0) {
        x.host(Access::read_write);  // changes nothing
      } else {
        context.launch("add one", {10}, block(1), AddOne{}, read_write(x));
      }
    }
  });
  EXPECT_EQ(x.host(Access::read)(9), kRounds);
}

TEST(SelfContexts, InThreadsOfTheirOwnDoNotMeet) {
  in_threads(4, [](int n) {
    Context context = Context::self(with_devices(1 + n % 2));
    Buffer<int, 1> x(context, {100});
    for (int round = 0; round < 20; ++round) {
      context.fill(x, n);
      context.launch("add one", {100}, block(1), AddOne{}, read_write(x));
      if (round % 3 == 0) context.wait();
      EXPECT_EQ(x.host(Access::read)(50), n + 1);
    }
  });
}

}  // namespace
}  // namespace nuna
