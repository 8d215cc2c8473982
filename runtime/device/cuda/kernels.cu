// Nuna's own kernels: copies and fills of regions that the copy engines cannot describe, and of elements (device/elements.hpp).

#include "device/elements.hpp"
#include "device/region.hpp"

namespace {

using nuna::Index;
using nuna::device::Region;

// Where byte `n` of a region lies, in the order of its runs.
__device__ std::byte* at(const Region& r, Index n) {
  const Index run = n / r.run_bytes;
  std::byte* p = r.first + (n - run * r.run_bytes);
  const Index plane = run / r.counts[2];
  const Index block = plane / r.counts[1];
  return p + block * r.stride_bytes[0] + (plane - block * r.counts[1]) * r.stride_bytes[1] +
         (run - plane * r.counts[2]) * r.stride_bytes[2];
}

template <class Unit>
__device__ void copy_units(const Region& to, const Region& from, Index begin, Index end) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index u = begin / Index(sizeof(Unit)) + static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       u < end / Index(sizeof(Unit)); u += step) {
    const Index n = u * Index(sizeof(Unit));
    *reinterpret_cast<Unit*>(at(to, n)) = *reinterpret_cast<const Unit*>(at(from, n));
  }
}

__device__ Index start() { return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ Index stride() { return static_cast<Index>(gridDim.x) * blockDim.x; }

__device__ void copy_element(char* to, const char* from, Index bytes) {
  for (Index b = 0; b < bytes; ++b) to[b] = from[b];
}

// Calls f(i, j, k) for this thread's share of the box.
template <class F>
__device__ void for_threads(const nuna::Box& threads, F f) {
  const Index sizes[3] = {threads.axis[0].end - threads.axis[0].begin,
                          threads.dims > 1 ? threads.axis[1].end - threads.axis[1].begin : 1,
                          threads.dims > 2 ? threads.axis[2].end - threads.axis[2].begin : 1};
  const Index count = sizes[0] * sizes[1] * sizes[2];
  for (Index n = start(); n < count; n += stride()) {
    const Index row = n / sizes[2];
    const Index i = row / sizes[1];
    f(threads.axis[0].begin + i, (threads.dims > 1 ? threads.axis[1].begin : 0) + row - i * sizes[1],
      (threads.dims > 2 ? threads.axis[2].begin : 0) + n - row * sizes[2]);
  }
}

}  // namespace

// Bytes [begin, end) of the regions' counts; both and all strides, runs and addresses are multiples of `unit`.
extern "C" __global__ void nuna_copy_bytes(const Region to, const Region from, const Index begin,
                                           const Index end, const int unit) {
  switch (unit) {
    case 16:
      return copy_units<uint4>(to, from, begin, end);
    case 8:
      return copy_units<unsigned long long>(to, from, begin, end);
    case 4:
      return copy_units<unsigned>(to, from, begin, end);
    case 2:
      return copy_units<unsigned short>(to, from, begin, end);
    default:
      return copy_units<unsigned char>(to, from, begin, end);
  }
}

extern "C" __global__ void nuna_fill_bytes(const Region to, const unsigned char value) {
  const Index bytes = to.counts[0] * to.counts[1] * to.counts[2] * to.run_bytes;
  for (Index n = start(); n < bytes; n += stride()) *at(to, n) = std::byte{value};
}

struct TwoViews {
  nuna::detail::InstanceView view[2];
};
struct OneView {
  nuna::detail::InstanceView view[1];
};

extern "C" __global__ void nuna_copy_elements(const nuna::device::ElementCopy copy, const TwoViews views,
                                              const nuna::Box threads) {
  for_threads(threads, [&](Index i, Index j, Index k) {
    copy_element(copy.to.at(views.view[0], i, j, k, threads.dims),
                 copy.from.at(views.view[1], i, j, k, threads.dims), copy.element_bytes);
  });
}

extern "C" __global__ void nuna_fill_elements(const nuna::device::ElementFill fill, const OneView views,
                                              const nuna::Box threads) {
  for_threads(threads, [&](Index i, Index j, Index k) {
    copy_element(fill.to.at(views.view[0], i, j, k, threads.dims), fill.value.data(), fill.element_bytes);
  });
}
