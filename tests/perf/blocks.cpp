// A kernel by block on the host: the tiled matrix product of examples/04_matmul, of 512 x 512 elements, against the same tiles and
// the same arithmetic written by hand, with the loop over the threads of a row as vectors of the compiler. One thread.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "nuna/nuna.hpp"
#include "perf/measure.hpp"

namespace {

using namespace nuna::perf;
using nuna::Index;

constexpr int kSize = 512;
constexpr int kTile = 16;

struct Multiply {
  using Block = nuna::Block<kTile, kTile>;
  struct Shared {
    float a[kTile][kTile];
    float b[kTile][kTile];
  };
  NUNA_KERNEL void operator()(const Block& block, Shared& shared, nuna::View<const float, 2> a,
                              nuna::View<const float, 2> b, nuna::View<float, 2> product) const {
    Block::PerThread<float> sum(0.0f);
    const Index depth = a.extent(1);
    for (Index tile = 0; tile < depth; tile += kTile) {
      block.threads([&](Block::Member t) {
        const auto [i, j] = t.global<2>();
        shared.a[t.local(0)][t.local(1)] = a(i, tile + t.local(1));
        shared.b[t.local(0)][t.local(1)] = b(tile + t.local(0), j);
      });
      block.threads([&](Block::Member t) {
        float s = sum(t);
        for (int k = 0; k < kTile; ++k) s += shared.a[t.local(0)][k] * shared.b[k][t.local(1)];
        sum(t) = s;
      });
    }
    block.threads([&](Block::Member t) {
      if (t.inside()) product(t.global(0), t.global(1)) = sum(t);
    });
  }
};

using Row = float __attribute__((vector_size(kTile * sizeof(float)), aligned(sizeof(float))));

Row& row_at(float* first) { return *reinterpret_cast<Row*>(first); }

void load_tile(float (&tile)[kTile][kTile], const float* from) {
  for (int y = 0; y < kTile; ++y) std::copy(from + y * kSize, from + y * kSize + kTile, tile[y]);
}

__attribute__((noinline)) void multiply(const float* a, const float* b, float* product) {
  alignas(64) float of_a[kTile][kTile];
  alignas(64) float of_b[kTile][kTile];
  for (int i = 0; i < kSize; i += kTile) {
    for (int j = 0; j < kSize; j += kTile) {
      alignas(64) float sum[kTile][kTile] = {};
      for (int tile = 0; tile < kSize; tile += kTile) {
        load_tile(of_a, a + i * kSize + tile);
        load_tile(of_b, b + tile * kSize + j);
        for (int y = 0; y < kTile; ++y) {
          Row s = row_at(sum[y]);
          for (int k = 0; k < kTile; ++k) s += of_a[y][k] * row_at(of_b[k]);
          row_at(sum[y]) = s;
        }
      }
      for (int y = 0; y < kTile; ++y) row_at(product + (i + y) * kSize + j) = row_at(sum[y]);
    }
  }
}

std::vector<float> values(int step) {
  std::vector<float> v(kSize * kSize);
  int at = 0;
  for (float& x : v) x = static_cast<float>((at += step) % 1009) / 1009.0f - 0.5f;
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  const Report report(argc, argv);
  nuna::Options options;
  options.devices = 1;
  options.threads_per_device = 1;
  nuna::Context context = nuna::Context::self(options);
  nuna::Buffer<float, 2> a(context, {kSize, kSize}), b(context, {kSize, kSize}),
      product(context, {kSize, kSize});
  const std::vector<float> of_a = values(7919);
  const std::vector<float> of_b = values(104729);
  std::vector<float> by_hand(kSize * kSize);
  {
    const auto to_a = a.host(nuna::Access::write);
    const auto to_b = b.host(nuna::Access::write);
    std::copy(of_a.begin(), of_a.end(), to_a.begin());
    std::copy(of_b.begin(), of_b.end(), to_b.begin());
  }
  const auto ours = [&] {
    return 1e3 * seconds_of([&] {
             context.launch("multiply", {kSize, kSize}, nuna::block(kTile, kTile), Multiply{},
                            nuna::read(a, nuna::rows()), nuna::read(b, nuna::columns()),
                            nuna::write(product));
             context.wait();
           });
  };
  const auto peer = [&] {
    return 1e3 * seconds_of([&] { multiply(of_a.data(), of_b.data(), by_hand.data()); });
  };
  ours();
  peer();
  {
    const auto view = product.host(nuna::Access::read);
    if (!std::equal(view.begin(), view.end(), by_hand.begin())) {
      std::fprintf(stderr, "perf_blocks: the product differs from that by hand\n");
      return EXIT_FAILURE;
    }
  }
  report.row({"matrix product 512^3 by block, 1 thread / tiles by hand", "ms", Better::less, 0.9}, ours,
             peer);
  return EXIT_SUCCESS;
}
