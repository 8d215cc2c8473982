// Reads numbers from standard input as its argument says, and adds them on the device.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

__global__ void twice(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

static std::vector<float> read_numbers(const std::string& how) {
  std::vector<float> numbers;
  float number = 0;
  if (how == "scanf" || how == "half") {
    while (std::scanf("%f", &number) == 1 && (how != "half" || numbers.size() < 1000))
      numbers.push_back(number);
  } else if (how == "cin") {
    while (std::cin >> number) numbers.push_back(number);
  } else if (how == "getline") {
    for (std::string line; std::getline(std::cin, line);)
      numbers.push_back(std::strtof(line.c_str(), nullptr));
  } else if (how == "read") {
    std::string text;
    char piece[1000];
    for (ssize_t count = 0; (count = ::read(0, piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(count));
    std::istringstream stream(text);
    while (stream >> number) numbers.push_back(number);
  } else {
    numbers.assign(1000, 1);  // reads nothing
  }
  return numbers;
}

int main(int, char** arguments) {
  const std::vector<float> numbers = read_numbers(arguments[1]);
  const int n = static_cast<int>(numbers.size());
  double sum = 0;
  if (n > 0) {
    float* data = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&data), numbers.size() * sizeof(float));
    cudaMemcpy(data, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<(n + 255) / 256, 256>>>(data, n);
    std::vector<float> doubled(numbers.size());
    cudaMemcpy(doubled.data(), data, numbers.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (const float each : doubled) sum += each;
  }
  std::printf("%d numbers, %.0f\n", n, sum);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
