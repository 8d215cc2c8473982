#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::HasSubstr;

std::vector<int> iota(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

class CopyOnDevices : public ::testing::TestWithParam<int> {};

TEST_P(CopyOnDevices, GoesBetweenAnyTwoPointers) {
  Context context = Context::self(with_devices(GetParam()));
  Buffer<int, 1> a(context, {100});
  Buffer<int, 1> b(context, {50});
  const std::vector<int> source = iota(100);
  std::vector<int> target(100, -1);
  context.copy(a.address(), source.data(), 400);
  context.launch("add one", {100}, block(1), AddOne{}, read_write(a));
  context.copy(b.address() + 10, a.address() + 20, 30 * sizeof(int));
  context.copy(target.data(), b.address() + 10, 30 * sizeof(int));
  for (int i = 0; i < 30; ++i) EXPECT_EQ(target[static_cast<std::size_t>(i)], 21 + i);
  EXPECT_EQ(target[30], -1);
  context.copy(target.data() + 50, target.data(), 40);
  EXPECT_EQ(target[50], 21);
}

TEST_P(CopyOnDevices, TakesOddByteRanges) {
  Context context = Context::self(with_devices(GetParam()));
  Buffer<int, 2> a(context, {10, 10});
  Buffer<int, 1> b(context, {100});
  context.copy(a.address(), iota(100).data(), 400);
  context.fill(b, 0);
  auto* to = reinterpret_cast<char*>(b.address()) + 3;
  const auto* from = reinterpret_cast<const char*>(a.address()) + 41;
  context.copy(to, from, 173);
  std::vector<char> expected(400, 0);
  const std::vector<int> source = iota(100);
  std::memcpy(expected.data() + 3, reinterpret_cast<const char*>(source.data()) + 41, 173);
  std::vector<char> got(400);
  context.copy(got.data(), b.address(), 400);
  EXPECT_EQ(got, expected);
}

TEST_P(CopyOnDevices, MovesBoxesOfTwoAndThreeDimensions) {
  Context context = Context::self(with_devices(GetParam()));
  Buffer<int, 3> a(context, {4, 5, 6});
  Buffer<int, 2> b(context, {5, 6});
  context.copy(a.address(), iota(120).data(), 480);
  context.fill(b, -1);
  context.copy_box(b, Box{{1, 4}, {2, 6}}, a, Box{{2, 3}, {0, 3}, {1, 5}});
  auto v = b.host(Access::read);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const bool inside = i >= 1 && i < 4 && j >= 2;
      EXPECT_EQ(v(i, j), inside ? (2 * 5 + i - 1) * 6 + j - 1 : -1);
    }
  }
}

TEST_P(CopyOnDevices, MovesPitchedRowsBetweenHostAndBuffers) {
  Context context = Context::self(with_devices(GetParam()));
  Buffer<int, 2> a(context, {6, 8});
  context.fill(a, 0);
  const std::vector<int> source = iota(100);
  // three rows of four ints from a host array with rows of ten, to row 2, column 3
  context.copy(Pitched{a.address() + 2 * 8 + 3, 8 * 4}, ConstPitched{source.data(), 10 * 4}, {3, 16});
  std::vector<int> back(12, -1);
  context.copy(Pitched{back.data(), 16}, ConstPitched{a.address() + 2 * 8 + 3, 8 * 4}, {3, 16});
  EXPECT_EQ(back, (std::vector<int>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
  EXPECT_EQ(a.host(Access::read)(2, 2), 0);
}

TEST_P(CopyOnDevices, MovesOverlappingBoxesOfOneBufferAsIfThroughATemporary) {
  Context context = Context::self(with_devices(GetParam()));
  Buffer<int, 1> a(context, {100});
  context.copy(a.address(), iota(100).data(), 400);
  context.copy_box(a, Box{{10, 60}}, a, Box{{0, 50}});
  context.copy(a.address() + 60, a.address() + 61, 39 * sizeof(int));
  auto v = a.host(Access::read);
  for (Index i = 10; i < 60; ++i) EXPECT_EQ(v(i), i - 10);
  for (Index i = 60; i < 99; ++i) EXPECT_EQ(v(i), i + 1);
}

TEST_P(CopyOnDevices, FillsBoxes) {
  Context context = Context::self(with_devices(GetParam()));
  struct Pair {
    int a;
    short b;
  };
  Buffer<Pair, 2> x(context, {5, 5});
  context.fill(x, Pair{1, 2});
  context.fill(x, Box{{1, 3}, {2, 5}}, Pair{3, 4});
  auto v = x.host(Access::read);
  EXPECT_EQ(v(0, 0).a, 1);
  EXPECT_EQ(v(2, 4).b, 4);
  EXPECT_EQ(v(3, 4).b, 2);
}

INSTANTIATE_TEST_SUITE_P(Devices, CopyOnDevices, ::testing::Values(1, 2, 3));

TEST(Copy, OfAWholeArrayByPointersIsACopyOfBoxes) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 2> a(context, {50, 40});
  Buffer<int, 2> b(context, {50, 40});
  context.fill(a, 6);
  context.copy(b.address(), a.address(), 50 * 40 * sizeof(int));
  const std::string routes = context.stats();
  EXPECT_THAT(routes, HasSubstr("\"host_to_device\":0,"));
  EXPECT_EQ(b.host(Access::read)(49, 39), 6);
}

TEST(Copy, OfSeveralRanksFillsEveryRanksHost) {
  Context::in_process(3, with_devices(2), [](Context& context) {
    Buffer<int, 1> a(context, {100});
    context.copy(a.address(), iota(100).data(), 400);
    context.launch("add one", {100}, block(1), AddOne{}, read_write(a));
    std::vector<int> back(100);
    context.copy(back.data(), a.address(), 400);
    EXPECT_EQ(back[99], 100);
    EXPECT_EQ(code_of([&] {
                const std::vector<int> different(100, context.rank());
                context.copy(a.address(), different.data(), 400);
              }),
              ErrorCode::unequal_fill);
  });
}

TEST(Copy, RefusesWhatIsNoBuffersMemory) {
  Context context = Context::self();
  Context other = Context::self();
  Buffer<int, 1> a(context, {10});
  Buffer<int, 1> foreign(other, {10});
  context.fill(a, 1);
  std::vector<int> host(1000);
  EXPECT_EQ(code_of([&] { context.copy(host.data(), a.address() + 8, 12); }), ErrorCode::out_of_bounds);
  EXPECT_EQ(code_of([&] { context.copy(host.data(), foreign.address(), 40); }), ErrorCode::not_nuna_pointer);
  std::string text;
  EXPECT_EQ(code_of([&] { context.copy(host.data(), nullptr, 40); }, &text), ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("copy at copy_test.cpp:"));
  EXPECT_EQ(code_of([&] { context.copy(host.data(), a.address(), ~std::size_t{0}); }, &text),
            ErrorCode::invalid_argument);
  EXPECT_THAT(text, HasSubstr("larger than any memory"));
  const Pitched far{a.address(), Index{1} << 40, Index{1} << 62};
  EXPECT_EQ(code_of([&] {
              context.copy(far, ConstPitched{far.pointer, far.row_bytes, far.plane_bytes},
                           {Index{1} << 20, Index{1} << 30, 4});
            }),
            ErrorCode::invalid_argument);
  const int* gone = nullptr;
  {
    Buffer<int, 1> b(context, {1 << 20});
    gone = b.address();
  }
  EXPECT_EQ(code_of([&] { context.copy(host.data(), gone, 40); }), ErrorCode::not_nuna_pointer);
}

TEST(Copy, OfBoxesThatDifferIsRefused) {
  Context context = Context::self();
  Buffer<int, 1> a(context, {10});
  EXPECT_EQ(code_of([&] { context.copy_box(a, Box{{0, 3}}, a, Box{{4, 8}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { context.copy_box(a, Box{{0, 11}}, a, Box{{0, 11}}); }), ErrorCode::out_of_bounds);
}

}  // namespace
}  // namespace nuna::test
