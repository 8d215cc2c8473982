// What nunacc must not take for granted of threads: kernels that each went wrong once, or nearly, beside plain loops of the same
// meaning, in blocks of many sizes.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kMost = 4096;
int* found;
int* given;
int failures = 0;

int given_at(int i) { return i * 7 % 5; }

/// Runs launch() and compares found[0..count) with expected(i).
void check(const char* name, int block, int count, const std::function<void()>& launch,
           const std::function<int(int)>& expected) {
  for (int i = 0; i < kMost; ++i) found[i] = -1;
  launch();
  const cudaError_t error = cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i) {
    const int wanted = expected(i);
    if (error == cudaSuccess && found[i] == wanted) continue;
    std::printf("FAILED: %s, blocks of %d, at %d: %d, not %d (%s)\n", name, block, i, found[i], wanted,
                cudaGetErrorString(error));
    ++failures;
    return;
  }
}

// Unsigned counts that something is taken from: the first threads' wrap, and are not in the branch.
__global__ void count_from_32(int* to, unsigned n) {
  if (threadIdx.x < 32) return;
  for (unsigned i = threadIdx.x - 32; i < n; i += blockDim.x - 32) to[i] = int(i);
}
__global__ void count_to_the_end(int* to, unsigned n) {
  for (unsigned i = n - blockDim.x + threadIdx.x; i < n; i -= blockDim.x) to[i] = int(i);
}
__global__ void count_down(int* to, int n) {
  for (int i = n - 1 - int(threadIdx.x); i >= 0; i -= int(blockDim.x)) to[i] = i;
}
__global__ void count_up_from_before(int* to, int n) {
  for (int i = int(threadIdx.x) - 5; i < n; i += int(blockDim.x)) {
    if (i >= 0) to[i] = i;
  }
}

// Multiples of 32 that differ from thread to thread.
__global__ void differ_by_warps(int* to, const int* from) {
  const unsigned i = threadIdx.x + unsigned(from[threadIdx.x]) * 32;
  int together = 0;
  if (i < 64) together = __popc(__ballot_sync(__activemask(), 1));
  __syncwarp();
  to[threadIdx.x] = together;
}

// Lanes that meet in both arms of a branch, and one that leaves a loop of meetings for one behind it.
__global__ void meet_in_arms(int* to) {
  const int lane = int(threadIdx.x) & 31;
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    int a, b;
    if (lane % 3 == round) {
      a = __shfl_xor_sync(~0u, lane * 2, 1);
      to[threadIdx.x] = a;
      b = __shfl_xor_sync(~0u, a, 2);
    } else if (lane % 2 == 0) {
      a = __shfl_xor_sync(~0u, lane * 3, 1);
      b = __shfl_xor_sync(~0u, a + 1, 2);
    } else {
      a = __shfl_xor_sync(~0u, lane * 5, 1);
      __syncwarp(1u << lane);
      b = __shfl_xor_sync(~0u, a + 2, 2);
    }
    sum = sum * 7 + a * 3 + b;
  }
  to[threadIdx.x] = sum;
}
int met_in_arms(int thread, int block) {
  const int lanes = std::min(32, block - thread / 32 * 32);
  auto partner = [&](int lane, int by) { return (lane ^ by) < lanes ? lane ^ by : lane; };  // absent: itself
  auto arm = [](int lane, int round) { return lane % 3 == round ? 0 : lane % 2 == 0 ? 1 : 2; };
  auto first = [&](int lane, int round) {
    const int factors[] = {2, 3, 5}, other = partner(lane, 1);
    return other * factors[arm(other, round)];
  };
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    const int lane = thread & 31, other = partner(lane, 2);
    sum = sum * 7 + first(lane, round) * 3 + first(other, round) + arm(other, round);
  }
  return sum;
}
// Warps of the grid are those of its blocks only where blocks are whole warps.
__global__ void meet_in_arms_of_a_grid(int* to) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  int found;
  if (i & 32) {
    const int first = __shfl_xor_sync(~0u, i, 1);
    found = __shfl_xor_sync(~0u, first, 2);
  } else {
    const int first = __shfl_xor_sync(~0u, i + 5000, 1);
    to[i] = first;
    found = __shfl_xor_sync(~0u, first, 2);
  }
  to[i] = found;
}
int met_in_arms_of_a_grid(int i, int block) {
  auto partner = [&](int of, int by) {
    const int thread = of % block, other = (thread & ~31) + ((thread & 31) ^ by);
    return other < block ? of - thread + other : of;
  };
  const int from = partner(partner(i, 2), 1);
  return from & 32 ? from : from + 5000;
}
__global__ void meet_behind_a_loop(int* to) {
  const int lane = int(threadIdx.x) & 31;
  int votes = 0;
  for (int i = 0; i < lane; ++i) votes += __popc(__ballot_sync(~0u, i + 1 == lane));
  for (int i = lane; i < 31; ++i) votes += __popc(__ballot_sync(~0u, 0));
  to[threadIdx.x] = votes;
}

// A thread's own array behind a pointer chosen at run time, and behind one that a function gives back.
__global__ void choose_array(int* to, const int* from) {
  int a[8], b[8];
  int* chosen = (from[threadIdx.x] & 1) ? a : b;
#pragma unroll
  for (int q = 0; q < 8; ++q) chosen[(q * 3 + threadIdx.x) & 7] = q * int(threadIdx.x);
  int sum = 0;
#pragma unroll
  for (int q = 0; q < 8; ++q) sum = sum * 3 + chosen[q];
  to[threadIdx.x] = sum;
}
int chosen_sum(int thread) {
  int chosen[8], sum = 0;
  for (int q = 0; q < 8; ++q) chosen[(q * 3 + thread) & 7] = q * thread;
  for (int q = 0; q < 8; ++q) sum = sum * 3 + chosen[q];
  return sum;
}
__noinline__ __device__ int* element(int* array, int i) { return array + i; }
__global__ void keep_element(int* to, const int* from) {
  int array[8];
  for (int q = 0; q < 8; ++q) array[q] = q * int(threadIdx.x);
  int* kept = element(array, (int(threadIdx.x) + from[threadIdx.x]) & 7);
  __syncthreads();
  to[threadIdx.x] = *kept;
}

// 16 bytes that are the same for a warp, across a barrier.
__global__ void keep_wide(int* to, unsigned __int128 seed) {
  __shared__ int last;
  const unsigned __int128 wide = seed * (blockIdx.x + 3) + (seed >> 77);
  const int lanes = __popc(__ballot_sync(0xffffffffu, 1));
  last = 0;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) last = lanes;
  __syncthreads();
  to[threadIdx.x] = int(unsigned(wide >> 90)) + last - last;
}

// Few bits come round again within a block.
__global__ void compare_short(int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const short few = short(i * 256);
  to[i] = few < 10000 ? 1 : 0;
}
__global__ void compare_char(int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = static_cast<signed char>(i) < 100 ? 1 : 0;
}

void run(int block) {
  const int n = 1000;
  auto same = [](int i) { return i; };
  if (block > 32) check("count_from_32", block, n, [&] { count_from_32<<<1, block>>>(found, n); }, same);
  if (block < n) {
    check("count_to_the_end", block, n, [&] { count_to_the_end<<<1, block>>>(found, n); }, same);
  }
  check("count_down", block, n, [&] { count_down<<<1, block>>>(found, n); }, same);
  check("count_up_from_before", block, n, [&] { count_up_from_before<<<1, block>>>(found, n); }, same);
  check(
      "differ_by_warps", block, block, [&] { differ_by_warps<<<1, block>>>(found, given); },
      [&](int t) {
        int together = 0;
        if (t + given_at(t) * 32 >= 64) return 0;
        for (int u = t / 32 * 32; u < t / 32 * 32 + 32 && u < block; ++u)
          together += u + given_at(u) * 32 < 64;
        return together;
      });
  check(
      "meet_in_arms", block, block, [&] { meet_in_arms<<<1, block>>>(found); },
      [&](int t) { return met_in_arms(t, block); });
  check(
      "meet_in_arms_of_a_grid", block, 3 * block, [&] { meet_in_arms_of_a_grid<<<3, block>>>(found); },
      [&](int i) { return met_in_arms_of_a_grid(i, block); });
  check(
      "meet_behind_a_loop", block, block, [&] { meet_behind_a_loop<<<1, block>>>(found); },
      [&](int t) { return std::min(32, block - t / 32 * 32) - 1; });
  check("choose_array", block, block, [&] { choose_array<<<1, block>>>(found, given); }, chosen_sum);
  check(
      "keep_element", block, block, [&] { keep_element<<<1, block>>>(found, given); },
      [](int t) { return ((t + given_at(t)) & 7) * t; });
  const auto seed = (static_cast<unsigned __int128>(0x123456789abcdefull) << 64) + 0xfedcba9876543210ull;
  const unsigned __int128 wide = seed * 3 + (seed >> 77);
  check(
      "keep_wide", block, block, [&] { keep_wide<<<1, block>>>(found, seed); },
      [&](int) { return int(unsigned(wide >> 90)); });
  const int blocks = kMost / block;
  check(
      "compare_short", block, blocks * block, [&] { compare_short<<<blocks, block>>>(found); },
      [](int i) { return short(i * 256) < 10000 ? 1 : 0; });
  check(
      "compare_char", block, blocks * block, [&] { compare_char<<<blocks, block>>>(found); },
      [](int i) { return static_cast<signed char>(i) < 100 ? 1 : 0; });
}

}  // namespace

int main() {
  cudaMallocManaged(&found, kMost * sizeof(int));
  cudaMallocManaged(&given, kMost * sizeof(int));
  for (int i = 0; i < kMost; ++i) given[i] = given_at(i);
  const std::vector<int> blocks = {1, 7, 31, 32, 33, 48, 64, 100, 256, 300, 576, 1024};
  for (const int block : blocks) run(block);
  std::printf("threads: %zu sizes of blocks, %d failures\n", blocks.size(), failures);
  return failures == 0 ? 0 : 1;
}
