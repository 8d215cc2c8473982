#include <cstring>
#include <string>
#include <thread>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

class Errors : public Cudart {};

TEST_F(Errors, HaveCudasNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(Errors, AreRememberedByThreadUntilAskedFor) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Errors, OfKernelsStayUntilTheDeviceIsReset) {
  ASSERT_EQ(launch(kAssert, 4), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 100), cudaErrorAssert);
  EXPECT_EQ(launch(kEmpty), cudaErrorAssert);
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(kCount), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Errors, OfAKernelKeepOthersFromBeginning) {
  ASSERT_EQ(sleep_on(5), cudaSuccess);
  ASSERT_EQ(launch(kAssert, 4), cudaSuccess);
  launch(kCount, 1000);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_LT(counted, 4);
}

TEST_F(Errors, NameWhatIsNotThere) {
  testing::internal::CaptureStderr();
  cudaIpcMemHandle_t handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  static bool is_first = true;  // of repeated tests; the line comes once in a process
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            is_first ? "nuna: cudaIpcGetMemHandle is not supported\n" : "");
  is_first = false;
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(Errors, TellHostFunctionsThatTheyMustNotCall) {
  static cudaError_t answer;
  answer = cudaSuccess;
  const auto call = [](void*) { answer = cudaStreamSynchronize(nullptr); };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, call, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(answer, cudaErrorNotPermitted);
}

}  // namespace
}  // namespace cudart_test
