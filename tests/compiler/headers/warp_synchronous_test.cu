// Runs on a CPU device: programs of before Volta, whose warps run in step with no __syncwarp. Built by nunacc.
#include <cstdio>
#include <vector>

// The last warp of a reduction: each line reads what the line before has written.
template <class T>
__device__ void fold_warp(volatile T* s, int i) {
  s[i] += s[i + 32];
  s[i] += s[i + 16];
  s[i] += s[i + 8];
  s[i] += s[i + 4];
  s[i] += s[i + 2];
  s[i] += s[i + 1];
}

// Interleaved threads, with a volatile array all the way.
__global__ void interleaved(const int* from, int* to, int n) {
  extern __shared__ volatile int sums[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? from[i] : 0;
  __syncthreads();
  for (int step = 1; step < (int)blockDim.x; step *= 2) {
    if (t % (2 * step) == 0) sums[t] += sums[t + step];
    if (step >= 16) __syncthreads();
  }
  if (t == 0) to[blockIdx.x] = sums[0];
}

// Two elements a thread, the last warp by a helper.
__global__ void helped(const int* from, int* to, int n) {
  extern __shared__ int cells[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  cells[t] = (i < n ? from[i] : 0) + (i + (int)blockDim.x < n ? from[i + blockDim.x] : 0);
  __syncthreads();
  for (int half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) cells[t] += cells[t + half];
    __syncthreads();
  }
  if (t < 32) fold_warp(cells, t);
  if (t == 0) to[blockIdx.x] = cells[0];
}

// Unrolled for one size of blocks, the sum kept in a register, too.
template <class T, unsigned Size>
__global__ void unrolled(const T* from, T* to, int n) {
  __shared__ T cells[Size + 32];
  const unsigned t = threadIdx.x;
  T sum = 0;
  for (unsigned i = blockIdx.x * Size + t; i < (unsigned)n; i += Size * gridDim.x) sum += from[i];
  cells[t] = sum;
  __syncthreads();
  if (Size >= 512 && t < 256) cells[t] = sum = sum + cells[t + 256];
  if (Size >= 512) __syncthreads();
  if (Size >= 256 && t < 128) cells[t] = sum = sum + cells[t + 128];
  if (Size >= 256) __syncthreads();
  if (Size >= 128 && t < 64) cells[t] = sum = sum + cells[t + 64];
  if (Size >= 128) __syncthreads();
  if (t < 32) {
    volatile T* s = cells;
    if (Size >= 64) s[t] = sum = sum + s[t + 32];
    if (Size >= 32) s[t] = sum = sum + s[t + 16];
    if (Size >= 16) s[t] = sum = sum + s[t + 8];
    if (Size >= 8) s[t] = sum = sum + s[t + 4];
    if (Size >= 4) s[t] = sum = sum + s[t + 2];
    if (Size >= 2) s[t] = sum = sum + s[t + 1];
  }
  if (t == 0) to[blockIdx.x] = cells[0];
}

// An inclusive scan of each warp, lanes out of it one after the other; the warp's last lane then tells all of the total.
__global__ void scan(const int* from, int* to, int* totals, int n) {
  __shared__ volatile int sums[1024];
  const int t = threadIdx.x, lane = t & 31, i = blockIdx.x * blockDim.x + t;
  if (i >= n) return;
  sums[t] = from[i];
  if (lane >= 1) sums[t] += sums[t - 1];
  if (lane >= 2) sums[t] += sums[t - 2];
  if (lane >= 4) sums[t] += sums[t - 4];
  if (lane >= 8) sums[t] += sums[t - 8];
  if (lane >= 16) sums[t] += sums[t - 16];
  totals[i] = sums[t | 31];
  to[i] = sums[t];
}

// Warps that sort their values, a row of the block each.
__global__ void sort(int* values) {
  __shared__ int rows[8][32];
  volatile int* row = rows[threadIdx.y];
  const int lane = threadIdx.x, i = (blockIdx.x * blockDim.y + threadIdx.y) * 32 + lane;
  row[lane] = values[i];
  for (int round = 0; round < 32; ++round) {
    if ((lane & 1) == (round & 1) && lane < 31) {
      const int a = row[lane], b = row[lane + 1];
      if (a > b) {
        row[lane] = b;
        row[lane + 1] = a;
      }
    }
  }
  values[i] = row[lane];
}

static int wrong = 0;
static void expect(const char* what, int size, long long got, long long wanted) {
  if (got == wanted) return;
  wrong = 1;
  std::printf("%s, blocks of %d: %lld, not %lld\n", what, size, got, wanted);
}

int main() {
  const int n = 5000;
  int *from, *to, *totals;
  double *numbers, *sums;
  cudaMallocManaged(&from, n * sizeof(int));
  cudaMallocManaged(&to, n * sizeof(int));
  cudaMallocManaged(&totals, n * sizeof(int));
  cudaMallocManaged(&numbers, n * sizeof(double));
  cudaMallocManaged(&sums, n * sizeof(double));
  long long all = 0;
  for (int i = 0; i < n; ++i) numbers[i] = from[i] = i * 37 % 101, all += from[i];
  auto sum = [&](const auto* of, int count) {
    expect("status", 0, cudaDeviceSynchronize(), cudaSuccess);
    long long total = 0;
    for (int i = 0; i < count; ++i) total += (long long)of[i];
    return total;
  };
  for (int size : {32, 64, 128, 256, 512, 1024}) {
    int blocks = (n + size - 1) / size;
    interleaved<<<blocks, size, (size + 1) * sizeof(int)>>>(from, to, n);
    expect("interleaved", size, sum(to, blocks), all);
    if (size < 64) continue;
    blocks = (n + 2 * size - 1) / (2 * size);
    helped<<<blocks, size, size * sizeof(int)>>>(from, to, n);
    expect("helped", size, sum(to, blocks), all);
  }
  unrolled<int, 512><<<4, 512>>>(from, to, n);
  expect("unrolled", 512, sum(to, 4), all);
  unrolled<int, 256><<<4, 256>>>(from, to, n);
  expect("unrolled", 256, sum(to, 4), all);
  unrolled<int, 64><<<7, 64>>>(from, to, n);
  expect("unrolled", 64, sum(to, 7), all);
  unrolled<double, 128><<<7, 128>>>(numbers, sums, n);
  expect("unrolled doubles", 128, sum(sums, 7), all);
  unrolled<double, 32><<<7, 32>>>(numbers, sums, n);
  expect("unrolled doubles", 32, sum(sums, 7), all);
  for (int size : {32, 96, 256, 1024}) {
    const int whole = n / 32 * 32;
    scan<<<(whole + size - 1) / size, size>>>(from, to, totals, whole);
    expect("status", size, cudaDeviceSynchronize(), cudaSuccess);
    int running = 0;
    for (int i = 0; i < whole; ++i) {
      running = i % 32 == 0 ? from[i] : running + from[i];
      expect("scan", size, to[i], running);
      if (i % 32 == 31) expect("total of lane 0", size, totals[i - 31], running);
    }
  }
  for (int i = 0; i < 1024; ++i) to[i] = from[i];
  sort<<<4, dim3(32, 8)>>>(to);
  expect("sum of the sorted", 256, sum(to, 1024), sum(from, 1024));
  for (int i = 1; i < 1024; ++i) expect("sorted", 256, i % 32 != 0 && to[i - 1] > to[i], 0);
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong;
}
