// An error of a kernel is told to a callback behind it, and over when the device is reset; rows of a pitched array are filled at once.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void divide(int* numbers, const int* by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] = 1000 / by[i];
}

static void tell(cudaStream_t, cudaError_t error, void* what) {
  std::printf("%s: %s\n", static_cast<const char*>(what), cudaGetErrorName(error));
}
static void not_called(void*) { std::printf("a host function behind an error\n"); }

/// Divides by the numbers, of which one may be 0.
static void round_of(const std::vector<int>& by) {
  const int count = int(by.size());
  int *numbers = nullptr, *divisors = nullptr;
  std::printf("%s ", cudaGetErrorName(cudaMalloc(&numbers, count * sizeof(int))));
  cudaMalloc(&divisors, count * sizeof(int));
  std::printf("%s\n",
              cudaGetErrorName(cudaMemcpy(divisors, by.data(), count * sizeof(int), cudaMemcpyHostToDevice)));
  divide<<<(count + 63) / 64, 64>>>(numbers, divisors, count);
  char what[] = "callback";
  cudaStreamAddCallback(nullptr, tell, what, 0);
  if (by.back() == 0) cudaLaunchHostFunc(nullptr, not_called, nullptr);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::vector<int> found(by.size());
  const cudaError_t error = cudaMemcpy(found.data(), numbers, count * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%s %d\n", cudaGetErrorName(error), error == cudaSuccess ? found[count / 2] : 0);
}

static void fill_rows() {
  constexpr std::size_t kRows = 2000, kWidth = 60;
  unsigned char* rows = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&rows, &pitch, kWidth + 4, kRows);
  cudaMemset(rows, 1, pitch * kRows);
  cudaMemset2D(rows, pitch, 7, kWidth, kRows);
  std::vector<unsigned char> found(pitch * kRows);
  cudaMemcpy(found.data(), rows, found.size(), cudaMemcpyDeviceToHost);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != (i % pitch < kWidth ? 7 : 1);
  std::printf("%s, %zu bytes of filled rows are wrong\n", cudaGetErrorName(cudaGetLastError()), wrong);
}

int main() {
  std::vector<int> by(10000, 8);
  round_of(by);
  by.back() = 0;
  round_of(by);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
  by.back() = 2;
  round_of(by);
  by.back() = 0;  // a reset without a wait
  int *numbers = nullptr, *divisors = nullptr;
  cudaMalloc(&numbers, by.size() * sizeof(int));
  cudaMalloc(&divisors, by.size() * sizeof(int));
  cudaMemcpy(divisors, by.data(), by.size() * sizeof(int), cudaMemcpyHostToDevice);
  divide<<<200, 64>>>(numbers, divisors, int(by.size()));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
  by.back() = 2;
  round_of(by);
  fill_rows();
  return 0;
}
