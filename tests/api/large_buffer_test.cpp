// Buffers larger than an address slot: stored as bounding boxes, with strides of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels.hpp"

namespace nuna::test {
namespace {

constexpr Index kRows = Index{1} << 22;
constexpr Index kColumns = Index{1} << 22;  // 64 TiB of int

int value_at(Index i, Index j) { return static_cast<int>(i % 1000 * 1000 + j % 1000); }

struct SetPlace {
  NUNA_KERNEL void operator()(Thread t, View<int, 2> x) const {
    const auto [i, j] = t.global<2>();
    x(i, j) = value_at(i, j);
  }
};

struct SumOfFour {
  NUNA_KERNEL void operator()(Thread t, View<const int, 2> in, View<int, 2> out) const {
    const auto [i, j] = t.global<2>();
    out(i, j) = in(i - 1, j) + in(i + 1, j) + in(i, j - 1) + in(i, j + 1);
  }
};

TEST(LargeBuffer, ComputesOnBoxesOfItAndStoresOnlyThose) {
  for (const int devices : {1, 3}) {
    Options options = with_devices(devices);
    options.memory_limit_bytes = std::size_t{64} << 20;
    Context context = Context::self(options);
    Buffer<int, 2> a(context, {kRows, kColumns});
    Buffer<int, 2> b(context, {kRows, kColumns});
    const Index i0 = kRows / 2;
    const Index j0 = kColumns - 40;
    context.launch("set", Domain(Box{{i0, i0 + 32}, {j0, j0 + 32}}), block(1, 1), SetPlace{}, write(a));
    const Box inner{{i0 + 1, i0 + 31}, {j0 + 1, j0 + 31}};
    context.launch("sum", Domain(inner), block(1, 1), SumOfFour{}, read(a, halo(1)), write(b));
    auto v = b.host(inner, Access::read);
    for (Index i = i0 + 1; i < i0 + 31; ++i) {
      for (Index j = j0 + 1; j < j0 + 31; ++j)
        ASSERT_EQ(v(i, j), value_at(i - 1, j) + value_at(i + 1, j) + value_at(i, j - 1) + value_at(i, j + 1));
    }
  }
}

TEST(LargeBuffer, GrowsItsBoxWithoutLosingWhatItHolds) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 2> a(context, {kRows, kColumns});
  for (const Index at : {Index{1000}, Index{1040}, Index{960}}) {
    context.launch("set", Domain(Box{{at, at + 8}, {at, at + 8}}), block(1, 1), SetPlace{}, write(a));
  }
  for (const Index at : {Index{1000}, Index{1040}, Index{960}}) {
    auto v = a.host(Box{{at, at + 8}, {at, at + 8}}, Access::read);
    EXPECT_EQ(v(at + 7, at + 3), value_at(at + 7, at + 3));
  }
}

TEST(LargeBuffer, KeepsItsContentsWhenGrowingIsRefusedForWantOfMemory) {
  Options options = with_devices(1);
  options.memory_limit_bytes = std::size_t{8} << 20;
  Context context = Context::self(options);
  Buffer<int, 2> a(context, {kRows, kColumns});
  const Box first{{1000, 1064}, {1000, 1064}};
  context.launch("set", Domain(first), block(1, 1), SetPlace{}, write(a));
  const Box far{{1000, 3000}, {1000, 3000}};  // with the first: 16 MB
  std::string text;
  EXPECT_EQ(code_of([&] { context.launch("set", Domain(far), block(1, 1), SetPlace{}, write(a)); }, &text),
            ErrorCode::out_of_memory);
  EXPECT_THAT(text, ::testing::HasSubstr("launch 'set' at large_buffer_test.cpp:"));
  auto v = a.host(first, Access::read);
  for (Index i = 1000; i < 1064; ++i) {
    for (Index j = 1000; j < 1064; ++j) ASSERT_EQ(v(i, j), value_at(i, j));
  }
}

TEST(LargeBuffer, DoesNotMoveUnderAnOpenView) {
  for (const int devices : {1, 2}) {
    Context context = Context::self(with_devices(devices));
    Buffer<int, 2> a(context, {kRows, kColumns});
    auto v = a.host(Box{{0, 8}, {0, 8}}, Access::write);
    std::string text;
    EXPECT_EQ(code_of([&] { a.host(Box{{100, 108}, {0, 8}}, Access::write); }, &text),
              ErrorCode::unsupported);
    EXPECT_THAT(text, ::testing::HasSubstr("close the view first"));
    for (Index i = 0; i < 8; ++i) {
      for (Index j = 0; j < 8; ++j) v(i, j) = value_at(i, j);
    }
    v.close();
    auto w = a.host(Box{{100, 108}, {0, 8}}, Access::write);
    for (Index i = 100; i < 108; ++i) {
      for (Index j = 0; j < 8; ++j) w(i, j) = 1;
    }
    w.close();
    auto r = a.host(Box{{0, 8}, {0, 8}}, Access::read);
    EXPECT_EQ(r(7, 3), value_at(7, 3));
  }
}

TEST(LargeBuffer, HasNoPlainPointer) {
  Context context = Context::self();
  Buffer<int, 2> a(context, {kRows, kColumns});
  EXPECT_EQ(code_of([&] { a.data(); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { a.address(); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { a.host_bytes({0, 8}, Access::write); }), ErrorCode::unsupported);
}

}  // namespace
}  // namespace nuna::test
