// Exclusive prefix sums. A block scans 512 elements in shared memory, up a tree and down again, so that its work is
// proportional to its elements; the blocks' sums are scanned in the same way, and added.

#include "check.hpp"

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int tree[kElements];
  const int thread = threadIdx.x;
  const int first = blockIdx.x * kElements + thread, second = first + kThreads;
  tree[thread] = first < n ? in[first] : 0;
  tree[thread + kThreads] = second < n ? in[second] : 0;

  int distance = 1;
  for (int active = kThreads; active > 0; active /= 2) {
    __syncthreads();
    if (thread < active) tree[distance * (2 * thread + 2) - 1] += tree[distance * (2 * thread + 1) - 1];
    distance *= 2;
  }
  if (thread == 0) {
    sums[blockIdx.x] = tree[kElements - 1];
    tree[kElements - 1] = 0;
  }
  for (int active = 1; active <= kThreads; active *= 2) {
    distance /= 2;
    __syncthreads();
    if (thread < active) {
      const int left = distance * (2 * thread + 1) - 1, right = distance * (2 * thread + 2) - 1;
      const int value = tree[left];
      tree[left] = tree[right];
      tree[right] += value;
    }
  }
  __syncthreads();
  if (first < n) out[first] = tree[thread];
  if (second < n) out[second] = tree[thread + kThreads];
}

__global__ void add_sums(int* out, const int* sums, int n) {
  const int first = blockIdx.x * kElements + threadIdx.x, second = first + kThreads;
  if (first < n) out[first] += sums[blockIdx.x];
  if (second < n) out[second] += sums[blockIdx.x];
}

static void scan(const int* in, int* out, int n) {
  const int blocks = (n + kElements - 1) / kElements;
  int *sums, *starts;
  CHECK_CUDA(cudaMalloc(&sums, blocks * sizeof(int)));
  scan_blocks<<<blocks, kThreads>>>(in, out, sums, n);
  CHECK_CUDA(cudaGetLastError());
  if (blocks > 1) {
    CHECK_CUDA(cudaMalloc(&starts, blocks * sizeof(int)));
    scan(sums, starts, blocks);
    add_sums<<<blocks, kThreads>>>(out, starts, n);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaFree(starts));
  }
  CHECK_CUDA(cudaFree(sums));
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 1, "[elements, 1 to 100000000]");
  const int n = arguments.number(1, 1 << 20, 1, 100000000);
  const std::size_t bytes = n * sizeof(int);
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 7 + i / 3) % 17 - 5;

  int *device_in, *device_out;
  CHECK_CUDA(cudaMalloc(&device_in, bytes));
  CHECK_CUDA(cudaMalloc(&device_out, bytes));
  CHECK_CUDA(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice));
  scan(device_in, device_out, n);
  CHECK_CUDA(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_in));
  CHECK_CUDA(cudaFree(device_out));

  int wrong = 0, sum = 0;
  for (int i = 0; i < n; ++i) {
    wrong += out[i] != sum;
    sum += in[i];
  }
  return report(wrong == 0, "scan of %d elements, %d wrong", n, wrong);
}
