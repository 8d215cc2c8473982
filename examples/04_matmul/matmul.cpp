// A product of two matrices, by blocks that share tiles of them. See README.md beside this file.
//
//   ./matmul [--size N] [--devices N]

#include <nuna/nuna.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using nuna::Index;

// A block computes a tile of the product. It goes along a row of tiles of a and a column of tiles of b; each time its threads
// load one of both together, and each thread then adds what its element gets from them.
struct Multiply {
  static constexpr int kTile = 16;
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
      if (block.whole() && tile + kTile <= depth) {
        block.threads([&](Block::Member t) {
          const auto [i, j] = t.global<2>();
          shared.a[t.local(0)][t.local(1)] = a(i, tile + t.local(1));
          shared.b[t.local(0)][t.local(1)] = b(tile + t.local(0), j);
        });
      } else {  // at the edges: zeros instead of what is not there
        block.threads([&](Block::Member t) {
          const auto [i, j] = t.global<2>();
          const Index in_a = tile + t.local(1);
          const Index in_b = tile + t.local(0);
          shared.a[t.local(0)][t.local(1)] = i < a.extent(0) && in_a < depth ? a(i, in_a) : 0.0f;
          shared.b[t.local(0)][t.local(1)] = j < b.extent(1) && in_b < depth ? b(in_b, j) : 0.0f;
        });
      }
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

void fill(nuna::Buffer<float, 2>& matrix, Index step) {
  const auto host = matrix.host(nuna::Access::write);
  Index at = 0;
  for (float& x : host) x = static_cast<float>((at += step) % 1009) / 1009.0f - 0.5f;
}

// Every element of some rows, by a plain loop. It adds in the same order, so it must find the same bits.
Index wrong_in_rows(nuna::Buffer<float, 2>& a_buffer, nuna::Buffer<float, 2>& b_buffer,
                    nuna::Buffer<float, 2>& product_buffer, Index n) {
  const auto a = a_buffer.host(nuna::Access::read);
  const auto b = b_buffer.host(nuna::Access::read);
  const auto product = product_buffer.host(nuna::Access::read);
  Index wrong = 0;
  for (const Index i : {Index{0}, n / 3, n / 2, n - 1}) {
    for (Index j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (Index k = 0; k < n; ++k) sum += a(i, k) * b(k, j);
      wrong += product(i, j) != sum;
    }
  }
  return wrong;
}

Index size_argument(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--size") == 0) return std::atoll(argv[i + 1]);
  }
  return 1000;
}

int run(int argc, char** argv) {
  const Index n = size_argument(argc, argv);
  if (n < 1) {
    std::fprintf(stderr, "matmul: --size is a number from 1\n");
    return EXIT_FAILURE;
  }
  nuna::Context context = nuna::Context::world(argc, argv);
  nuna::Buffer<float, 2> a(context, {n, n}), b(context, {n, n}), product(context, {n, n});
  fill(a, 7919);
  fill(b, 104729);

  // A thread reads a row of a and a column of b. The first launch also brings them to the devices.
  const auto multiply = [&] {
    context.launch("multiply", {n, n}, nuna::block(16, 16), Multiply{}, nuna::read(a, nuna::rows()),
                   nuna::read(b, nuna::columns()), nuna::write(product));
    context.wait();
  };
  multiply();
  const auto start = std::chrono::steady_clock::now();
  multiply();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double seconds = context.max(took.count());

  const Index wrong = wrong_in_rows(a, b, product, n);
  if (context.rank() == 0) {
    const auto size = static_cast<double>(n);
    std::printf("%lld x %lld on %d rank(s) of %d device(s): %.1f GFLOP/s, %s\n", static_cast<long long>(n),
                static_cast<long long>(n), context.ranks(), context.devices(),
                2e-9 * size * size * size / seconds, wrong == 0 ? "the same bits as a plain loop" : "WRONG");
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const nuna::Error& error) {
    std::fprintf(stderr, "matmul: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
