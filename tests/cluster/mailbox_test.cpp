#include "cluster/mailbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace nuna::cluster {
namespace {

using State = PostedReceive::State;

std::vector<std::byte> bytes_of(std::uint64_t message, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((message * 31 + i) & 0xFF);
  return bytes;
}

Envelope numbered(std::uint64_t sequence) {
  Envelope envelope;
  envelope.sequence = sequence;
  envelope.call =
      "a call with a name that is longer than any small string, number " + std::to_string(sequence);
  return envelope;
}

struct Slot {
  explicit Slot(std::size_t size) : bytes(size) { receive.into = bytes; }
  std::vector<std::byte> bytes;
  PostedReceive receive;
};

struct Box {
  MessagePool pool{std::size_t{1} << 20};
  Mailbox mailbox{pool};
};

TEST(Mailbox, AnEarlyMessageWaitsForItsReceive) {
  Box box;
  {
    std::vector<std::byte> bytes = bytes_of(1, 10);
    box.mailbox.send(numbered(1), bytes);
    bytes.assign(10, std::byte{0});  // the sender may reuse its memory
  }
  Slot slot(10);
  box.mailbox.post(slot.receive);
  EXPECT_EQ(slot.receive.state, State::arrived);
  EXPECT_EQ(slot.bytes, bytes_of(1, 10));
  EXPECT_EQ(slot.receive.envelope.sequence, 1U);
}

TEST(Mailbox, AnEarlyReceiveIsFilledBySendWithoutABuffer) {
  Box box;
  Slot slot(10);
  box.mailbox.post(slot.receive);
  EXPECT_EQ(slot.receive.state, State::waiting);
  box.mailbox.send(numbered(2), bytes_of(2, 10));
  EXPECT_EQ(slot.receive.state, State::arrived);
  EXPECT_EQ(slot.bytes, bytes_of(2, 10));
  EXPECT_EQ(box.pool.allocations(), 0U);
}

TEST(Mailbox, AnotherSizeIsNotDelivered) {
  Box box;
  Slot longer(11);
  Slot shorter(9);
  box.mailbox.post(longer.receive);
  box.mailbox.send(numbered(1), bytes_of(1, 10));
  box.mailbox.send(numbered(2), bytes_of(2, 10));
  box.mailbox.post(shorter.receive);
  for (const Slot* slot : {&longer, &shorter}) {
    EXPECT_EQ(slot->receive.state, State::wrong_size);
    EXPECT_EQ(slot->receive.sent_bytes, 10U);
    EXPECT_THAT(slot->bytes, testing::Each(std::byte{0}));
  }
}

TEST(Mailbox, AFailureArrivesWhateverItsSize) {
  Box box;
  Envelope failed = numbered(1);
  failed.failure = "the kernel threw";
  Slot slot(10);
  box.mailbox.post(slot.receive);
  box.mailbox.send(failed, {});
  EXPECT_EQ(slot.receive.state, State::arrived);
  EXPECT_EQ(slot.receive.envelope.failure, "the kernel threw");
}

TEST(Mailbox, EmptyMessagesArriveToo) {
  Box box;
  Slot early(0);
  Slot late(0);
  box.mailbox.post(early.receive);
  box.mailbox.send(numbered(1), {});
  box.mailbox.send(numbered(2), {});
  box.mailbox.post(late.receive);
  EXPECT_EQ(early.receive.state, State::arrived);
  EXPECT_EQ(late.receive.envelope.sequence, 2U);
}

TEST(Mailbox, ACancelledReceiveLeavesItsMessageToTheNext) {
  Box box;
  Slot cancelled(4);
  Slot kept(4);
  box.mailbox.post(cancelled.receive);
  box.mailbox.post(kept.receive);
  box.mailbox.cancel(cancelled.receive);
  box.mailbox.cancel(cancelled.receive);
  box.mailbox.send(numbered(1), bytes_of(1, 4));
  EXPECT_EQ(cancelled.receive.state, State::waiting);
  EXPECT_EQ(kept.bytes, bytes_of(1, 4));
  box.mailbox.cancel(kept.receive);
  EXPECT_EQ(kept.receive.state, State::arrived);
}

TEST(Mailbox, LanesDoNotWaitForEachOther) {
  Box box;
  const auto in_lane = [](std::uint64_t lane) {
    Envelope envelope = numbered(lane);
    envelope.lane = lane;
    return envelope;
  };
  Slot early(10);
  early.receive.lane = 7;
  box.mailbox.post(early.receive);
  box.mailbox.send(in_lane(0), bytes_of(1, 10));
  box.mailbox.send(in_lane(8), bytes_of(2, 10));
  EXPECT_EQ(early.receive.state, State::waiting);
  Slot eight(10);
  eight.receive.lane = 8;
  box.mailbox.post(eight.receive);
  EXPECT_EQ(eight.bytes, bytes_of(2, 10));
  box.mailbox.send(in_lane(7), bytes_of(3, 10));
  EXPECT_EQ(early.bytes, bytes_of(3, 10));
  Slot planned(10);
  box.mailbox.post(planned.receive);
  EXPECT_EQ(planned.bytes, bytes_of(1, 10));
}

TEST(Mailbox, SteadyExchangesReuseTheirBuffers) {
  Box box;
  const auto exchange = [&] {
    for (std::size_t size : {100U, 1000U, 10U}) box.mailbox.send(numbered(size), bytes_of(size, size));
    for (std::size_t size : {100U, 1000U, 10U}) {
      Slot slot(size);
      box.mailbox.post(slot.receive);
      ASSERT_EQ(slot.bytes, bytes_of(size, size));
    }
  };
  for (int i = 0; i < 4; ++i) exchange();
  const std::size_t before = box.pool.allocations();
  for (int i = 0; i < 100; ++i) exchange();
  EXPECT_EQ(box.pool.allocations(), before);
}

TEST(MessagePool, KeepsNoMoreBytesThanItMay) {
  MessagePool pool(1000);
  std::list<KeptMessage> large = pool.take(2000);
  large.front().bytes.resize(2000);
  pool.give(std::move(large));
  std::list<KeptMessage> again = pool.take(2000);
  EXPECT_EQ(again.front().bytes.capacity(), 0U) << "it was given back to the system";
  std::list<KeptMessage> small = pool.take(500);
  small.front().bytes.resize(500);
  pool.give(std::move(small));
  const std::size_t before = pool.allocations();
  EXPECT_GE(pool.take(500).front().bytes.capacity(), 500U);
  EXPECT_EQ(pool.allocations(), before);
}

// A model of one thread: messages and receives as two queues.
TEST(Mailbox, RandomTrafficFollowsTheModel) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Box box;
    std::deque<std::uint64_t> unmatched_messages;
    std::deque<std::pair<Slot*, std::uint64_t>> matched;
    std::deque<Slot*> unmatched_receives;
    std::vector<std::unique_ptr<Slot>> slots;
    const auto size_of = [&](std::uint64_t message) { return static_cast<std::size_t>(message % 5 * 7); };
    std::uint64_t next_message = 0;
    std::uint64_t next_receive = 0;
    for (int step = 0; step < 100; ++step) {
      const auto action = random() % 9;
      if (action < 4) {
        const std::uint64_t message = next_message++;
        box.mailbox.send(numbered(message), bytes_of(message, size_of(message)));
        if (unmatched_receives.empty()) {
          unmatched_messages.push_back(message);
        } else {
          matched.emplace_back(unmatched_receives.front(), message);
          unmatched_receives.pop_front();
        }
      } else if (action < 8) {
        // The receive that the model gives to message n has its size, unless a cancelled one came between.
        const std::uint64_t expected = unmatched_messages.empty() ? next_message + unmatched_receives.size()
                                                                  : unmatched_messages.front();
        ++next_receive;
        Slot* slot = slots.emplace_back(std::make_unique<Slot>(size_of(expected))).get();
        box.mailbox.post(slot->receive);
        if (unmatched_messages.empty()) {
          unmatched_receives.push_back(slot);
        } else {
          matched.emplace_back(slot, unmatched_messages.front());
          unmatched_messages.pop_front();
        }
      } else if (!unmatched_receives.empty()) {
        box.mailbox.cancel(unmatched_receives.back()->receive);
        unmatched_receives.pop_back();
      }
    }
    for (const auto& [slot, message] : matched) {
      ASSERT_EQ(slot->receive.state, State::arrived) << seed;
      ASSERT_EQ(slot->receive.envelope.sequence, message);
      ASSERT_EQ(slot->bytes, bytes_of(message, size_of(message)));
    }
    for (const Slot* slot : unmatched_receives) ASSERT_EQ(slot->receive.state, State::waiting);
    ASSERT_EQ(slots.size(), next_receive);
    for (Slot* slot : unmatched_receives) box.mailbox.cancel(slot->receive);
  }
}

TEST(Mailbox, OrderHoldsBetweenTwoThreadsWithCancelledReceives) {
  constexpr std::uint64_t kMessages = 20'000;
  Box box;
  std::thread sender([&] {
    for (std::uint64_t m = 0; m < kMessages; ++m) box.mailbox.send(numbered(m), bytes_of(m, 8));
  });
  std::mt19937 random(1);
  for (std::uint64_t expected = 0; expected < kMessages;) {
    Slot slot(8);
    box.mailbox.post(slot.receive);
    if (random() % 2 == 0) {
      while (slot.receive.state.load(std::memory_order_acquire) == State::waiting) std::this_thread::yield();
    }
    box.mailbox.cancel(slot.receive);
    if (slot.receive.state.load(std::memory_order_acquire) == State::waiting) continue;
    ASSERT_EQ(slot.receive.envelope.sequence, expected);
    ASSERT_EQ(slot.bytes, bytes_of(expected, 8));
    ++expected;
  }
  sender.join();
}

}  // namespace
}  // namespace nuna::cluster
