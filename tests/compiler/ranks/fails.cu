// Ends as its argument says: a kernel that fails in its last block, which is not the first rank's, or the program in its midst.
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fail_last(float* data, int n, int how) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  data[i] += 1;
  if (how == 1) assert(i != n - 1);
  if (how == 2 && i == n - 1) __trap();
}

int main(int, char** arguments) {
  constexpr int kCount = 100'000;
  const char* const how = arguments[1];
  float* data = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&data), kCount * sizeof(float));
  cudaMemset(data, 0, kCount * sizeof(float));
  fail_last<<<kCount / 250, 250>>>(data, kCount, 0);
  if (std::strcmp(how, "exit") == 0) std::exit(3);
  if (std::strcmp(how, "abort") == 0) std::abort();
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (std::strcmp(how, "killed") == 0 && rank != nullptr && std::atoi(rank) == 1) std::raise(SIGKILL);
  fail_last<<<kCount / 250, 250>>>(data, kCount,
                                   std::strcmp(how, "assert") == 0 ? 1
                                   : std::strcmp(how, "trap") == 0 ? 2
                                                                   : 0);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s, then %s\n", cudaGetErrorName(error), cudaGetErrorName(cudaGetLastError()));
  return error == cudaSuccess ? 0 : 4;
}
