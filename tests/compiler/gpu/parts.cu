// Kernels of all kinds, whose results are printed as sums of bits: the same on the CPU and on any number of GPUs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.hpp"

template <class T>
struct Array {
  T* data = nullptr;
  std::size_t count;
  explicit Array(std::size_t n) : count(n) {
    CHECK(cudaMalloc(&data, n * sizeof(T)));
    CHECK(cudaMemset(data, 0, n * sizeof(T)));
  }
  ~Array() { cudaFree(data); }
  void set(T (*value)(std::size_t)) {
    std::vector<T> host(count);
    for (std::size_t i = 0; i < count; ++i) host[i] = value(i);
    CHECK(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  void tell(const char* name) const {
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::uint64_t sum = 1469598103934665603u;
    for (const T& each : host) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &each, sizeof(T));
      sum = (sum ^ bits) * 1099511628211u;
    }
    std::printf("%s %016llx\n", name, static_cast<unsigned long long>(sum));
  }
};

float as_float(std::size_t i) { return 0.25f * static_cast<float>(i % 1000) - 3.0f; }
int as_int(std::size_t i) { return static_cast<int>(i * 7 % 1013); }

__constant__ float weights[4];
static __device__ int bias = 5;
__device__ int total;
namespace {
__device__ float scale = 1.5f;
}

__global__ void vecadd(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void stencil(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const float* here = in + y * width + x;
  out[y * width + x] =
      weights[0] * here[0] + weights[1] * (here[-1] + here[1]) + weights[2] * (here[-width] + here[width]);
}

__global__ void block_sums(const float* in, float* sums, int n) {
  extern __shared__ float part[];
  __shared__ float first;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) first = i < n ? in[i] : 0.0f;
  part[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0] - first;
}

__device__ __noinline__ int place() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }

__global__ void places(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * blockDim.x + threadIdx.x] = place() * 1000 + threadIdx.x + bias;
}

static __global__ void scaled(float* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    data[i] = data[i] * scale + weights[3];
}

namespace {
__global__ void nameless(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += total + blockIdx.x; }
}  // namespace

struct Both {
  const int* from;
  short skip;
  int* to;
};
template <class T>
__global__ void strided(Both both, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  both.to[i] = static_cast<int>(both.from[i] * factor) + both.skip;
}

__global__ void histogram(const int* in, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] % 16], 1);
}

__global__ void count_up(int by) {
  if (blockIdx.x == 0 && threadIdx.x == 0) total += by;
}

__global__ void by_pointers(int* const* rows, int n) {
  if (threadIdx.x < n) rows[blockIdx.x][threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
}

__global__ void prints(int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) printf("printed %d\n", n);
}

template <class Each>
__global__ void for_each(int n, Each each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) each(i);
}

namespace {
struct Negate {
  __device__ int operator()(int value) const { return -value; }
};
}  // namespace
template <class Each>
__global__ void apply(int* data, int n, Each each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = each(data[i]);
}

int main() {
  constexpr int n = 50000;
  Array<float> a(n), b(n), c(n);
  a.set(as_float);
  b.set([](std::size_t i) { return as_float(i * 3); });
  vecadd<<<(n + 127) / 128, 128>>>(a.data, b.data, c.data, n);
  CHECK(cudaGetLastError());
  c.tell("vecadd");
  vecadd<<<(n + 127) / 128, 128>>>(c.data + 1, b.data, a.data, n - 1);  // what other parts wrote
  a.tell("vecadd again");

  constexpr int width = 200, height = 150;
  Array<float> in(width * height), out(width * height);
  in.set(as_float);
  for (int round = 0; round < 4; ++round) {
    const float now[4] = {0.5f, 0.125f + round, 0.125f, 0.75f};
    CHECK(cudaMemcpyToSymbol(weights, now, sizeof now));
    stencil<<<dim3((width + 31) / 32, (height + 3) / 4), dim3(32, 4)>>>(in.data, out.data, width, height);
    std::swap(in.data, out.data);
  }
  in.tell("stencil");

  Array<float> sums((n + 255) / 256);
  block_sums<<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(a.data, sums.data, n);
  sums.tell("block_sums");

  Array<int> where(5 * 4 * 6 * 64);
  places<<<dim3(5, 4, 6), 64>>>(where.data);
  where.tell("places");
  const int changed = 77;
  CHECK(cudaMemcpyToSymbol(bias, &changed, sizeof changed));
  places<<<dim3(5, 4, 6), 64>>>(where.data);
  where.tell("places again");

  scaled<<<24, 64>>>(c.data, n);
  c.tell("scaled");

  count_up<<<8, 32>>>(3);
  count_up<<<8, 32>>>(4);
  int now = 0;
  CHECK(cudaMemcpyFromSymbol(&now, total, sizeof now));
  std::printf("total %d\n", now);
  nameless<<<30, 256>>>(where.data);
  where.tell("nameless");

  Array<int> ints(4096), other(4096), bins(16);
  ints.set(as_int);
  strided<double><<<32, 128>>>(Both{ints.data, 9, other.data}, 1.5);
  other.tell("strided");
  histogram<<<32, 128>>>(ints.data, bins.data, 4096);
  bins.tell("histogram");

  std::vector<int*> rows;
  for (int r = 0; r < 8; ++r) rows.push_back(other.data + 512 * r);
  Array<int*> table(8);
  CHECK(cudaMemcpy(table.data, rows.data(), 8 * sizeof(int*), cudaMemcpyHostToDevice));
  by_pointers<<<8, 64>>>(table.data, 50);
  other.tell("by_pointers");
  strided<double><<<32, 128>>>(Both{other.data, 1, ints.data}, 0.5);
  ints.tell("strided again");

  int* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 4096 * sizeof(int)));
  for (int i = 0; i < 4096; ++i) managed[i] = i;
  strided<double><<<32, 128>>>(Both{managed, 2, ints.data}, 2.0);
  CHECK(cudaDeviceSynchronize());
  managed[0] = 1000;
  strided<double><<<32, 128>>>(Both{ints.data, 3, managed}, 1.0);
  CHECK(cudaDeviceSynchronize());
  std::printf("managed %d %d\n", managed[0], managed[4095]);
  CHECK(cudaFree(managed));

  int* const lambda = other.data;
  for_each<<<16, 256>>>(4096, [=] __device__(int i) { lambda[i] += 3 * i; });
  for_each<<<16, 256>>>(4096, [=] __device__(int i) { lambda[i] ^= now; });
  for_each<<<16, 256>>>(4096, [=] __device__(int i) { lambda[i] -= i & 63; });
  other.tell("for_each");

  apply<<<16, 256>>>(other.data, 4096, Negate{});
  other.tell("apply");

  prints<<<4, 32>>>(now);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
