// Buffers of memory that the program has already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "nuna/nuna.hpp"

namespace nuna {
namespace {

struct Double {
  void operator()(Thread t, View<int, 1> v) const { v(t.global(0)) *= 2; }
};
struct Copy {
  void operator()(Thread t, View<const int, 1> in, View<int, 1> out) const {
    out(t.global(0)) = in(t.global(0)) + 1;
  }
};

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Options devices(int count) {
  Options o;
  o.devices = count;
  return o;
}

TEST(Adopt, OneDeviceComputesInTheMemoryItself) {
  std::vector<int> memory = numbers(1000);
  Context context = Context::self(devices(1));
  auto buffer = Buffer<int, 1>::adopt(context, memory.data(), {1000});
  EXPECT_EQ(buffer.address(), memory.data());
  context.launch("double", {1000}, block(10), Double{}, read_write(buffer));
  context.wait();
  EXPECT_EQ(memory[999], 1998);
}

TEST(Adopt, GivingBackBringsTheNewestContents) {
  for (const int count : {2, 3}) {
    std::vector<int> memory = numbers(1000);
    Context context = Context::self(devices(count));
    auto buffer = Buffer<int, 1>::adopt(context, memory.data(), {1000});
    context.launch("double", {1000}, block(10), Double{}, read_write(buffer));
    buffer.give_back();
    EXPECT_EQ(memory[1], 2);
    EXPECT_EQ(memory[999], 1998);
    context.launch("double", {1000}, block(10), Double{}, read_write(buffer));
    EXPECT_EQ(buffer.host(Access::read)(500), 2000);
    EXPECT_EQ(memory[500], 2000);
  }
}

TEST(Adopt, TheEndOfTheBufferGivesBack) {
  std::vector<int> memory = numbers(100);
  Context context = Context::self(devices(2));
  {
    auto buffer = Buffer<int, 1>::adopt(context, memory.data(), {100});
    context.launch("double", {100}, block(10), Double{}, read_write(buffer));
  }
  EXPECT_EQ(memory[99], 198);
  auto again = Buffer<int, 1>::adopt(context, memory.data(), {100});
  context.launch("double", {100}, block(10), Double{}, read_write(again));
  again.release();
  EXPECT_EQ(memory[99], 396);
}

TEST(Adopt, EveryRankHasItsOwnMemory) {
  Context::in_process(3, devices(2), [](Context& context) {
    std::vector<int> memory = numbers(600);
    auto buffer = Buffer<int, 1>::adopt(context, memory.data(), {600});
    Buffer<int, 1> other(context, {600});
    context.launch("copy", {600}, block(10), Copy{}, read(buffer), write(other));
    context.launch("double", {600}, block(10), Double{}, read_write(buffer));
    buffer.give_back();
    for (int i = 0; i < 600; ++i) ASSERT_EQ(memory[static_cast<std::size_t>(i)], 2 * i);
    EXPECT_EQ(other.host(Access::read)(599), 600);
  });
}

TEST(Adopt, ViewsFillsAndCopiesWorkOnIt) {
  std::vector<int> memory = numbers(100);
  Context context = Context::self(devices(2));
  auto buffer = Buffer<int, 1>::adopt(context, memory.data(), {100});
  context.fill(buffer, Box{{10, 20}}, -1);
  buffer.host(Box{{50, 60}}, Access::write)(55) = 7;
  std::vector<int> out(100);
  context.copy(out.data(), memory.data() + 5, 50 * sizeof(int));  // the newest bytes, wherever they are
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(out[5], -1);
  buffer.give_back();
  EXPECT_EQ(memory[15], -1);
  EXPECT_EQ(memory[55], 7);
  EXPECT_EQ(memory[99], 99);
}

ErrorCode refused(const Context& context, int* memory) {
  try {
    Buffer<int, 1>::adopt(context, memory, {4});
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode::stalled;
}

TEST(Adopt, MemoryThatCannotBeIsRefused) {
  Context context = Context::self(devices(1));
  Buffer<int, 1> own(context, {4});
  EXPECT_EQ(refused(context, nullptr), ErrorCode::invalid_argument);
  std::vector<int> memory(8);
  EXPECT_EQ(refused(context, reinterpret_cast<int*>(reinterpret_cast<char*>(memory.data()) + 2)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(context, own.address()), ErrorCode::not_nuna_pointer);
}

}  // namespace
}  // namespace nuna
