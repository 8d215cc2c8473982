// A program that gives the device new input before each launch: uploads <pattern> <way> <bytes> <rounds>.
//
//   rows    each block reads its part of the input and a little of its neighbours'     whole   each block reads all of it
//   pitched rows that lie apart (cudaMemcpy2D)                                         fill    cudaMemset in the place of new input
//   copy    cudaMemcpy from the program's memory                                       touch   the host writes managed memory itself

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

constexpr int kThreads = 128;
constexpr int kHalo = 16;
constexpr int kColumns = 1000;  // of pitched rows

__global__ void rows(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i < kHalo ? 0 : i - kHalo] + in[i + kHalo < n ? i + kHalo : n - 1];
}

__global__ void whole(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = i;
  for (int k = 0; k < n; ++k) sum += in[k];
  out[i] = sum;
}

__global__ void pitched(const unsigned* in, unsigned* out, int pitch, int columns) {
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = in[blockIdx.x * pitch + c] + 1;
}

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("FAIL: line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string pattern = argv[1];
  const bool touches = std::string(argv[2]) == "touch";
  const int rounds = std::atoi(argv[4]);
  const int height = std::atoi(argv[3]) / static_cast<int>(sizeof(int)) / kColumns;  // of pitched rows
  const int n = pattern == "pitched" ? height * kColumns : std::atoi(argv[3]) / static_cast<int>(sizeof(int));
  const int blocks = pattern == "whole" ? 32 : (n + kThreads - 1) / kThreads;
  const std::size_t bytes = n * sizeof(int);
  const std::size_t row_bytes = kColumns * sizeof(int);
  std::size_t pitch = row_bytes;
  std::vector<unsigned> input(n), output(pattern == "whole" ? blocks * kThreads : n);
  unsigned* in = nullptr;
  unsigned* out = nullptr;
  if (touches) {
    CHECK(cudaMallocManaged(&in, bytes));
  } else if (pattern == "pitched") {
    CHECK(cudaMallocPitch(&in, &pitch, row_bytes, height));
  } else {
    CHECK(cudaMalloc(&in, bytes));
  }
  CHECK(cudaMalloc(&out, output.size() * sizeof(int)));
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i)
      input[i] = pattern == "fill" ? round * 0x01010101 : static_cast<unsigned>(i) * (round + 1);
    if (touches) {
      std::memcpy(in, input.data(), bytes);
    } else if (pattern == "pitched") {
      CHECK(cudaMemcpy2D(in, pitch, input.data(), row_bytes, row_bytes, height, cudaMemcpyHostToDevice));
    } else if (pattern == "fill") {
      CHECK(cudaMemset(in, round, bytes));
    } else {
      CHECK(cudaMemcpy(in, input.data(), bytes, cudaMemcpyHostToDevice));
    }
    if (pattern == "whole") {
      whole<<<blocks, kThreads>>>(in, out, n);
    } else if (pattern == "pitched") {
      pitched<<<height, kThreads>>>(in, out, static_cast<int>(pitch / sizeof(int)), kColumns);
    } else {
      rows<<<blocks, kThreads>>>(in, out, n);
    }
    CHECK(cudaMemcpy(output.data(), out, output.size() * sizeof(int), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int i = 0; pattern == "whole" && i < n; ++i) sum += input[i];
    for (int i = 0; i < static_cast<int>(output.size()); ++i) {
      const int left = i < kHalo ? 0 : i - kHalo;
      const int right = i + kHalo < n ? i + kHalo : n - 1;
      const unsigned wanted = pattern == "whole"     ? i + sum
                              : pattern == "pitched" ? input[i] + 1
                                                     : input[left] + input[right];
      if (output[i] == wanted) continue;
      std::printf("FAIL: round %d, %d: %u, not %u\n", round, i, output[i], wanted);
      return 1;
    }
  }
  std::printf("PASS\n");
  return 0;
}
