#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cudart/kernels.hpp"

namespace cudart_test {

/// Whether the devices are GPUs: all tests run once more on the stand-in for the driver.
inline bool on_gpus() {
  const char* const kind = std::getenv("NUNA_DEVICE");
  return kind != nullptr && std::string(kind) == "cuda";
}

/// A device without work and without errors, before and after each test.
class Cudart : public testing::Test {
 protected:
  void SetUp() override {
    register_all();
    cudaDeviceReset();
    counted = 0;
    appended_count = 0;
  }
  void TearDown() override { cudaDeviceReset(); }
};

inline float* device_floats(std::size_t count) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, count * sizeof(float)), cudaSuccess);
  return static_cast<float*>(memory);
}

}  // namespace cudart_test
