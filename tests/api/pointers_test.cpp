// Plain pointers into buffers (D6, D7): bytes come when they are touched, and launches see what was written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr Index kPage = 4096 / sizeof(int);
constexpr Index kMany = 64 * 16 * kPage;  // 4 MiB

struct Scale {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const { x(t.global(0)) = x(t.global(0)) * 3 + 1; }
};

struct CopyTo {
  NUNA_KERNEL void operator()(Thread t, View<const int, 1> in, View<int, 1> out) const {
    out(t.global(0)) = in(t.global(0));
  }
};

// Waits until the test says so.
struct Held {
  std::atomic<bool>* go;
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    while (!go->load()) std::this_thread::yield();
    x(t.global(0)) = 7;
  }
};

std::string counted(const Context& context, const std::string& name) {
  const std::string all = context.stats();
  const std::size_t at = all.find("\"" + name + "\":");
  return at == std::string::npos ? "" : all.substr(at, all.find('}', at) - at + 1);
}

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

TEST(PointersOfDevices, BringABlockAtATouchAndMoreWhenTouchesAreInARow) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, 1);
  context.wait();
  int* const p = x.data();
  EXPECT_THAT(counted(context, "host_faults"), HasSubstr("{\"count\":0,\"bytes\":0}"));
  EXPECT_EQ(p[kMany / 2], 1);
  EXPECT_THAT(counted(context, "host_faults"), HasSubstr("{\"count\":1,\"bytes\":65536}"));
  EXPECT_EQ(std::accumulate(p, p + kMany, 0), kMany);
  std::string counts = counted(context, "host_faults");
  EXPECT_THAT(counts, HasSubstr("\"bytes\":4194304}")) << "each byte once";
  const int faults = std::atoi(counts.c_str() + counts.find("count\":") + 7);
  EXPECT_LT(faults, 30) << "of 64 blocks";
}

TEST(PointersOfDevices, OpenLessIfToldSo) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, 1);
  x.set_block(4096);
  EXPECT_EQ(x.data()[kMany / 2], 1);
  EXPECT_THAT(counted(context, "host_faults"), HasSubstr("\"bytes\":4096}"));
  EXPECT_EQ(code_of([&] { x.set_block(8192); }), ErrorCode::invalid_argument);
  Buffer<int, 1> y(context, {kMany});
  EXPECT_EQ(code_of([&] { y.set_block(5000); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { y.set_block(Index{4} << 20); }), ErrorCode::invalid_argument);
}

TEST(PointersOfDevices, AreBroughtInOneGoByAcquire) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 2> x(context, {1024, 1024});
  context.fill(x, 3);
  auto v = x.host(Access::read_write);
  v.acquire();
  v.acquire(Box{{5, 9}, {0, 1024}});
  for (Index i = 0; i < 1024; ++i) {
    for (Index j = 0; j < 1024; ++j) v(i, j) += 1;
  }
  EXPECT_THAT(counted(context, "host_faults"), HasSubstr("{\"count\":0,"));
  v.release();
  EXPECT_EQ(v(7, 7), 4);
}

TEST(PointersOfDevices, FarApartNeverExhaustTheKernelsMappings) {
  Context context = Context::self(with_devices(2));
  constexpr Index kTouches = 40'000;
  Buffer<int, 1> x(context, {2 * kTouches * kPage});
  context.fill(x, 1);
  x.set_block(4096);
  int* const p = x.data();
  for (Index i = 0; i < kTouches; ++i) p[(i * 7919 % kTouches) * 2 * kPage] += static_cast<int>(i % 100);
  for (Index i = 0; i < kTouches; ++i)
    ASSERT_EQ(p[(i * 7919 % kTouches) * 2 * kPage], 1 + static_cast<int>(i % 100)) << i;
  context.launch("add one", {2 * kTouches * kPage}, block(64), AddOne{}, read_write(x));
  for (Index i = 0; i < kTouches; i += 37) {
    ASSERT_EQ(p[(i * 7919 % kTouches) * 2 * kPage], 2 + static_cast<int>(i % 100)) << i;
    ASSERT_EQ(p[(i * 2 + 1) * kPage], 2) << i;
  }
}

TEST(PointersOfDevices, StayInsideTheBufferWhateverIsGuessed) {
  Context context = Context::self(with_devices(2));
  for (const Index blocks : {1, 2, 5, 63}) {
    for (const Index step : {-1, 1, -3, 3}) {
      Buffer<int, 1> before(context, {kPage});
      Buffer<int, 1> x(context, {blocks * kPage - 5});
      Buffer<int, 1> after(context, {kPage});
      context.fill(x, 1);
      x.set_block(4096);
      int* const p = x.data();
      for (Index b = step < 0 ? blocks - 1 : 0; 0 <= b && b < blocks; b += step) p[b * kPage] += 1;
      const int touched = static_cast<int>((blocks + std::abs(step) - 1) / std::abs(step));
      EXPECT_EQ(std::accumulate(p, p + x.size(), 0), x.size() + touched) << blocks << " by " << step;
    }
  }
}

// How many pieces of mapping the kernel allows this process.
Index most_mappings() {
  Index most = 65'530;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most;
}

TEST(PointersOfDevices, IntoOneBufferAreServedHoweverManyBlocksOfOthersAreOpen) {
  Context context = Context::self(with_devices(2));
  // Scattered blocks, two pieces each; a quarter of all pieces may be used. A kernel that allows very many is not pressed.
  const Index many = std::min<Index>(most_mappings() / 16 - 50, 20'000);
  std::vector<std::unique_ptr<Buffer<int, 1>>> buffers;
  for (const Index touches : {many, many, Index{99}, Index{1}, Index{1}, Index{1}, Index{1}, Index{1}}) {
    auto x = std::make_unique<Buffer<int, 1>>(context, Extents{2 * many * kPage});
    x->set_block(4096);
    int* const p = x->data();
    for (Index i = 0; i < touches; ++i) p[i * 7919 % many * 2 * kPage] = static_cast<int>(i);
    for (Index i = 0; i < touches; ++i) ASSERT_EQ(p[i * 7919 % many * 2 * kPage], static_cast<int>(i));
    buffers.push_back(std::move(x));
  }
}

// Takes all pieces of mapping that the kernel allows.
class NoMappingsLeft {
 public:
  NoMappingsLeft() : bytes_(static_cast<std::size_t>(2 * most_mappings()) * 4096) {
    void* const got = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = got != MAP_FAILED ? static_cast<char*>(got) : nullptr;
    for (std::size_t at = 0; memory_ != nullptr && at < bytes_ && !exhausted_; at += 8192) {
      exhausted_ = mprotect(memory_ + at, 4096, PROT_READ) != 0;
    }
  }
  ~NoMappingsLeft() {
    if (memory_ == nullptr) return;
    // One piece again: ThreadSanitizer's munmap splits mappings of its own first.
    mprotect(memory_, bytes_, PROT_NONE);
    munmap(memory_, bytes_);
  }
  NoMappingsLeft(const NoMappingsLeft&) = delete;
  NoMappingsLeft& operator=(const NoMappingsLeft&) = delete;
  bool exhausted() const { return exhausted_; }

 private:
  std::size_t bytes_;
  char* memory_ = nullptr;
  bool exhausted_ = false;
};

TEST(PointersOfDevices, IntoWhatALaunchWritesAreClosedEvenWithoutMappingsLeft) {
  std::atomic<bool> go{true};
  std::atomic<bool> launched{false};
  std::atomic<bool> over{false};
  bool exhausted = false;
  Context context = Context::self(with_devices(1));
  Buffer<int, 1> x(context, {kMany});
  const Box middle{{kMany / 4, kMany / 2}};
  context.launch("held", Domain(middle), block(64), Held{&go},
                 read_write(x));  // whatever is made at the first launch
  int* const p = x.data();
  std::fill(p, p + kMany, 1);
  std::thread opens([&] {
    while (!launched.load()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go.store(true);
    while (!over.load()) std::this_thread::yield();
  });
  go.store(false);
  {
    const NoMappingsLeft none;
    if (none.exhausted()) context.launch("held", Domain(middle), block(64), Held{&go}, read_write(x));
    launched.store(true);
    exhausted = none.exhausted();
  }
  EXPECT_EQ(p[kMany / 3], exhausted ? 7 : 1);  // which waits for the launch
  over.store(true);
  opens.join();
  EXPECT_EQ(p[0], 1);
}

TEST(PointersOfDevices, ThatAreClosedAgainAndAgainDoNotCountAsPiecesForEver) {
  Context context = Context::self(with_devices(1));
  std::vector<std::unique_ptr<Buffer<int, 1>>> small;
  for (int b = 0; b < 4; ++b) small.push_back(std::make_unique<Buffer<int, 1>>(context, Extents{100}));
  for (int round = 0; round < 4200; ++round) {
    for (auto& b : small) {
      context.launch("set", {100}, block(1), SetIndex{}, write(*b));
      ASSERT_EQ(b->data()[99], 99);
    }
  }
  Buffer<int, 1> x(context, {kMany * 8});
  context.fill(x, 1);
  const int* const p = x.data();
  const auto look = [&] {
    for (Index i = 0; i < 200; ++i) EXPECT_EQ(p[i * 77 % 200 * 2 * 16 * kPage], 1);
  };
  look();
  const std::string before = counted(context, "host_faults");
  look();
  EXPECT_EQ(counted(context, "host_faults"), before);
}

TEST(PointersOfDevices, ShowPoisonWhereNobodyWrote) {
  setenv("NUNA_POISON", "1", 1);
  Context context = Context::self(with_devices(2));
  unsetenv("NUNA_POISON");
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, Box{{0, 10}}, 1);
  const int* const p = x.data();
  EXPECT_EQ(p[9], 1);
  EXPECT_EQ(p[10], -1);
  EXPECT_EQ(p[kMany - 1], -1);
}

TEST(PointersOfDevices, OfAViewForWritingAreOpenFromTheStart) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {kMany});
  context.fill(x, 1);
  {
    auto v = x.host(Box{{100, 90'000}}, Access::write);
    std::fill(v.begin(), v.end(), 2);
  }
  EXPECT_THAT(counted(context, "host_faults"), HasSubstr("{\"count\":0,"));
  const int* const p = x.data();
  EXPECT_EQ(p[99], 1);
  EXPECT_EQ(p[100], 2);
  EXPECT_EQ(p[89'999], 2);
  EXPECT_EQ(p[90'000], 1);
}

TEST(PointersOfDevices, IntoABufferOfVeryManyPieces) {
  Context context = Context::self(with_devices(2));
  constexpr Index kSide = 256;
  Buffer<int, 2> x(context, {kSide, kSide});
  context.fill(x, 0);
  const int* const p = x.data();
  struct Fill {
    int with;
    NUNA_KERNEL void operator()(Thread t, View<int, 2> x) const { x(t.global(0), t.global(1)) = with; }
  };
  constexpr Index kTile = 16;
  for (Index i = 0; i < kSide; i += kTile) {
    for (Index j = 0; j < kSide; j += kTile) {
      const int n = static_cast<int>(i / kTile * 16 + j / kTile);
      context.launch("tile", nuna::on(static_cast<int>((i + j) / kTile % 2)),
                     Domain(Box{{i, i + kTile}, {j, j + kTile}}), block(1, 1), Fill{n}, write(x));
      ASSERT_EQ(p[(i + 5) * kSide + j + 7], n);
    }
  }
  for (Index i = 0; i < kSide; ++i) {
    for (Index j = 0; j < kSide; ++j)
      ASSERT_EQ(p[i * kSide + j], i / kTile * 16 + j / kTile) << i << ", " << j;
  }
}

TEST(PointersOfDevices, IntoWhatAFailedLaunchShouldHaveWrittenAreToldOf) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {100});
  context.fill(x, 4);
  int* const p = x.data();
  const base::LogCapture log;
  context.launch("throws", {100}, block(1), Throws{}, write(x));
  static_cast<void>(*static_cast<volatile int*>(p));
  std::string text;
  EXPECT_EQ(code_of([&] { context.wait(); }, &text), ErrorCode::kernel_failed);
  EXPECT_THAT(text, HasSubstr("no luck"));
  for (int i = 0; i < 1000 && log.lines().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("no luck")));
  p[0] = 1;  // the program goes on
  EXPECT_EQ(p[0], 1);
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
