// Adds two vectors on all devices of all ranks. See README.md beside this file.

#include <nuna/nuna.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

struct Add {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 1> a, nuna::View<const float, 1> b,
                              nuna::View<float, 1> sum) const {
    const auto [i] = t.global<1>();
    sum(i) = a(i) + b(i);
  }
};

int run(int argc, char** argv) {
  const nuna::Index n = 10'000'000;
  nuna::Context context = nuna::Context::world(argc, argv);
  nuna::Buffer<float, 1> a(context, {n}), b(context, {n}), sum(context, {n});

  {
    const auto host = a.host(nuna::Access::write);  // plain pointers, until the brace
    float next = 0.0f;
    std::generate(host.begin(), host.end(), [&] { return next < 1000.0f ? next++ : next = 0.0f; });
  }
  context.fill(b, 0.5f);

  context.launch("add", {n}, nuna::block(4096), Add{}, nuna::read(a), nuna::read(b), nuna::write(sum));

  const auto result =
      sum.host(nuna::Access::read);  // waits for the launch, and fetches from whichever device has it
  const auto inputs = a.host(nuna::Access::read);
  nuna::Index wrong = 0;
  for (nuna::Index i = 0; i < n; ++i) wrong += result(i) != inputs(i) + 0.5f;
  if (context.rank() == 0) {
    std::printf("added %lld elements on %d rank(s) of %d device(s): %s\n", static_cast<long long>(n),
                context.ranks(), context.devices(), wrong == 0 ? "all correct" : "WRONG");
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const nuna::Error& error) {
    std::fprintf(stderr, "vector_add: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
