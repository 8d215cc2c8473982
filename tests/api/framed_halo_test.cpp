// Halos that are large enough to travel in place, of arrays whose frame is not written: rows with small gaps.

#include <gtest/gtest.h>

#include <vector>

#include "kernels.hpp"

namespace nuna::test {
namespace {

constexpr Index kRows = 24;
constexpr Index kColumns = 20'000;  // a halo of two rows is 320,000 bytes
constexpr Index kFrame = 40;

struct Start {
  NUNA_KERNEL void operator()(Thread t, View<double, 2> x) const {
    const auto [i, j] = t.global<2>();
    x(i, j) = static_cast<double>((i * 31 + j * 7) % 1009);
  }
};
struct Blur {
  NUNA_KERNEL void operator()(Thread t, View<const double, 2> in, View<double, 2> out) const {
    const auto [i, j] = t.global<2>();
    out(i, j) = in(i - 2, j) + 0.5 * in(i - 1, j - kFrame) - 0.25 * in(i + 2, j + kFrame) + 0.125 * in(i, j);
  }
};

std::vector<double> blurred(Context& context, const Domain& start) {
  Buffer<double, 2> now(context, {kRows, kColumns});
  Buffer<double, 2> next(context, {kRows, kColumns});
  context.launch("start", start, block(1, 1), Start{}, write(now));
  context.launch("start", start, block(1, 1), Start{}, write(next));
  const Domain inside = Domain(Box{{2, kRows - 2}, {kFrame, kColumns - kFrame}}).within({kRows, kColumns});
  for (int step = 0; step < 7; ++step) {
    context.launch("blur", inside, block(1, 1), Blur{}, read(now, halo(2, kFrame)), write(next));
    swap(now, next);
  }
  const auto view = now.host(Access::read);
  return {view.begin(), view.end()};
}

TEST(FramedHalo, GivesTheSameBitsOnAnyRanksAndDevices) {
  Context alone = Context::self(with_devices(1));
  const std::vector<double> expected = blurred(alone, {kRows, kColumns});
  for (const int ranks : {2, 3}) {
    for (const int devices : {1, 2}) {
      Context::in_process(ranks, with_devices(devices), [&](Context& context) {
        EXPECT_TRUE(blurred(context, {kRows, kColumns}) == expected) << ranks << " x " << devices;
        EXPECT_TRUE(blurred(context, Domain({kRows, kColumns}).along(1)) == expected)
            << ranks << " x " << devices << ", frames written by other ranks";
      });
    }
  }
}

}  // namespace
}  // namespace nuna::test
