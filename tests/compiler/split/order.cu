// What launches over several devices must not part: variables of the program, addresses in memory, managed memory, what kernels print.
#include <cstdio>
#include <vector>

constexpr int kCount = 10000, kBlock = 256, kBlocks = (kCount + kBlock - 1) / kBlock;

__device__ int positive;
__device__ float factor = 3;
__constant__ float table[16];

__global__ void scale(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i % 16] * factor;
}
__global__ void count(const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(&positive, 1);
}
__global__ void add_count(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += positive;
}
__global__ void set_factor(float value) { factor = value; }

struct Node {
  float value;
  Node* next;
};
__global__ void link(Node* nodes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) nodes[i] = {float(i), i + 1 < n ? nodes + i + 1 : nullptr};
}
__global__ void walk(const Node* nodes, float* sum) {
  *sum = 0;
  for (; nodes != nullptr; nodes = nodes->next) *sum += nodes->value;
}
__global__ void fill(float** rows) { rows[blockIdx.x][threadIdx.x] = 100.0f * blockIdx.x + threadIdx.x; }
__global__ void say(int number) { printf("kernel %d\n", number); }

template <class T>
static T* allocated(int count) {
  T* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(T));
  return memory;
}
static double sum_of(const float* device, int count) {
  std::vector<float> values(count);
  cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

int main() {
  float numbers[16];
  for (int i = 0; i < 16; ++i) numbers[i] = i;
  cudaMemcpyToSymbol(table, numbers, sizeof numbers);
  float* const values = allocated<float>(kCount);
  for (int round = 1; round <= 10; ++round) {
    set_factor<<<1, 1>>>(round);
    scale<<<kBlocks, kBlock>>>(values, kCount);
    count<<<kBlocks, kBlock>>>(values, kCount);
    add_count<<<kBlocks, kBlock>>>(values, kCount);
    std::printf("round %d: %.0f\n", round, sum_of(values, kCount));
  }

  Node* const nodes = allocated<Node>(kCount);
  float* const sum = allocated<float>(1);
  link<<<kBlocks, kBlock>>>(nodes, kCount);
  walk<<<1, 1>>>(nodes, sum);
  std::printf("list: %.0f\n", sum_of(sum, 1));

  std::vector<float*> rows(8);
  for (float*& row : rows) row = allocated<float>(100);
  float** const device_rows = allocated<float*>(8);
  cudaMemcpy(device_rows, rows.data(), 8 * sizeof(float*), cudaMemcpyHostToDevice);
  fill<<<8, 100>>>(device_rows);
  for (const float* row : rows) std::printf("row: %.0f\n", sum_of(row, 100));

  float* managed = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&managed), kCount * sizeof(float));
  scale<<<kBlocks, kBlock>>>(managed, kCount);
  cudaDeviceSynchronize();
  double all = 0;
  for (int i = 0; i < kCount; ++i) all += managed[i];
  std::printf("managed: %.0f\n", all);

  for (int i = 0; i < 5; ++i) say<<<1, 1>>>(i);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 1;
}
