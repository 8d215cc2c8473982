// What ranks give the device is not alike: addresses, clocks, bytes that nobody wrote. Rank 0's is the program's. Prints results that show
// whether all devices had the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kCount = 200'000, kBlock = 256, kBlocks = (kCount + kBlock - 1) / kBlock;

// As another process would have it: different on each rank, and 0 on the first.
static unsigned noise() {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank == nullptr ? 0 : static_cast<unsigned>(std::atoi(rank));
}

struct Padded {
  char kind;
  double value;
  const void* host;
};
struct Options {
  char kind;
  double factor;
  const void* host;
};

__device__ float offset;
__constant__ unsigned table[64];

__global__ void spread(const Padded* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(in[i].value) + in[i].kind;
}
__global__ void scale(float* data, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}
__global__ void apply(float* data, int n, Options options) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += static_cast<float>(options.factor) * options.kind;
}
__global__ void add_symbols(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += offset + static_cast<float>(table[i % 64]);
}
__global__ void set_offset(float value) { offset = value; }
__global__ void double_all(unsigned* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

template <class T>
static T* allocated(std::size_t count) {
  T* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(T));
  return memory;
}
template <class T>
static void print(const char* what, const T* device, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(i % 7 + 1);
  std::printf("%s: %.0f\n", what, sum);
}

int main() {
  const unsigned mine = noise();
  std::vector<Padded> padded(kCount);
  std::memset(static_cast<void*>(padded.data()), static_cast<int>(mine), padded.size() * sizeof(Padded));
  for (int i = 0; i < kCount; ++i) {
    padded[i].kind = static_cast<char>(i % 3);
    padded[i].value = i % 100 + (i % 1000 == 0 ? mine : 0);
    padded[i].host = &padded[i];
  }
  Padded* const in = allocated<Padded>(kCount);
  float* const data = allocated<float>(kCount);
  cudaMemcpy(in, padded.data(), kCount * sizeof(Padded), cudaMemcpyHostToDevice);
  spread<<<kBlocks, kBlock>>>(in, data, kCount);
  print("copied", data, kCount);

  for (int round = 0; round < 20; ++round)
    scale<<<kBlocks, kBlock>>>(data, kCount, round % 2 ? 0.5f : 2.0f + mine);
  print("scaled", data, kCount);

  Options options;
  std::memset(static_cast<void*>(&options), static_cast<int>(mine), sizeof options);
  options.kind = 3;
  options.factor = 2 + mine;
  options.host = &options;
  apply<<<kBlocks, kBlock>>>(data, kCount, options);
  print("applied", data, kCount);

  unsigned numbers[64];
  for (unsigned i = 0; i < 64; ++i) numbers[i] = i + mine;
  cudaMemcpyToSymbol(table, numbers, sizeof numbers);
  set_offset<<<1, 1>>>(5.0f + mine);
  add_symbols<<<kBlocks, kBlock>>>(data, kCount);
  print("symbols", data, kCount);

  unsigned* const words = allocated<unsigned>(kCount);
  cudaMemset(words, static_cast<int>(mine), kCount * sizeof(unsigned));
  cudaMemset(words, static_cast<int>(1 + mine), 1000);
  double_all<<<kBlocks, kBlock>>>(words, kCount);
  print("filled", words, kCount);

  // Rows with gaps between them.
  constexpr int kPitch = 512, kWidth = 300, kRows = 400;
  std::vector<unsigned char> rows(kPitch * kRows, static_cast<unsigned char>(7 + mine));
  cudaMemcpy2D(words, kPitch, rows.data(), kPitch, kWidth, kRows, cudaMemcpyHostToDevice);
  double_all<<<kBlocks, kBlock>>>(words, kCount);
  print("rows", words, kCount);

  unsigned* managed = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&managed), kCount * sizeof(unsigned));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kCount; ++i)
      managed[i] = static_cast<unsigned>(i + round) + (i % 5000 == 0 ? mine : 0);
    double_all<<<kBlocks, kBlock>>>(managed, kCount);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < kCount; ++i) sum += managed[i];
    std::printf("managed: %.0f\n", sum);
  }

  void* from_host = nullptr;  // an address of the host in the device's memory comes back as it was
  cudaMemcpy(&from_host, reinterpret_cast<char*>(in) + offsetof(Padded, host), sizeof from_host,
             cudaMemcpyDeviceToHost);
  std::printf("address: %d\n", from_host == static_cast<void*>(padded.data()) || mine != 0);

  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 1;
}
