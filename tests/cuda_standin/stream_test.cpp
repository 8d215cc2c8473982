// Streams, events, the default stream, and copies in them.

#include <atomic>
#include <chrono>
#include <thread>

#include "test_card.hpp"

namespace standin {
namespace {

using std::chrono::milliseconds;

class StreamTest : public CardTest {
 protected:
  void SetUp() override {
    CardTest::SetUp();
    ASSERT_OK(cuStreamCreate(&one, CU_STREAM_DEFAULT));
    ASSERT_OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override {
    gate.store(true);
    cuStreamDestroy(one);
    cuStreamDestroy(two);
    CardTest::TearDown();
  }
  /// Holds a stream until the gate is open.
  void hold(CUstream stream) {
    gate.store(false);
    ASSERT_OK(cuLaunchHostFunc(
        stream,
        [](void* open) {
          while (!static_cast<std::atomic<bool>*>(open)->load()) std::this_thread::yield();
        },
        &gate));
  }

  CUstream one = nullptr, two = nullptr;
  std::atomic<bool> gate = true;
};

TEST_F(StreamTest, WorksWhileTheHostGoesOn) {
  hold(one);
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(one));
  EXPECT_OK(cuStreamQuery(two));
  gate.store(true);
  EXPECT_OK(cuStreamSynchronize(one));
  EXPECT_OK(cuStreamQuery(one));
}

TEST_F(StreamTest, EventsOrderStreams) {
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventQuery(event));
  hold(one);
  ASSERT_OK(cuEventRecord(event, one));
  ASSERT_OK(cuStreamWaitEvent(two, event, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(two));
  gate.store(true);
  EXPECT_OK(cuEventSynchronize(event));
  EXPECT_OK(cuStreamSynchronize(two));
  EXPECT_OK(cuEventQuery(event));
  EXPECT_OK(cuEventDestroy(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
}

TEST_F(StreamTest, EventsTellTime) {
  CUevent begin = nullptr, end = nullptr, timeless = nullptr;
  ASSERT_OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  ASSERT_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  ASSERT_OK(cuEventCreate(&timeless, CU_EVENT_DISABLE_TIMING));
  float elapsed = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&elapsed, begin, end));
  ASSERT_OK(cuEventRecord(begin, one));
  ASSERT_OK(cuLaunchHostFunc(one, [](void*) { std::this_thread::sleep_for(milliseconds(5)); }, nullptr));
  ASSERT_OK(cuEventRecord(end, one));
  ASSERT_OK(cuEventRecord(timeless, one));
  ASSERT_OK(cuStreamSynchronize(one));
  ASSERT_OK(cuEventElapsedTime(&elapsed, begin, end));
  EXPECT_GE(elapsed, 5.0f);
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&elapsed, begin, timeless));
  for (CUevent each : {begin, end, timeless}) EXPECT_OK(cuEventDestroy(each));
}

TEST_F(StreamTest, RefusesEventsOfOtherContexts) {
  ASSERT_OK(cuCtxPushCurrent(contexts[1]));
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, one));
  EXPECT_OK(cuEventRecord(event, nullptr));
  EXPECT_OK(cuStreamWaitEvent(one, event, 0));
  EXPECT_OK(cuEventDestroy(event));
  CUcontext popped = nullptr;
  ASSERT_OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(contexts[1], popped);
}

TEST_F(StreamTest, TheDefaultStreamWaitsForBlockingOnesAndTheyForIt) {
  Array<int> array(1);
  ASSERT_OK(cuCtxSynchronize());
  hold(one);
  ASSERT_OK(cuMemsetD32Async(array.address, 1, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  CUstream third = nullptr;
  ASSERT_OK(cuStreamCreate(&third, CU_STREAM_DEFAULT));
  ASSERT_OK(cuMemsetD32Async(array.address, 2, 1, third));
  ASSERT_OK(cuMemsetD32Async(array.address, 3, 1, two));
  EXPECT_OK(cuStreamSynchronize(two));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(third));
  gate.store(true);
  EXPECT_OK(cuStreamSynchronize(third));
  EXPECT_EQ(2, array.value());
  EXPECT_OK(cuStreamDestroy(third));
}

TEST_F(StreamTest, ReadsPageableMemoryBeforeItReturns) {
  Array<int> array(1);
  int value = 5;
  hold(two);
  ASSERT_OK(cuMemcpyHtoDAsync(array.address, &value, sizeof value, two));
  value = 6;
  gate.store(true);
  int back = 0;
  ASSERT_OK(cuMemcpyDtoHAsync(&back, array.address, sizeof back, two));  // to pageable memory: it waits
  EXPECT_EQ(5, back);
}

TEST_F(StreamTest, ReadsPinnedMemoryWhenItsTurnComes) {
  Array<int> array(1);
  void* pinned = nullptr;
  ASSERT_OK(cuMemHostAlloc(&pinned, 8, 0));
  int* values = static_cast<int*>(pinned);
  values[0] = 5;
  hold(two);
  ASSERT_OK(cuMemcpyHtoDAsync(array.address, values, 4, two));
  ASSERT_OK(cuMemcpyDtoHAsync(values + 1, array.address, 4, two));
  values[0] = 6;
  gate.store(true);
  ASSERT_OK(cuStreamSynchronize(two));
  EXPECT_EQ(6, values[1]);
  ASSERT_OK(cuMemFreeHost(pinned));
}

TEST_F(StreamTest, SlowCopiesAreSlowInTheirStream) {
  state().settings.slowness["cuMemsetD8Async"] = std::chrono::microseconds(20'000);
  Array<char> array(1);
  ASSERT_OK(cuMemsetD8Async(array.address, 1, 1, two));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(two));
  EXPECT_OK(cuStreamSynchronize(two));
}

TEST_F(StreamTest, WaitsForAWord) {
  Array<std::uint64_t> array(2);
  ASSERT_OK(cuCtxSynchronize());
  ASSERT_OK(cuStreamWaitValue64(one, array.address, 3, CU_STREAM_WAIT_VALUE_GEQ));
  ASSERT_OK(cuStreamWriteValue64(one, array.address + 8, 1, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(one));
  ASSERT_OK(cuStreamWriteValue64(two, array.address, 4, 0));
  ASSERT_OK(cuStreamSynchronize(one));
  EXPECT_EQ(1u, array.value(1));
}

TEST_F(StreamTest, HostFunctionsMayNotCallTheDriver) {
  CUresult result = CUDA_SUCCESS;
  ASSERT_OK(
      cuLaunchHostFunc(two, [](void* to) { *static_cast<CUresult*>(to) = cuCtxSynchronize(); }, &result));
  ASSERT_OK(cuStreamSynchronize(two));
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, result);
}

TEST_F(StreamTest, RefusesHandlesThatAreGone) {
  CUstream gone = nullptr;
  ASSERT_OK(cuStreamCreateWithPriority(&gone, CU_STREAM_NON_BLOCKING, -1));
  int priority = 0;
  ASSERT_OK(cuStreamGetPriority(gone, &priority));
  EXPECT_EQ(-1, priority);
  ASSERT_OK(cuStreamDestroy(gone));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(gone));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(gone));
}

TEST_F(StreamTest, CopiesRectanglesAndBoxes) {
  std::vector<int> in(6 * 5 * 4);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
  Array<int> array(in), target(2 * 3 * 4);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE, box.srcDevice = array.address, box.srcPitch = 24,
  box.srcHeight = 5;
  box.srcXInBytes = 8, box.srcY = 1, box.srcZ = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = target.address, box.dstPitch = 12,
  box.dstHeight = 4;
  box.WidthInBytes = 12, box.Height = 4, box.Depth = 2;
  ASSERT_OK(cuMemcpy3DAsync(&box, two));
  ASSERT_OK(cuStreamSynchronize(two));
  const auto values = target.values();
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 3; ++x)
        EXPECT_EQ(in[((z + 2) * 5 + y + 1) * 6 + x + 2], values[(z * 4 + y) * 3 + x]);
  box.srcPitch = 16;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&box, two));
  CUDA_MEMCPY2D plane{};
  std::vector<int> out(6);
  plane.srcMemoryType = CU_MEMORYTYPE_UNIFIED, plane.srcDevice = array.address + 4, plane.srcPitch = 24;
  plane.dstMemoryType = CU_MEMORYTYPE_HOST, plane.dstHost = out.data(), plane.dstPitch = 8;
  plane.WidthInBytes = 8, plane.Height = 3;
  ASSERT_OK(cuMemcpy2D(&plane));
  EXPECT_EQ((std::vector<int>{1, 2, 7, 8, 13, 14}), out);
}

TEST_F(StreamTest, CopiesBetweenCards) {
  Array<int> here(std::vector<int>{1, 2, 3});
  ASSERT_OK(cuCtxSetCurrent(contexts[1]));
  Array<int> there(3);
  ASSERT_OK(cuCtxSynchronize());
  ASSERT_OK(cuCtxSetCurrent(contexts[0]));
  ASSERT_OK(cuMemcpyPeerAsync(there.address, contexts[1], here.address, contexts[0], 12, two));
  ASSERT_OK(cuStreamSynchronize(two));
  EXPECT_EQ((std::vector<int>{1, 2, 3}), there.values());
}

TEST(ProcAddressTest, FindsTheVersionThatTheCallerKnows) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_OK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status));
  EXPECT_EQ(reinterpret_cast<void*>(&cuMemAlloc), found);
  EXPECT_OK(cuGetProcAddress_v2("cuMemCreate", &found, 10000, 0, &status));
  EXPECT_EQ(nullptr, found);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, status);
  EXPECT_OK(cuGetProcAddress_v2("cuNonsense", &found, 12000, 0, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", &found, CUDA_VERSION + 10, 0, &status));
}

}  // namespace
}  // namespace standin
