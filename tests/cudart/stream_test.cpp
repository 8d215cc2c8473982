#include <chrono>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

class Streams : public Cudart {
 protected:
  static cudaStream_t made(unsigned int flags = 0) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    return stream;
  }
  static cudaEvent_t event(unsigned int flags = 0) {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&made, flags), cudaSuccess);
    return made;
  }
};

TEST_F(Streams, KeepTheOrderOfTheirWork) {
  const cudaStream_t stream = made();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(append(i, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(appended_count, 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(appended[i], i);
}

TEST_F(Streams, TellWhetherTheyHaveWork) {
  const cudaStream_t stream = made(cudaStreamNonBlocking);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  ASSERT_EQ(sleep_on(30, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST_F(Streams, ReturnBeforeTheirWorkIsDone) {
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(sleep_on(100), cudaSuccess);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(90));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
}

TEST_F(Streams, RefuseHandlesThatAreNone) {
  const cudaStream_t stream = made();
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(reinterpret_cast<cudaEvent_t>(stream), nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCreateWithFlags(nullptr, 0), cudaErrorInvalidValue);
}

TEST_F(Streams, HavePriorities) {
  int least = 1;
  int greatest = 1;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_LT(greatest, least);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), cudaSuccess);
  int priority = 0;
  unsigned int flags = 0;
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
}

TEST_F(Streams, CallHostFunctionsInTheirOrder) {
  static int seen;
  seen = -1;
  const cudaStream_t stream = made();
  ASSERT_EQ(append(1, stream), cudaSuccess);
  int more = 100;
  const auto look = [](void* number) { seen = appended_count + *static_cast<int*>(number); };
  ASSERT_EQ(cudaLaunchHostFunc(stream, look, &more), cudaSuccess);
  ASSERT_EQ(append(2, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, 101);
}

TEST_F(Streams, CallBackWithTheirStatus) {
  static cudaError_t status;
  status = cudaErrorUnknown;
  ASSERT_EQ(cudaStreamAddCallback(
                nullptr, [](cudaStream_t, cudaError_t s, void*) { status = s; }, nullptr, 0),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(status, cudaSuccess);
}

TEST_F(Streams, EventsTellTheTimeBetweenThem) {
  const cudaEvent_t start = event();
  const cudaEvent_t end = event();
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  ASSERT_EQ(sleep_on(30), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(end), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 29.9f);
  EXPECT_LT(milliseconds, 2000.0f);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, end, start), cudaSuccess);
  EXPECT_LT(milliseconds, 0.0f);
}

TEST_F(Streams, EventsWithoutTimingHaveNoTime) {
  const cudaEvent_t start = event(cudaEventDisableTiming);
  const cudaEvent_t end = event();
  ASSERT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(start), cudaErrorInvalidResourceHandle);
}

TEST_F(Streams, WaitForEventsOfOthers) {
  const cudaStream_t first = made();
  const cudaStream_t second = made(cudaStreamNonBlocking);
  const cudaEvent_t done = event();
  EXPECT_EQ(cudaStreamWaitEvent(second, done, 0), cudaSuccess);  // never recorded: nothing to wait for
  ASSERT_EQ(sleep_on(20, first), cudaSuccess);
  ASSERT_EQ(append(1, first), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(done, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, done, 0), cudaSuccess);
  ASSERT_EQ(append(2, second), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(appended[0], 1);
  EXPECT_EQ(appended[1], 2);
}

}  // namespace
}  // namespace cudart_test
