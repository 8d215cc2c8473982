// Kernels by block on the host: against plain loops, for any domain, devices, threads and ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Each thread writes a digest of what it knows of itself and of its block.
struct Tell1 {
  using Block = nuna::Block<8>;
  NUNA_KERNEL void operator()(const Block& block, View<int, 1> x) const {
    block.threads([&](Block::Member t) {
      const auto [i] = t.global<1>();
      if (t.inside()) x(i) += static_cast<int>(1000 * block.origin(0) + 10 * t.local(0) + t.index());
    });
  }
};
struct Tell2 {
  using Block = nuna::Block<4, 8>;
  NUNA_KERNEL void operator()(const Block& block, View<int, 2> x) const {
    block.threads([&](Block::Member t) {
      const auto [i, j] = t.global<2>();
      if (!t.inside()) return;
      x(i, j) += static_cast<int>(10'000 * block.origin(0) + 1000 * block.origin(1) + 100 * t.local(0) +
                                  10 * t.local(1) + t.index());
    });
  }
};
struct Tell3 {
  using Block = nuna::Block<2, 3, 4>;
  NUNA_KERNEL void operator()(const Block& block, View<int, 3> x) const {
    block.threads([&](Block::Member t) {
      const auto [i, j, k] = t.global();
      if (!t.inside()) return;
      x(i, j, k) += static_cast<int>(1000 * (block.origin(0) + 3 * block.origin(1) + 7 * block.origin(2)) +
                                     100 * t.local(0) + 50 * t.local(1) + 20 * t.local(2) + t.index());
    });
  }
};

/// What the three kernels add at (i, j, k), said again.
int told(const std::array<Index, 3>& at, const Box& frame, const Extents& block) {
  std::array<Index, 3> origin{};
  std::array<Index, 3> local{};
  Index index = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    local[a] = (at[a] - frame.axis[a].begin) % block.size[a];
    origin[a] = at[a] - local[a];
    index = index * block.size[a] + local[a];
  }
  Index sum = 0;
  if (block.dims == 1) sum = 1000 * origin[0] + 10 * local[0];
  if (block.dims == 2) sum = 10'000 * origin[0] + 1000 * origin[1] + 100 * local[0] + 10 * local[1];
  if (block.dims == 3) {
    sum = 1000 * (origin[0] + 3 * origin[1] + 7 * origin[2]) + 100 * local[0] + 50 * local[1] + 20 * local[2];
  }
  if (block.dims == 1) index = local[0];
  if (block.dims == 2) index = local[0] * block.size[1] + local[1];
  return static_cast<int>(sum + index);
}

template <int N, class Kernel>
void expect_told(Context& context, const Extents& extents, const Domain& domain, const std::string& where) {
  const Extents block = Kernel::Block::extents();
  Buffer<int, N> x(context, extents);
  context.fill(x, 1);
  context.launch("tell", domain, block, Kernel{}, read_write(x));
  std::vector<int> expected;
  for (Index i = 0; i < extents[0]; ++i) {
    for (Index j = 0; j < extents[1]; ++j) {
      for (Index k = 0; k < extents[2]; ++k) {
        const bool inside = domain.box().contains(Box{{i, i + 1}, {j, j + 1}, {k, k + 1}});
        expected.push_back(inside ? 1 + told({i, j, k}, domain.frame(), block) : 1);
      }
    }
  }
  const auto view = x.host(Access::read);
  EXPECT_EQ(std::vector<int>(view.begin(), view.end()), expected) << where << ", " << to_string(domain.box());
}

void expect_all_told(Context& context, const std::string& where) {
  expect_told<1, Tell1>(context, {64}, {64}, where);
  expect_told<1, Tell1>(context, {61}, {61}, where);
  expect_told<1, Tell1>(context, {61}, Domain(Box{{11, 59}}).within({61}), where);
  expect_told<1, Tell1>(context, {61}, Box{{11, 59}}, where);
  expect_told<1, Tell1>(context, {61}, Box{{17, 19}}, where);
  expect_told<2, Tell2>(context, {32, 64}, {32, 64}, where);
  expect_told<2, Tell2>(context, {33, 31}, {33, 31}, where);
  expect_told<2, Tell2>(context, {33, 31}, Domain(Box{{5, 30}, {3, 29}}).within({33, 31}), where);
  expect_told<2, Tell2>(context, {33, 31}, Domain(Box{{5, 30}, {3, 29}}).along(0), where);
  expect_told<3, Tell3>(context, {8, 9, 8}, {8, 9, 8}, where);
  expect_told<3, Tell3>(context, {9, 10, 11}, Domain(Box{{1, 9}, {2, 8}, {1, 10}}).within({9, 10, 11}),
                        where);
}

TEST(BlockKernel, RunsEveryThreadOnceWhateverTheDevices) {
  for (const int devices : {1, 2, 3}) {
    for (const int threads : {1, 2, 4}) {
      Context context = Context::self(with_devices(devices, threads));
      expect_all_told(context, std::to_string(devices) + " devices of " + std::to_string(threads));
    }
  }
}

TEST(BlockKernel, RunsEveryThreadOnceOnAnyRanks) {
  for (const int ranks : {2, 3}) {
    Context::in_process(ranks, with_devices(2), [&](Context& context) {
      expect_all_told(context, std::to_string(ranks) + " ranks");
    });
  }
}

/// Sums of all values of the block, by a tree: needs every barrier.
struct SumOfBlock {
  using Block = nuna::Block<4, 16>;
  struct Shared {
    int at[64];
  };
  NUNA_KERNEL void operator()(const Block& block, Shared& shared, View<const int, 2> in, View<int, 2> out,
                              int factor) const {
    Block::PerThread<int> mine(7);
    block.threads([&](Block::Member t) {
      mine(t) += t.inside() ? in(t.global(0), t.global(1)) : 0;
      shared.at[t.index()] = mine(t) - 7;
    });
    for (int half = 32; half > 0; half /= 2) {
      block.threads([&](Block::Member t) {
        if (t.index() < half) shared.at[t.index()] += shared.at[t.index() + half];
      });
    }
    block.threads([&](Block::Member t) {
      if (t.inside()) out(t.global(0), t.global(1)) = factor * shared.at[0] + mine(t);
    });
  }
};

std::vector<int> sums_of_blocks(Index rows, Index columns) {
  const auto value = [](Index i, Index j) { return static_cast<int>((i * 31 + j * 17) % 101); };
  std::vector<int> sums;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      int sum = 0;
      for (Index y = i / 4 * 4; y < std::min(rows, i / 4 * 4 + 4); ++y)
        for (Index x = j / 16 * 16; x < std::min(columns, j / 16 * 16 + 16); ++x) sum += value(y, x);
      sums.push_back(3 * sum + value(i, j) + 7);
    }
  }
  return sums;
}

TEST(BlockKernel, ThreadsShareMemoryAndKeepValuesAcrossBarriers) {
  for (const int devices : {1, 3}) {
    Context context = Context::self(with_devices(devices, 2));
    constexpr Index kRows = 21, kColumns = 37;
    Buffer<int, 2> in(context, {kRows, kColumns}), out(context, {kRows, kColumns});
    {
      const auto view = in.host(Access::write);
      for (Index i = 0; i < kRows; ++i)
        for (Index j = 0; j < kColumns; ++j) view(i, j) = static_cast<int>((i * 31 + j * 17) % 101);
    }
    context.launch("sum", {kRows, kColumns}, block(4, 16), SumOfBlock{}, read(in), write(out), 3);
    const auto view = out.host(Access::read);
    EXPECT_EQ(std::vector<int>(view.begin(), view.end()), sums_of_blocks(kRows, kColumns)) << devices;
  }
}

/// A step of a stencil through a tile with its halo; a block reads what its neighbours wrote in the step before.
struct TiledBlur {
  static constexpr int kRows = 8;
  static constexpr int kColumns = 16;
  using Block = nuna::Block<kRows, kColumns>;
  struct Shared {
    double tile[kRows + 2][kColumns];
  };
  NUNA_KERNEL void operator()(const Block& block, Shared& shared, View<const double, 2> in,
                              View<double, 2> out) const {
    const Index above = block.origin(0) - 1;
    block.threads([&](Block::Member t) {
      const Index j = t.global(1);
      for (int row = t.local(0); row < kRows + 2; row += kRows) {
        const Index i = above + row;
        if (i >= 0 && i < in.extent(0) && j < in.extent(1)) shared.tile[row][t.local(1)] = in(i, j);
      }
    });
    block.threads([&](Block::Member t) {
      if (!t.inside()) return;
      const auto [i, j] = t.global<2>();
      const int row = t.local(0) + 1;
      const double up = i > 0 ? shared.tile[row - 1][t.local(1)] : 1.0;
      const double down = i + 1 < in.extent(0) ? shared.tile[row + 1][t.local(1)] : 2.0;
      out(i, j) = 0.5 * shared.tile[row][t.local(1)] + (0.25 * up + 0.25 * down);
    });
  }
};

std::vector<double> blurred(std::vector<double> now, Index rows, Index columns, int steps) {
  std::vector<double> next(now.size());
  for (int step = 0; step < steps; ++step, std::swap(now, next)) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        const auto at = [&](Index y) { return now[static_cast<std::size_t>(y * columns + j)]; };
        const double up = i > 0 ? at(i - 1) : 1.0;
        const double down = i + 1 < rows ? at(i + 1) : 2.0;
        next[static_cast<std::size_t>(i * columns + j)] = 0.5 * at(i) + (0.25 * up + 0.25 * down);
      }
    }
  }
  return now;
}

TEST(BlockKernel, ComputesWhileHalosTravelAndCutsNoBlock) {
  constexpr Index kRows = 101;
  constexpr Index kColumns = 53;
  constexpr int kSteps = 9;
  std::vector<double> start(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<double>(i * 7919 % 1009);
  const std::vector<double> expected = blurred(start, kRows, kColumns, kSteps);
  for (const char* ahead : {"0", "1"}) {
    setenv("NUNA_OVERLAP", ahead, 1);
    for (const int ranks : {1, 2, 3}) {
      Context::in_process(ranks, with_devices(2, 2), [&](Context& context) {
        Buffer<double, 2> now(context, {kRows, kColumns});
        Buffer<double, 2> next(context, {kRows, kColumns});
        {
          const auto view = now.host(Access::write);
          std::copy(start.begin(), start.end(), view.begin());
        }
        for (int step = 0; step < kSteps; ++step, swap(now, next)) {
          context.launch("blur", {kRows, kColumns}, block(8, 16), TiledBlur{}, read(now, halo(1, 0)),
                         write(next));
        }
        const auto view = now.host(Access::read);
        EXPECT_TRUE(std::equal(view.begin(), view.end(), expected.begin()))
            << ranks << " ranks, NUNA_OVERLAP=" << ahead;
      });
    }
  }
  unsetenv("NUNA_OVERLAP");
}

TEST(BlockKernel, OfOtherBlocksThanTheLaunchIsRefused) {
  Context context = Context::self(with_devices(2));
  Buffer<int, 2> x(context, {8, 8});
  context.fill(x, 1);
  std::string text;
  EXPECT_EQ(code_of([&] { context.launch("tell", {8, 8}, block(8, 4), Tell2{}, read_write(x)); }, &text),
            ErrorCode::invalid_argument);
  EXPECT_THAT(text, AllOf(HasSubstr("launch 'tell' at block_kernel_test.cpp:"),
                          HasSubstr("blocks of 4 x 8 threads"), HasSubstr("blocks of 8 x 4")));
  EXPECT_EQ(x.host(Access::read)(3, 3), 1);
}

TEST(BlockKernel, OfOtherAxesThanTheDomainIsRefused) {
  Context context = Context::self();
  Buffer<int, 2> x(context, {8, 8});
  context.fill(x, 1);
  std::string text;
  EXPECT_EQ(
      code_of([&] { context.launch("tell", {8}, block(4, 8), Tell2{}, read_write(x, whole())); }, &text),
      ErrorCode::invalid_argument);
  EXPECT_THAT(text, AllOf(HasSubstr("blocks of 4 x 8 threads"), HasSubstr("the domain has 1 axes")));
}

TEST(BlockKernel, ThatThrowsFailsItsLaunch) {
  struct ThrowsInBlock {
    using Block = nuna::Block<4>;
    NUNA_KERNEL void operator()(const Block& block, View<int, 1> x) const {
      block.threads([&](Block::Member t) {
        if (t.inside()) x(t.global(0)) = 0;
      });
      if (block.origin(0) == 4) throw std::runtime_error("no luck");
    }
  };
  Context context = Context::self(with_devices(1, 2));
  Buffer<int, 1> x(context, {16});
  context.launch("throws", {16}, block(4), ThrowsInBlock{}, write(x));
  std::string text;
  EXPECT_EQ(code_of([&] { context.wait(); }, &text), ErrorCode::kernel_failed);
  EXPECT_THAT(text, HasSubstr("no luck"));
}

}  // namespace
}  // namespace nuna::test
