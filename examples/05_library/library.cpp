// Running means, with a library that adds up rows: host code called once for each device's part. See README.md beside this
// file.

#include <nuna/nuna.hpp>

#include <cstdio>
#include <cstdlib>
#include <numeric>

using nuna::Index;

// --- the "library": as libraries are, it knows nothing of Nuna, but pointers, sizes and pitches --------------------------

void prefix_sums(const int* in, Index in_pitch, int* out, Index out_pitch, Index rows, Index columns) {
  for (Index row = 0; row < rows; ++row) {
    const int* first = in + row * in_pitch;
    std::partial_sum(first, first + columns, out + row * out_pitch);
  }
}

#if defined(__CUDACC__)  // compiled by nvcc: the library knows CUDA devices, too
__global__ void prefix_sums_kernel(const int* in, Index in_pitch, int* out, Index out_pitch, Index rows,
                                   Index columns) {
  const Index row = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  for (Index column = 0; column < columns; ++column) {
    out[row * out_pitch + column] = sum += in[row * in_pitch + column];
  }
}

void prefix_sums_on_cuda(const int* in, Index in_pitch, int* out, Index out_pitch, Index rows, Index columns,
                         cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((rows + 63) / 64);
  prefix_sums_kernel<<<blocks, 64, 0, stream>>>(in, in_pitch, out, out_pitch, rows, columns);
}
#endif

// --- the program ---------------------------------------------------------------------------------------------------------

struct Noise {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<int, 2> x) const {
    const auto [i, j] = t.global<2>();
    x(i, j) = static_cast<int>((i * 7919 + j * 104729) % 1000);
  }
};

// Called once for each device's part, on the host, in order with the launches around it.
struct PrefixSums {
  void operator()(const nuna::Part& part, nuna::View<const int, 2> in, nuna::View<int, 2> sums) const {
    const Index first = part.box()[0].begin;
    const Index rows = part.box()[0].size();
#if defined(__CUDACC__)
    if (part.on_cuda()) {  // the pointers are the device's: give the work to the part's stream, and wait for nothing
      return prefix_sums_on_cuda(&in(first, 0), in.stride(0), &sums(first, 0), sums.stride(0), rows,
                                 in.extent(1), part.stream<cudaStream_t>());
    }
#endif
    prefix_sums(&in(first, 0), in.stride(0), &sums(first, 0), sums.stride(0), rows, in.extent(1));
  }
};

// The mean over a window of each row costs two loads, whatever the window.
struct Means {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const int, 2> sums, nuna::View<int, 2> means,
                              Index window) const {
    const auto [i, j] = t.global<2>();
    const Index before = j < window ? 0 : j - window;
    const int sum = j < window ? sums(i, j) : sums(i, j) - sums(i, before);
    means(i, j) = sum / static_cast<int>(j < window ? j + 1 : window);
  }
};

int run(int argc, char** argv) {
  const Index rows = 1000;
  const Index columns = 2000;
  const Index window = 100;
  nuna::Context context = nuna::Context::world(argc, argv);
  nuna::Buffer<int, 2> x(context, {rows, columns}), sums(context, {rows, columns});

  const nuna::Extents block = nuna::block(8, columns);  // rows stay whole
  context.launch("noise", {rows, columns}, block, Noise{}, nuna::write(x));
  context.launch("prefix sums", {rows, columns}, block, PrefixSums{}, nuna::read(x), nuna::write(sums));
  context.launch("means", {rows, columns}, block, Means{}, nuna::read(sums, nuna::rows()), nuna::write(x),
                 window);

  Index wrong = 0;
  const auto means = x.host(nuna::Access::read);
  for (const Index i : {Index{0}, rows / 2, rows - 1}) {
    for (Index j = 0; j < columns; ++j) {
      int sum = 0;
      const Index begin = j < window ? 0 : j - window + 1;
      for (Index k = begin; k <= j; ++k) sum += static_cast<int>((i * 7919 + k * 104729) % 1000);
      wrong += means(i, j) != sum / static_cast<int>(j - begin + 1);
    }
  }
  if (context.rank() == 0) {
    std::printf("running means of %lld rows on %d rank(s) of %d device(s): %s\n",
                static_cast<long long>(rows), context.ranks(), context.devices(),
                wrong == 0 ? "all correct" : "WRONG");
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const nuna::Error& error) {
    std::fprintf(stderr, "library: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
