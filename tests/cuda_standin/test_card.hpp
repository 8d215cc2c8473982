#pragma once
// What the stand-in's tests share: a started driver, contexts, and memory that is given back.

#include <cuda.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "state.hpp"

namespace standin {

#define EXPECT_OK(call) EXPECT_EQ(CUDA_SUCCESS, (call))
#define ASSERT_OK(call) ASSERT_EQ(CUDA_SUCCESS, (call))

/// Each test begins with healthy cards and ends with nothing left.
class CardTest : public testing::Test {
 protected:
  void SetUp() override {
    state().settings.faults.clear();
    state().settings.slowness.clear();
    state().settings.losses.clear();
    ASSERT_OK(cuInit(0));
    for (int device = 0; device < 2; ++device) {
      state().cards[static_cast<std::size_t>(device)]->context->error = CUDA_SUCCESS;
      ASSERT_OK(cuDevicePrimaryCtxRetain(&contexts[device], device));
    }
    ASSERT_OK(cuCtxSetCurrent(contexts[0]));
  }
  void TearDown() override {
    cuCtxSetCurrent(nullptr);
    for (int device = 0; device < 2; ++device) {
      state().cards[static_cast<std::size_t>(device)]->context->error = CUDA_SUCCESS;
      cuDevicePrimaryCtxRelease(device);
      EXPECT_EQ(0u, state().cards[static_cast<std::size_t>(device)]->used_bytes.load());
    }
  }

  CUcontext contexts[2] = {};
};

/// Memory of the current context, with values from the host.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) : count_(count) {
    EXPECT_OK(cuMemAlloc(&address, count * sizeof(T)));
    EXPECT_OK(cuMemsetD8(address, 0, count * sizeof(T)));
    EXPECT_OK(cuStreamSynchronize(nullptr));  // streams that do not wait for the default one may come next
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    EXPECT_OK(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)));
  }
  ~Array() { cuMemFree(address); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::vector<T> values() const {
    std::vector<T> result(count_);
    EXPECT_OK(cuMemcpyDtoH(result.data(), address, count_ * sizeof(T)));
    return result;
  }
  T value(std::size_t number = 0) const { return values()[number]; }

  CUdeviceptr address = 0;

 private:
  std::size_t count_;
};

/// With the module of test_kernels.cu.
class KernelTest : public CardTest {
 protected:
  void SetUp() override {
    CardTest::SetUp();
    std::ifstream file(STANDIN_TEST_PTX);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(text.empty());
    ASSERT_OK(cuModuleLoadData(&module, text.c_str()));
  }
  void TearDown() override {
    cuModuleUnload(module);
    CardTest::TearDown();
  }

  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&found, module, name)) << name;
    return found;
  }

  struct Shape {
    unsigned blocks = 1, threads = 1, shared_bytes = 0;
  };
  template <class... Arguments>
  CUresult launch(const char* name, Shape shape, Arguments... arguments) {
    void* pointers[] = {&arguments..., nullptr};
    return cuLaunchKernel(function(name), shape.blocks, 1, 1, shape.threads, 1, 1, shape.shared_bytes,
                          nullptr, pointers, nullptr);
  }
  /// Launches, waits, and requires success.
  template <class... Arguments>
  void run(const char* name, Shape shape, Arguments... arguments) {
    ASSERT_EQ(CUDA_SUCCESS, launch(name, shape, arguments...)) << name;
    ASSERT_EQ(CUDA_SUCCESS, cuCtxSynchronize()) << name;
  }

  CUmodule module = nullptr;
};

}  // namespace standin
