// What is told of a pointer: owner, holders, describe, and nuna_describe for debuggers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Index kInts = Index{1} << 20;
constexpr Memory kHost{0, Memory::kHost};

struct Inspect : ::testing::Test {
  Context context = Context::self(with_devices(2));
  Buffer<int, 2> x{context, {1024, 1024}};  // a device has 512 rows
  int* at(Index i, Index j) { return x.address() + i * 1024 + j; }
};

TEST_F(Inspect, OwnerAndHoldersFollowTheBytes) {
  EXPECT_EQ(code_of([&] { context.owner(at(0, 0)); }), ErrorCode::never_written);
  EXPECT_THAT(context.holders(at(0, 0)), IsEmpty());
  context.fill(x, 1);
  EXPECT_EQ(context.owner(at(0, 0)), (Memory{0, 0}));
  EXPECT_EQ(context.owner(at(1000, 5)), (Memory{0, 1}));
  context.wait();
  int* const p = x.data();
  EXPECT_THAT(context.holders(p), ElementsAre(Memory{0, 0})) << "opening moves nothing";
  EXPECT_EQ(p[0], 1);
  EXPECT_THAT(context.holders(p), ElementsAre(Memory{0, 0}, kHost));
  EXPECT_THAT(context.holders(p + 1000 * 1024), ElementsAre(Memory{0, 1})) << "another block";
  p[1] = 2;
  EXPECT_THAT(context.holders(p), ElementsAre(kHost)) << "its block was written";
  EXPECT_EQ(context.owner(p), kHost);
  context.launch("add one", {1024}, block(64), [](Thread, View<int, 2>) {}, read_write(x, rows()));
  EXPECT_EQ(context.owner(p), (Memory{0, 0}));
  EXPECT_EQ(to_string(context.owner(p)), "device 0 of rank 0");
  EXPECT_EQ(to_string(kHost), "the host of rank 0");
}

TEST_F(Inspect, EveryPointerOfABufferIsTaken) {
  context.fill(x, 1);
  const auto v = x.host(Box{{3, 5}, {0, 1024}}, Access::read);
  EXPECT_THAT(context.describe(&v(4, 7)),
              AllOf(HasSubstr("element (4, 7), byte 0 of 4"), HasSubstr("pointer of data()")));
  EXPECT_THAT(context.describe(reinterpret_cast<const char*>(&v(4, 7)) + 3),
              HasSubstr("element (4, 7), byte 3 of 4"));
  struct Addresses {
    NUNA_KERNEL void operator()(Thread t, View<const int, 2> from, View<const int*, 1> to) const {
      const Index row = t.global(0) * 512;
      to(t.global(0)) = &from(row, 2);
    }
  };
  Buffer<const int*, 1> addresses(context, {2});
  context.launch("addresses", {2}, block(1), Addresses{}, read(x, whole()), write(addresses));
  const auto a = addresses.host(Access::read);
  EXPECT_THAT(context.describe(a(0)),
              AllOf(HasSubstr("element (0, 2)"), HasSubstr("in the memory of device 0 of rank 0")));
  EXPECT_THAT(context.describe(a(1)),
              AllOf(HasSubstr("element (512, 2)"), HasSubstr("in the memory of device 1")));
  std::vector<int> own(100);
  const auto adopted = Buffer<int, 1>::adopt(context, own.data(), {100});
  EXPECT_THAT(context.describe(&own[9]),
              AllOf(HasSubstr("element (9)"), HasSubstr("memory that the program gave")));
}

TEST_F(Inspect, ADescriptionNamesBufferBlockViewsAndFlights) {
  std::atomic<bool> go{false};
  context.fill(x, 1);
  context.wait();
  int* const p = x.data();
  context.fence(x);  // with NUNA_POISON, what nobody wrote is being filled
  std::string text = context.describe(p + 5);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("buffer created at inspect_test.cpp:"), HasSubstr("1024 x 1024 elements of 4 bytes"),
            HasSubstr("newest bytes: device 0 of rank 0\n"), HasSubstr("operations in flight: none"),
            HasSubstr("host block 0 of 64 KiB: closed (a touch faults)"),
            HasSubstr("host views: read_write of [0, 1024) x [0, 1024), opened at inspect_test.cpp:")));
  p[5] = 1;
  EXPECT_THAT(context.describe(p + 5), AllOf(HasSubstr(": open, written since the last call"),
                                             HasSubstr("newest bytes: the host of rank 0\n")));
  const auto second = x.host(Box{{0, 1}, {0, 3}}, Access::read);
  EXPECT_THAT(context.describe(p + 5), HasSubstr("; read of [0, 1) x [0, 3), opened at inspect_test.cpp:"));
  struct Held {
    std::atomic<bool>* go;
    NUNA_KERNEL void operator()(Thread t, View<int, 2> x) const {
      while (!go->load()) std::this_thread::yield();
      x(t.global(0), t.global(1)) = 7;
    }
  };
  context.launch("held", {1024, 1024}, block(1, 256), Held{&go}, read_write(x));
  text = context.describe(p + 5);
  EXPECT_THAT(text,
              AllOf(HasSubstr("operations in flight: "), HasSubstr("device 0 of rank 0: 1 that write")));
  EXPECT_EQ(nuna_describe(p + 5), text);
  go.store(true);
  context.wait();
}

TEST_F(Inspect, WhatIsNoneOfTheContextsIsRefused) {
  int own = 0;
  Context other = Context::self(with_devices(2));
  Buffer<int, 1> theirs(other, {kInts});
  for (const auto& call : std::vector<std::function<void(const void*)>>{
           [&](const void* p) { context.owner(p); }, [&](const void* p) { context.holders(p); },
           [&](const void* p) { context.describe(p); }}) {
    EXPECT_EQ(code_of([&] { call(&own); }), ErrorCode::not_nuna_pointer);
    EXPECT_EQ(code_of([&] { call(nullptr); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { call(theirs.address()); }), ErrorCode::not_nuna_pointer);
    EXPECT_EQ(code_of([&] { call(at(0, 0) + (Index{1} << 26)); }), ErrorCode::not_nuna_pointer)
        << "in no buffer";
  }
  std::string text;
  EXPECT_EQ(code_of([&] { context.owner(&own); }, &text), ErrorCode::not_nuna_pointer);
  EXPECT_THAT(text, HasSubstr("owner at inspect_test.cpp:"));
}

TEST_F(Inspect, ADebuggerGetsATextForAnyPointer) {
  context.fill(x, 1);
  EXPECT_THAT(nuna_describe(at(2, 3)), HasSubstr("element (2, 3)"));
  EXPECT_THAT(nuna_describe(nullptr), HasSubstr("null"));
  int own = 0;
  EXPECT_THAT(nuna_describe(&own), HasSubstr("no address of Nuna's"));
  EXPECT_THAT(nuna_describe(at(0, 0) + (Index{1} << 26)), HasSubstr("in no buffer"));
  EXPECT_THAT(nuna_describe_buffer(&x),
              AllOf(HasSubstr("created at inspect_test.cpp:"), HasSubstr("1024 x 1024")));
  Buffer<int, 2> moved = std::move(x);
  EXPECT_THAT(nuna_describe_buffer(&x), HasSubstr("moved from"));
  moved.release();
  EXPECT_THAT(nuna_describe_buffer(&moved), HasSubstr("released"));
  EXPECT_THAT(nuna_describe_buffer(nullptr), HasSubstr("null"));
}

TEST_F(Inspect, ADebuggerDoesNotWaitForAThreadThatIsInside) {
  // An access function is called while a launch is planned, and stays there as a stopped thread would.
  std::atomic<bool> inside{false};
  std::atomic<bool> asked{false};
  const int* const p = at(1, 1);
  std::thread launches([&] {
    context.launch(
        "add one", {1024}, block(64), [](Thread, View<int, 2>) {},
        read_write(x, mapped([&](const Part& part, std::vector<Box>& elements) {
                     inside.store(true);
                     while (!asked.load()) std::this_thread::yield();
                     elements.push_back(Box{part.threads[0], {0, 1024}});
                   })));
  });
  while (!inside.load()) std::this_thread::yield();
  EXPECT_THAT(nuna_describe(p), HasSubstr("another thread is inside a call"));
  EXPECT_THAT(nuna_describe_buffer(&x), HasSubstr("1024 x 1024"));
  asked.store(true);
  launches.join();
  EXPECT_THAT(nuna_describe(p), Not(HasSubstr("another thread is inside")));
}

TEST(InspectRanks, KnowWhichRankHasTheBytes) {
  Context::in_process(2, with_devices(1), [](Context& context) {
    Buffer<int, 1> x(context, {1000});
    context.launch("set", {1000}, block(10), SetIndex{}, write(x));
    const int other = 1 - context.rank();
    EXPECT_EQ(context.owner(x.address() + 700 * context.rank()), (Memory{context.rank(), Memory::kHost}));
    EXPECT_EQ(context.owner(x.address() + 700 * other), (Memory{other, Memory::kUnknown}));
    EXPECT_EQ(to_string(context.owner(x.address() + 700 * other)), "rank " + std::to_string(other));
    context.wait();
    {
      const auto v = x.host(Access::read);
      EXPECT_THAT(context.holders(x.address()),
                  context.rank() == 0 ? ElementsAre(kHost, Memory{1, Memory::kUnknown})
                                      : ElementsAre(Memory{0, Memory::kUnknown}, Memory{1, Memory::kHost}));
      EXPECT_THAT(context.describe(x.address()), HasSubstr("read of [0, 1000), opened at inspect_test.cpp:"));
    }
    context.wait();
  });
}

}  // namespace
}  // namespace nuna::test
