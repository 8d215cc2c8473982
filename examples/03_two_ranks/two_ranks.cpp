// Two ranks and more: the same program under mpirun. See README.md.
//
//   ./two_ranks                 one process
//   mpirun -n 2 ./two_ranks     two: the field is cut in two, and the seam travels

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <nuna/nuna.hpp>

namespace {

using nuna::Index;

// A wave on a string: each point is pulled towards the mean of its neighbours.
struct Wave {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 1> now,
                              nuna::View<float, 1> next) const {
    const Index i = t.global(0);
    if (nuna::on_border(now, i)) {
      next(i) = 0.0F;
      return;
    }
    next(i) = 2.0F * now(i) - next(i) + 0.25F * (now(i - 1) - 2.0F * now(i) + now(i + 1));
  }
};

struct Pluck {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<float, 1> now, nuna::View<float, 1> before) const {
    const Index i = t.global(0);
    const float at = static_cast<float>(i) / static_cast<float>(now.extent(0) - 1);
    now(i) = before(i) = at < 0.3F ? at / 0.3F : (1.0F - at) / 0.7F;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  constexpr Index kPoints = 100'000;
  constexpr int kSteps = 1'000;
  nuna::Context context = nuna::Context::world(argc, argv);  // all ranks, if a launcher started several
  nuna::Buffer<float, 1> now(context, {kPoints});
  nuna::Buffer<float, 1> next(context, {kPoints});
  context.launch("pluck", {kPoints}, nuna::block(64), Pluck{}, nuna::write(now), nuna::write(next));
  for (int step = 0; step < kSteps; ++step) {
    context.launch("wave", {kPoints}, nuna::block(64), Wave{}, nuna::read(now, nuna::halo(1)),
                   nuna::read_write(next));
    swap(now, next);
  }

  // Every rank knows its own part without asking the others ...
  float highest = 0;
  for (const nuna::Box& box : now.local_boxes()) {
    const auto mine = now.host_local(box);
    for (Index i = box[0].begin; i < box[0].end; ++i) highest = mine(i) > highest ? mine(i) : highest;
  }
  const double peak = context.max(highest);
  // ... and one of them reads back what it wants to show.
  const auto middle = now.host_at(0, nuna::Box{{kPoints / 2, kPoints / 2 + 1}});
  if (context.rank() == 0) {
    std::printf("%d rank(s): peak %.6f, middle %.6f\n", context.ranks(), peak, double(middle(kPoints / 2)));
  }
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::fprintf(stderr, "two_ranks: %s\n", e.what());
  return EXIT_FAILURE;
}
