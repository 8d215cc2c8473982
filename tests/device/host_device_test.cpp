// What only the host device promises; the rest is in device_conformance_test.cpp.
#include "device/host/host_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/check.hpp"
#include "base/mutex.hpp"
#include "nuna/error.hpp"

namespace nuna::device {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kRange = std::size_t{1} << 26;

class HostDeviceTest : public testing::Test {
 protected:
  HostDeviceTest()
      : base_(static_cast<std::byte*>(
            mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~HostDeviceTest() override { munmap(base_, kRange); }

  HostDeviceConfig config(int threads) {
    HostDeviceConfig c;
    c.name = "host:1";
    c.threads = threads;
    c.base = base_;
    c.range_bytes = kRange;
    c.memory_bytes = kRange;
    c.bell = &bell_;
    return c;
  }
  std::unique_ptr<Device> device(int threads) { return make_host_device(config(threads)); }

  base::Doorbell bell_;
  std::byte* base_;
};

template <class F>
KernelCall call(F f, const Box& threads) {
  KernelCall c;
  c.name = "heat";
  c.code.run = [](const void* closure, const Box& box, const detail::InstanceView*) {
    (*static_cast<const F*>(closure))(box);
  };
  c.closure = std::make_shared<const F>(std::move(f));
  c.threads = threads;
  return c;
}

std::string failure_text(const base::Ticket& ticket) {
  ticket.wait();
  try {
    if (const auto failure = ticket.failure()) std::rethrow_exception(failure);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kernel_failed);
    return e.what();
  }
  return "";
}

TEST_F(HostDeviceTest, TellsItsProperties) {
  auto c = config(2);
  c.shares_host_memory = true;
  c.memory_bytes = 4096;
  const auto d = make_host_device(c);
  EXPECT_EQ(d->properties().name, "host:1");
  EXPECT_EQ(d->properties().threads, 2);
  EXPECT_EQ(d->properties().memory_bytes, 4096u);
  EXPECT_TRUE(d->properties().shares_host_memory);
  EXPECT_EQ(d->base(), base_);
}

/// Whether a byte can be read: the system does not fault for us.
bool is_open(const std::byte* at) {
  const int file = memfd_create("probe", MFD_CLOEXEC);
  const bool open = write(file, at, 1) == 1;
  close(file);
  return open;
}

TEST_F(HostDeviceTest, AClosedOnesMemoryIsOpenWhereItIsCommittedOnly) {
  for (const bool shares : {false, true}) {
    auto c = config(1);
    c.shares_host_memory = c.shared_mapping = shares;
    c.closed = true;
    if (shares) mmap(base_, kRange, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    ASSERT_EQ(mprotect(base_, kRange, PROT_READ | PROT_WRITE), 0);
    const auto d = make_host_device(c);
    EXPECT_FALSE(is_open(base_)) << shares;
    d->commit({0, 8192});
    EXPECT_TRUE(is_open(base_ + 8191)) << shares;
    EXPECT_FALSE(is_open(base_ + 8192)) << shares;
    d->release({0, 8192});
    EXPECT_FALSE(is_open(base_)) << shares;
  }
}

TEST_F(HostDeviceTest, AKernelRunsOnAsManyThreadsAsTheDeviceHas) {
  const auto d = device(3);
  std::atomic<int> arrived{0};
  const auto ticket = d->run(call(
                                 [&](const Box&) {
                                   ++arrived;
                                   while (arrived.load() < 3) std::this_thread::yield();
                                 },
                                 Box{{0, 3}}),
                             {});
  ticket.wait();
  EXPECT_EQ(arrived, 3);
}

template <class F>
KernelCall brief(F f) {
  KernelCall c = call(std::move(f), Box{{0, 8}});
  c.brief = true;
  return c;
}

TEST_F(HostDeviceTest, ABriefKernelIsRunWholeByTheThreadThatSubmitsIt) {
  const auto d = device(3);
  std::thread::id who;
  const auto ticket = d->run(brief([&](const Box& box) {
                               who = std::this_thread::get_id();
                               EXPECT_EQ(box, (Box{{0, 8}}));
                             }),
                             {});
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(who, std::this_thread::get_id());
}

TEST_F(HostDeviceTest, ABriefKernelThatCannotBeginAtOnceWaitsItsTurn) {
  const auto d = device(1);
  base::Timeline elsewhere(bell_);
  const base::Ticket pending{&elsewhere, 1};
  std::thread::id who;
  const auto note = [&](const Box&) { who = std::this_thread::get_id(); };
  const auto after_another = d->run(brief(note), std::span(&pending, 1));
  EXPECT_FALSE(after_another.done());
  const auto behind_it = d->run(brief(note), {});
  EXPECT_FALSE(behind_it.done());
  elsewhere.complete(1);
  behind_it.wait();
  EXPECT_TRUE(after_another.done());
  EXPECT_NE(who, std::this_thread::get_id());
}

TEST_F(HostDeviceTest, ABriefKernelThatThrowsFailsItsOwnTicketOnly) {
  const auto d = device(2);
  const auto ticket = d->run(brief([](const Box&) { throw std::runtime_error("no more"); }), {});
  EXPECT_THAT(failure_text(ticket), AllOf(HasSubstr("heat"), HasSubstr("no more")));
  EXPECT_EQ(failure_text(d->run(brief([](const Box&) {}), {})), "");
  const auto later = d->run(brief([](const Box&) {}), std::span(&ticket, 1));
  EXPECT_THAT(failure_text(later), HasSubstr("no more"));
}

TEST_F(HostDeviceTest, BriefKernelsAndOthersKeepTheirOrder) {
  const auto d = device(2);
  std::atomic<int> turn{0};
  base::Ticket last;
  for (int i = 0; i < 3000; ++i) {
    KernelCall c = call([&turn, i](const Box&) { EXPECT_EQ(turn.exchange(i + 1), i); }, Box{{0, 1}});
    c.brief = i % 7 % 3 != 0;
    last = d->run(std::move(c), {});
    if (i % 5 == 0) last.wait();
  }
  last.wait();
  EXPECT_EQ(turn, 3000);
}

TEST_F(HostDeviceTest, EachThreadGetsOneContiguousPart) {
  const auto d = device(3);
  base::Mutex mutex;
  std::set<Index> begins;
  d->run(call(
             [&](const Box& box) {
               const base::MutexLock lock(mutex);
               EXPECT_EQ(box[0].size(), 10);
               EXPECT_EQ(box[1], (Interval{5, 9}));
               begins.insert(box[0].begin);
             },
             Box{{100, 130}, {5, 9}}),
         {})
      .wait();
  EXPECT_EQ(begins, (std::set<Index>{100, 110, 120}));
}

TEST_F(HostDeviceTest, AKernelThatThrowsNamesItselfTheDeviceAndTheReason) {
  for (const int threads : {1, 3}) {
    const auto d = device(threads);
    EXPECT_EQ(failure_text(
                  d->run(call([](const Box&) { throw std::runtime_error("too cold"); }, Box{{0, 30}}), {})),
              "kernel 'heat' failed on device host:1: too cold");
    EXPECT_THAT(failure_text(d->run(call([](const Box&) { throw 42; }, Box{{0, 30}}), {})),
                AllOf(HasSubstr("'heat'"), HasSubstr("host:1"), HasSubstr("no std::exception")));
  }
}

TEST_F(HostDeviceTest, AFailureOnAHelperThreadIsAFailureOfTheKernel) {
  const auto d = device(3);
  const auto ticket = d->run(call(
                                 [](const Box& box) {
                                   if (box[0].contains(29)) throw std::runtime_error("last part");
                                 },
                                 Box{{0, 30}}),
                             {});
  EXPECT_THAT(failure_text(ticket), HasSubstr("last part"));
}

TEST_F(HostDeviceTest, AClosureIsReleasedBeforeItsTicketCompletes) {
  const auto d = device(1);
  auto token = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = token;
  auto kernel = call([held = std::move(token)](const Box&) { ++*held; }, Box{{0, 1}});
  d->run(std::move(kernel), {}).wait();
  EXPECT_TRUE(watched.expired());
}

TEST_F(HostDeviceTest, LargeCopiesAndFillsAreSharedByTheTeamWithoutAGap) {
  const auto d = device(3);
  constexpr Index kBytes = (Index{5} << 20) + 12'345;
  d->commit({0, Index{16} << 20});
  const Region from{base_, {1, 1, 1}, {}, kBytes};
  const Region to{base_ + (Index{8} << 20), {1, 1, 1}, {}, kBytes};
  d->fill({base_, {1, 1, 1}, {}, Index{16} << 20}, std::byte{3}, {}).wait();
  for (Index i = 0; i < kBytes; ++i) base_[i] = static_cast<std::byte>(i * 31 / 7);
  d->copy(to, from, {}).wait();
  EXPECT_EQ(std::memcmp(to.first, from.first, kBytes), 0);
  EXPECT_EQ(to.first[kBytes], std::byte{3});
  EXPECT_EQ(to.first[-1], std::byte{3});
}

TEST_F(HostDeviceTest, OverlappingCopiesAreABrokenInvariantButIdenticalOnesAreNot) {
  const auto d = device(1);
  d->commit({0, 8192});
  const Region from{base_, {1, 1, 1}, {}, 4096};
  Region to = from;
  d->copy(to, from, {}).wait();
  const base::ThrowOnPanic throwing;
  to.first += 1;
  EXPECT_THROW(d->copy(to, from, {}), base::BrokenInvariant);
  to.run_bytes = 5;
  EXPECT_THROW(d->copy(to, from, {}), base::BrokenInvariant);
}

TEST_F(HostDeviceTest, ARefusedSubmissionLeavesTheQueueAsItWas) {
  const auto d = device(1);
  const base::ThrowOnPanic throwing;
  const base::Ticket future{d->join({}).line, 100};
  EXPECT_THROW(d->join(std::span(&future, 1)), base::BrokenInvariant);
  const auto ticket = d->join({});
  EXPECT_EQ(ticket.value, 2u);
  ticket.wait();
}

TEST_F(HostDeviceTest, WorksWithoutSpinningToo) {
  for (const int threads : {1, 3}) {
    auto c = config(threads);
    c.spin = std::chrono::nanoseconds(0);
    const auto d = make_host_device(c);
    std::atomic<Index> sum{0};
    for (int i = 0; i < 200; ++i) {
      const auto t = d->run(call([&](const Box& box) { sum += box.count(); }, Box{{0, 9}}), {});
      if (i % 3 == 0) t.wait();
    }
    d->join({}).wait();
    EXPECT_EQ(sum, 1800);
  }
}

TEST_F(HostDeviceTest, ItsThreadsAreDeafToTheProgramsSignalsButNotToFaults) {
  const auto d = device(1);
  sigset_t mask;
  sigemptyset(&mask);
  d->run(call([&](const Box&) { pthread_sigmask(SIG_BLOCK, nullptr, &mask); }, Box{{0, 1}}), {}).wait();
  EXPECT_EQ(sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(sigismember(&mask, SIGALRM), 1);
  EXPECT_EQ(sigismember(&mask, SIGSEGV), 0);
  EXPECT_EQ(sigismember(&mask, SIGBUS), 0);
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

TEST_F(HostDeviceTest, NeedsADoorbellAndAThread) {
  const base::ThrowOnPanic throwing;
  auto c = config(1);
  c.bell = nullptr;
  EXPECT_THROW(make_host_device(c), base::BrokenInvariant);
  EXPECT_THROW(device(0), base::BrokenInvariant);
}

TEST_F(HostDeviceTest, ACallByPartIsOneCallOnTheLeader) {
  const auto dev = device(4);
  struct Noted {
    std::atomic<int> calls{0};
    Box threads;
    detail::PartPlace place{7, nullptr};
  };
  const auto noted = std::make_shared<Noted>();
  KernelCall c;
  c.name = "library";
  c.code.form = detail::Form::parts;
  c.code.part = [](const void* closure, const Box& threads, const detail::InstanceView*,
                   const detail::PartPlace& place) {
    auto& to = **static_cast<const std::shared_ptr<Noted>*>(closure);
    ++to.calls;
    to.threads = threads;
    to.place = place;
  };
  c.closure = std::make_shared<const std::shared_ptr<Noted>>(noted);
  c.threads = Box{{3, 1000}};
  dev->run(std::move(c), {}).wait();
  EXPECT_EQ(noted->calls, 1);
  EXPECT_EQ(noted->threads, (Box{{3, 1000}}));
  EXPECT_EQ(noted->place.cuda_device, -1);
  EXPECT_EQ(noted->place.stream, nullptr);
}

TEST_F(HostDeviceTest, AKernelByBlockIsCutOnlyBetweenBlocks) {
  const auto dev = device(4);
  base::Mutex mutex;
  std::set<Index> begins;
  KernelCall c = call(
      [&](const Box& box) {
        const base::MutexLock lock(mutex);
        begins.insert(box[0].begin);
      },
      Box{{5, 70}});
  c.code.form = detail::Form::blocks;
  c.blocks.origin = {2, 0, 0};
  c.blocks.size = {16, 1, 1};
  dev->run(std::move(c), {}).wait();
  EXPECT_THAT(begins, testing::ElementsAre(5, 34, 50, 66));  // 5 blocks for 4 threads
}

}  // namespace
}  // namespace nuna::device
