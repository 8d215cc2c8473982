// Every kind of device: order, failures, kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/conformance.hpp"
#include "nuna/error.hpp"

namespace nuna::device::conformance {
namespace {

class DeviceQueue : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Kinds, DeviceQueue, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

#ifdef NUNA_WITH_CUDA
TEST(DeviceKinds, CudaDevicesAreAmongThem) {
  EXPECT_FALSE(find_cards().cards.empty()) << find_cards().why_none;
}
#endif

// ---- order ----

TEST_P(DeviceQueue, TicketsOfOneDeviceCountUp) {
  const auto a = device().join({});
  const auto b = device().join({});
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(b.value, a.value + 1);
  b.wait();
  EXPECT_TRUE(a.done());
}

TEST_P(DeviceQueue, OperationsRunInTheOrderOfSubmission) {
  zero(0, 64);
  for (int i = 1; i <= 9; ++i) device().run(digit(i), {});
  EXPECT_EQ(read<std::int64_t>(0), 123456789);
}

TEST_P(DeviceQueue, KernelsAndFillsKeepOneOrderAndCopiesTheirTickets) {
  zero(0, 64);
  const auto seven = device().run(digit(7), {});
  const auto copied = device().copy(run_of(at(8), 8), run_of(at(0), 8), std::span(&seven, 1));
  device().fill(run_of(at(0), 8), std::byte{0}, std::span(&copied, 1));
  device().run(digit(4), {});
  EXPECT_EQ(read<std::int64_t>(8), 7);
  EXPECT_EQ(read<std::int64_t>(0), 4);
}

TEST_P(DeviceQueue, AnOperationWaitsForItsTickets) {
  zero(0, 64);
  const std::array after{gate(1), gate(2)};
  const auto ticket = device().run(digit(1), after);
  const auto later = device().run(digit(2), {});
  gate_.complete(1);
  EXPECT_FALSE(ticket.done());
  EXPECT_FALSE(later.done());  // in order, although it waits for nothing itself
  gate_.complete(2);
  later.wait();
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(read<std::int64_t>(0), 12);
}

TEST_P(DeviceQueue, JoinCompletesWithWhatWasSubmittedAndWhatItWaitsFor) {
  zero(0, 64);
  const auto blocked = gate(1);
  const auto work = device().run(digit(5), std::span(&blocked, 1));
  const auto join = device().join({});
  EXPECT_FALSE(join.done());
  gate_.complete(1);
  join.wait();
  EXPECT_TRUE(work.done());
  const auto other = gate(2);
  const auto second = device().join(std::span(&other, 1));
  EXPECT_FALSE(second.done());
  gate_.complete(2);
  second.wait();
}

TEST_P(DeviceQueue, ManyTicketsCanBeWaitedFor) {
  std::vector<base::Ticket> after;
  for (std::uint64_t i = 1; i <= 40; ++i) after.push_back(gate(i));
  const auto ticket = device().join(after);
  for (std::uint64_t i = 1; i < 40; ++i) gate_.complete(i);
  EXPECT_FALSE(ticket.done());
  gate_.complete(40);
  ticket.wait();
}

TEST_P(DeviceQueue, ADefaultTicketIsComplete) {
  const base::Ticket none;
  device().join(std::span(&none, 1)).wait();
}

TEST_P(DeviceQueue, TwoDevicesFollowEachOthersTickets) {
  const auto other_rig = GetParam().make(bell_);
  Device& other = other_rig->device();
  zero(0, 64);
  other.commit({0, 64});
  std::int64_t shuttle = 0;  // in host memory, which both can reach
  const Region mid = run_of(reinterpret_cast<std::byte*>(&shuttle), 8);
  base::Ticket last;
  for (int round = 0; round < 300; ++round) {  // here -> shuttle -> other, which counts, and back
    const auto out = device().copy(mid, run_of(at(0), 8), std::span(&last, 1));
    const auto in = other.copy(run_of(other.base(), 8), mid, std::span(&out, 1));
    KernelCall call = kernel(count_up(round), 0);
    call.views[0].origin = reinterpret_cast<char*>(other.base());
    const auto counted = other.run(std::move(call), std::span(&in, 1));
    const auto back = other.copy(mid, run_of(other.base(), 8), std::span(&counted, 1));
    last = device().copy(run_of(at(0), 8), mid, std::span(&back, 1));
  }
  last.wait();
  EXPECT_EQ(said(last), "");
  EXPECT_EQ(read<std::int64_t>(0), 300);
}

TEST_P(DeviceQueue, ManySubmissionsRunInOrder) {
  zero(0, 64);
  const std::int64_t kMany = GetParam().host ? 100'000 : 10'000;
  base::Ticket last;
  for (std::int64_t i = 0; i < kMany; ++i) {
    KernelCall call = kernel(count_up(i), 0);
    last = device().run(std::move(call), std::span(&last, 1));
  }
  last.wait();
  EXPECT_EQ(said(last), "");
  EXPECT_EQ(read<std::int64_t>(0), kMany);
}

TEST_P(DeviceQueue, DestructionCompletesWhatWasSubmitted) {
  device().commit({0, 64});
  std::int64_t result = 0;
  device().fill(run_of(at(0), 64), std::byte{0}, {});
  base::Ticket last;
  for (int i = 1; i <= 5; ++i) last = device().run(digit(i), {});
  device().copy(run_of(reinterpret_cast<std::byte*>(&result), 8), run_of(at(0), 8), std::span(&last, 1));
  rig_->end_device();
  EXPECT_EQ(result, 12345);
}

TEST_P(DeviceQueue, AnIdleDeviceEnds) { rig_->end_device(); }

// ---- failures ----

TEST_P(DeviceQueue, AKernelThatThrowsFailsItsTicketOnly) {
  zero(0, 64);
  const auto failed = device().run(kernel(failing(), 0), {});
  const auto next = device().run(digit(3), {});
  next.wait();
  EXPECT_EQ(said(next), "");
  EXPECT_EQ(read<std::int64_t>(0), 3);
  ASSERT_NE(failed.failure(), nullptr);
  try {
    std::rethrow_exception(failed.failure());
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), GetParam().host ? ErrorCode::kernel_failed : ErrorCode::unsupported);
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("'test'"),
                                         testing::HasSubstr(GetParam().host ? "always" : "nuna_add_kernels"),
                                         testing::HasSubstr(device().properties().name)));
  }
}

TEST_P(DeviceQueue, EveryKindOfOperationAfterAFailureIsSkippedWithTheSameFailure) {
  zero(0, 64);
  const auto failed = device().run(kernel(failing(), 0), {});
  const auto after = std::span(&failed, 1);
  const std::array skipped{device().run(digit(1), after),
                           device().fill(run_of(at(0), 8), std::byte{9}, after),
                           device().copy(run_of(at(0), 8), run_of(at(8), 8), after), device().join(after)};
  const auto chained = device().join(std::span(&skipped[1], 1));
  chained.wait();
  for (const base::Ticket& ticket : skipped) EXPECT_EQ(ticket.failure(), failed.failure());
  EXPECT_EQ(chained.failure(), failed.failure());
  EXPECT_EQ(read<std::int64_t>(0), 0);
}

TEST_P(DeviceQueue, AFailureIsSeenWhenItsTicketWasCompleteAtSubmission) {
  zero(0, 64);
  const auto failed = device().run(kernel(failing(), 0), {});
  failed.wait();
  const auto skipped = device().run(digit(1), std::span(&failed, 1));
  skipped.wait();
  EXPECT_EQ(skipped.failure(), failed.failure());
}

TEST_P(DeviceQueue, AFailureOfAnotherLaneTravels) {
  zero(0, 64);
  const std::array after{gate(1), gate(2)};
  const auto skipped = device().run(digit(1), after);
  gate_.fail(1, std::make_exception_ptr(std::runtime_error("the wire is cut")));
  gate_.complete(1);
  EXPECT_FALSE(skipped.done());  // completes after all that it waits for, failed or not
  gate_.complete(2);
  skipped.wait();
  EXPECT_EQ(skipped.failure(), gate(1).failure());
  EXPECT_EQ(read<std::int64_t>(0), 0);
}

// ---- kernels ----

TEST_P(DeviceQueue, AKernelRunsEveryThreadOfItsBoxOnce) {
  constexpr Index kSide = 12;
  constexpr Index kBytes = kSide * kSide * kSide * 4;
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    Box box;
    box.dims = 1 + static_cast<int>(random() % 3);
    for (int a = 0; a < box.dims; ++a) {
      const auto begin = static_cast<Index>(random() % kSide);
      box[a] = {begin, begin + static_cast<Index>(random() % static_cast<unsigned>(kSide - begin + 1))};
    }
    zero(0, kBytes);
    KernelCall call = kernel(add_one(), 0, box);
    call.views[0].stride_bytes = {kSide * kSide * 4, kSide * 4, 4};
    device().run(std::move(call), {});
    settle();
    std::vector<std::int32_t> counts(kSide * kSide * kSide);
    device()
        .copy(run_of(reinterpret_cast<std::byte*>(counts.data()), kBytes), run_of(at(0), kBytes), {})
        .wait();
    for (Index i = 0; i < kSide * kSide * kSide; ++i) {
      const bool inside = box[0].contains(i / kSide / kSide) && box[1].contains(i / kSide % kSide) &&
                          box[2].contains(i % kSide);
      ASSERT_EQ(counts[static_cast<std::size_t>(i)], inside ? 1 : 0) << to_string(box) << " element " << i;
    }
  }
}

TEST_P(DeviceQueue, ArgumentsAreCopiedAtSubmission) {
  zero(0, 64);
  {
    KernelCall call = digit(6);
    const std::vector<base::Ticket> after{gate(1)};
    const auto run = device().run(std::move(call), after);
    Region to = run_of(at(8), 8);
    device().copy(to, run_of(at(0), 8), std::span(&run, 1));
    to.first = nullptr;
  }
  gate_.complete(1);
  EXPECT_EQ(read<std::int64_t>(8), 6);
}

}  // namespace
}  // namespace nuna::device::conformance
