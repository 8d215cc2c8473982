#include "device/host/operation_ring.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace nuna::device::host {
namespace {

struct Record {
  int number = 0;
  std::vector<int> storage;
};
using Ring = OperationRing<Record, 4>;

void push(Ring& ring, int number) {
  ring.back().number = number;
  ring.push();
}
int pop(Ring& ring) {
  const int number = ring.front()->number;
  ring.pop();
  return number;
}

TEST(OperationRing, IsEmptyAtFirst) {
  Ring ring;
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(OperationRing, ARecordIsVisibleOnlyOncePushed) {
  Ring ring;
  ring.back().number = 7;
  EXPECT_TRUE(ring.empty());
  ring.push();
  EXPECT_FALSE(ring.empty());
  EXPECT_EQ(ring.front()->number, 7);
}

TEST(OperationRing, LooksAtTheSameFrontUntilPopped) {
  Ring ring;
  push(ring, 1);
  push(ring, 2);
  EXPECT_EQ(ring.front()->number, 1);
  EXPECT_EQ(ring.front()->number, 1);
  ring.pop();
  EXPECT_EQ(ring.front()->number, 2);
}

TEST(OperationRing, KeepsOrderAcrossManyChunks) {
  Ring ring;
  for (int i = 0; i < 1000; ++i) push(ring, i);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(pop(ring), i);
  EXPECT_TRUE(ring.empty());
}

TEST(OperationRing, AllocatesNothingInTheSteadyState) {
  Ring ring;
  for (int i = 0; i < 8; ++i) push(ring, i);
  for (int i = 0; i < 8; ++i) pop(ring);
  for (int i = 0; i < 40; ++i) {  // the circle reaches its size
    push(ring, i);
    pop(ring);
  }
  const std::size_t chunks = ring.chunks();
  for (int i = 0; i < 10'000; ++i) {
    push(ring, i);
    ASSERT_EQ(pop(ring), i);
  }
  EXPECT_EQ(ring.chunks(), chunks);
  EXPECT_LE(chunks, 4u);
}

TEST(OperationRing, GrowsInTheMiddleOfItsCircle) {
  Ring ring;
  int pushed = 0;
  int popped = 0;
  for (int round = 1; round < 60; ++round) {
    for (int i = 0; i < round; ++i) push(ring, pushed++);
    for (int i = 0; i < round / 2; ++i) ASSERT_EQ(pop(ring), popped++);
  }
  while (popped < pushed) ASSERT_EQ(pop(ring), popped++);
  EXPECT_TRUE(ring.empty());
}

TEST(OperationRing, ARecordComesBackWithWhatItOwns) {
  Ring ring;
  ring.back().storage.reserve(100);
  const int* storage = ring.back().storage.data();
  ring.push();
  ring.front();
  ring.pop();
  bool met = false;
  for (int i = 0; i < 20; ++i) {
    met |= ring.back().storage.data() == storage;
    ring.push();
    ring.front();
    ring.pop();
  }
  EXPECT_TRUE(met);
}

TEST(OperationRing, CarriesRecordsBetweenTwoThreads) {
  Ring ring;
  constexpr int kMany = 50'000;
  std::thread submitter([&] {
    for (int i = 0; i < kMany; ++i) push(ring, i);
  });
  int wrong = 0;
  for (int i = 0; i < kMany; ++i) {
    while (ring.front() == nullptr) std::this_thread::yield();
    wrong += pop(ring) != i;
  }
  submitter.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace nuna::device::host
