// Heat in a plate, hot at one edge. See README.md beside this file.

#include <nuna/nuna.hpp>

#include <cstdio>
#include <cstdlib>

struct Heat {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 2> in, nuna::View<float, 2> out) const {
    const auto [y, x] = t.global<2>();
    out(y, x) = 0.25f * ((in(y - 1, x) + in(y + 1, x)) + (in(y, x - 1) + in(y, x + 1)));
  }
};

int run(int argc, char** argv) {
  const nuna::Index n = 512;
  const int steps = 2000;
  nuna::Context context = nuna::Context::world(argc, argv);
  nuna::Buffer<float, 2> now(context, {n, n}), next(context, {n, n});

  // The edges keep what they are given here: no thread writes them.
  for (auto* plate : {&now, &next}) {
    context.fill(*plate, 20.0f);
    context.fill(*plate, nuna::Box{{0, 1}, {0, n}}, 100.0f);
  }

  // All threads but those of the edges, cut as the whole plate is.
  const nuna::Domain inside = nuna::Domain(nuna::Box{{1, n - 1}, {1, n - 1}}).within({n, n});
  for (int step = 0; step < steps; ++step, swap(now, next)) {
    context.launch("heat", inside, nuna::block(16, n), Heat{}, nuna::read(now, nuna::halo(1)),
                   nuna::write(next));
  }

  const auto plate = now.host(nuna::Access::read);
  if (context.rank() == 0) {
    std::printf("after %d steps on %d rank(s) of %d device(s):\n", steps, context.ranks(), context.devices());
    for (const nuna::Index y : {nuna::Index{1}, n / 64, n / 32, n / 16, n / 8, n / 2}) {
      std::printf("  %6.2f degrees %3lld points from the hot edge\n", static_cast<double>(plate(y, n / 2)),
                  static_cast<long long>(y));
    }
  }
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const nuna::Error& error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
