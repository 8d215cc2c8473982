// What happens at the end of a process, each in a process of its own.

#include <cstdlib>
#include <thread>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

constexpr int kGood = 0;

// Destroyed after what the library does at exit, when it was made before the first call.
struct FreesLate {
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  ~FreesLate() {
    cudaFree(memory);
    cudaStreamDestroy(stream);
    cudaDeviceSynchronize();
    cudaFree(nullptr);
    cudaDeviceReset();
  }
};

[[noreturn]] void leave_work_behind() {
  static FreesLate late;
  register_all();
  cudaMalloc(&late.memory, 1000);
  cudaStreamCreate(&late.stream);
  for (int i = 0; i < 100; ++i) launch(kCount, 10, 1, nullptr, 0, late.stream);
  std::exit(kGood);
}

[[noreturn]] void leave_in_a_host_function() {
  register_all();
  cudaLaunchHostFunc(nullptr, [](void*) { std::_Exit(kGood); }, nullptr);
  cudaDeviceSynchronize();
  std::_Exit(1);
}

[[noreturn]] void leave_after_a_failed_kernel() {
  static FreesLate late;
  register_all();
  cudaMalloc(&late.memory, 1000);
  launch(kAssert, 4);
  std::exit(cudaDeviceSynchronize() == cudaErrorAssert ? kGood : 1);
}

TEST(AtExit, WorkIsFinishedAndLateCallsAreHarmless) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_work_behind(), testing::ExitedWithCode(kGood), "");
}
TEST(AtExit, AHostFunctionMayEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_in_a_host_function(), testing::ExitedWithCode(kGood), "");
}
TEST(AtExit, AFailedKernelIsNoObstacle) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_after_a_failed_kernel(), testing::ExitedWithCode(kGood), "");
}

}  // namespace
}  // namespace cudart_test
