// NUNA_AUDIT, each in a process of its own, as the setting is read once.

#include <cstdlib>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

constexpr int kCount = 1000;  // four blocks of 256, the last one not full

constexpr int kFails = 7;

[[noreturn]] void launch_audited(const void* kernel) {
  setenv("NUNA_AUDIT", "on", 1);
  register_all();
  float* data = device_floats(kCount + 256);
  cudaMemset(data, 0, (kCount + 256) * sizeof(float));
  int count = kCount;
  float value = 1;
  void* arguments[] = {&data, &count, &value};
  launch(kernel, 4, 256, arguments);
  launch(kernel, 4, 256, arguments);
  std::exit(cudaDeviceSynchronize() == cudaErrorLaunchFailure ? kFails : 0);
}

class AuditOf : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(AuditOf, AKernelThatDoesWhatItsModelSaysIsCounted) {
  EXPECT_EXIT(launch_audited(kTold), testing::ExitedWithCode(0),
              "audit: 1 kernels, 2 launches, 8 blocks, 0 misses");
}

TEST_F(AuditOf, AWriteThatTheModelDoesNotClaimFailsTheLaunch) {
  EXPECT_EXIT(launch_audited(kToldBeyond), testing::ExitedWithCode(kFails),
              "kernel told_beyond, block \\(3, 0, 0\\), argument 0: writes bytes \\[4000, 4004\\) at "
              "add.cu:5, which its "
              "model does not");
}

TEST_F(AuditOf, AReadThatTheModelDoesNotClaimFailsTheLaunch) {
  EXPECT_EXIT(launch_audited(kToldBeyond), testing::ExitedWithCode(kFails),
              "argument 0: reads bytes \\[4000, 4004\\) at add.cu:5, which its model does not");
}

TEST_F(AuditOf, AWriteThatTheModelClaimsAndIsNotDoneFailsTheLaunch) {
  EXPECT_EXIT(launch_audited(kToldShort), testing::ExitedWithCode(kFails),
              "kernel told_short, block \\(1, 0, 0\\), argument 0: does not write bytes \\[1024, 1028\\), "
              "which its model "
              "says it does at add.cu:3");
}

TEST_F(AuditOf, CodeThatDoesNotTellIsNotAudited) {
  EXPECT_EXIT(launch_audited(kAdd), testing::ExitedWithCode(0),
              "kernel add does not tell what it touches: compile with nunacc --audit");
}

}  // namespace
}  // namespace cudart_test
