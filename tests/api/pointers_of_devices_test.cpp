// Plain pointers into buffers that several devices have (D6, D7): what comes at a touch, what is open, what is told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "pointers.hpp"

namespace nuna::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

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

// Each touch is far from the last one: what is known of the pieces near that one does not tell.
TEST(PointersOfDevices, HereAndThereInABufferOfVeryManyPieces) {
  Context context = Context::self(with_devices(2));
  constexpr Index kRow = 2 * kPage;
  constexpr Index kRows = 1000;
  Buffer<int, 1> x(context, {kRows * kRow});
  context.fill(x, 0);
  int* const p = x.data();
  const auto launch = [&](Index row, Index device) {
    const Box box{{row * kRow, (row + 1) * kRow}};
    context.launch("row", nuna::on(static_cast<int>(device % 2)), Domain(box), block(1), Scale{},
                   read_write(x));
  };
  for (Index row = 0; row < kRows; ++row) launch(row, row);
  const auto is_again = [](Index row) { return row % 50 == 0; };
  for (Index i = 0; i < kRows; ++i) {
    const Index row = i * 391 % kRows;
    ASSERT_EQ(p[row * kRow + 5], 1) << "row " << row;
    p[row * kRow + 5] = 2;
    if (is_again(row)) launch(row, row + 1);
  }
  for (Index row = 0; row < kRows; ++row) {
    ASSERT_EQ(p[row * kRow + 5], is_again(row) ? 7 : 2) << "row " << row;
    ASSERT_EQ(p[row * kRow + 6], is_again(row) ? 4 : 1) << "row " << row;
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

}  // namespace
}  // namespace nuna::test
