// A small program that uses host pointers, for the scripts that run it under limits, kill it and debug it.
//
//   debug_host_pointers [work | crash | threads]
//
// It prints a sum. "crash": then dies by a genuine segmentation fault. "threads": in threads of the default size.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "nuna/nuna.hpp"

struct AddOne {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<int, 2> x) const {
    const auto [i, j] = t.global<2>();
    x(i, j) += 1;
  }
};

constexpr nuna::Index kRows = 1024;
constexpr nuna::Index kColumns = 16384;  // 64 MiB

// Where the debugger stops.
[[gnu::noinline]] void stop_here() { asm volatile("" : : : "memory"); }

[[gnu::noinline]] void show(nuna::Context& context, nuna::Buffer<int, 2>& x,
                            const nuna::HostView<int, 2>& view, const int* element) {
  const nuna::Box box{{1, 3}, {10, 20}};
  const nuna::Interval interval{5, 9};
  const nuna::Extents extents{4, 5};
  const nuna::View<int, 2> elements;
  stop_here();
  static_cast<void>(context), static_cast<void>(x), static_cast<void>(view), static_cast<void>(element);
  static_cast<void>(box), static_cast<void>(interval), static_cast<void>(extents),
      static_cast<void>(elements);
}

long long sum(const int* p) {
  long long all = 0;
  for (nuna::Index i = 0; i < kRows * kColumns; ++i) all += p[i];
  return all;
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "work";
  nuna::Options options;
  options.devices = 2;
  nuna::Context context = nuna::Context::self(options);
  nuna::Buffer<int, 2> x(context, {kRows, kColumns});
  context.fill(x, 1);
  int* p = x.data();
  for (nuna::Index i = 0; i < kRows; i += 16) p[i * kColumns] += 1;
  context.launch("add one", {kRows, kColumns}, nuna::block(1, 256), AddOne{}, nuna::read_write(x));
  p = x.data();  // the same, but where faults are off
  p[2 * kColumns + 7] = 40;
  x.close();
  {
    const auto view = x.host(nuna::Box{{2, 3}, {0, kColumns}}, nuna::Access::read);
    show(context, x, view, &view(2, 7));
  }
  p = x.data();
  if (std::strcmp(mode, "threads") == 0) {
    std::vector<long long> sums(4);
    std::vector<std::thread> threads;
    for (long long& s : sums) threads.emplace_back([&s, p] { s = sum(p); });
    for (std::thread& t : threads) t.join();
    for (const long long s : sums) {
      if (s != sums[0]) return 3;
    }
  }
  std::printf("sum %lld\n", sum(p));
  std::fflush(stdout);
  if (std::strcmp(mode, "crash") == 0) {
    volatile std::uintptr_t nowhere = 8;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
  }
  return 0;
}
