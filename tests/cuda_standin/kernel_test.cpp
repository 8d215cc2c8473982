// Whole kernels: blocks, barriers, warps, atomics, calls, variables, parameters.

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "test_card.hpp"
#include "test_functions.hpp"

namespace standin {
namespace {

std::vector<int> numbers(int count) {
  std::vector<int> list(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) list[static_cast<std::size_t>(i)] = (i * 37 + 11) % 101;
  return list;
}

TEST_F(KernelTest, GivesEveryThreadItsIndex) {
  Array<unsigned> out(2 * 3 * 2 * 4 * 3 * 2);
  void* arguments[] = {&out.address};
  ASSERT_OK(cuLaunchKernel(function("index_of"), 2, 3, 2, 4, 3, 2, 0, nullptr, arguments, nullptr));
  const auto values = out.values();
  for (unsigned i = 0; i < values.size(); ++i) EXPECT_EQ(i / 24 * 1000 + i % 24, values[i]);
}

TEST_F(KernelTest, BranchesThroughTables) {
  std::vector<long> in(64);
  std::iota(in.begin(), in.end(), 1000);
  Array<long> in_array(in), out(64);
  run("choose", {1, 64}, in_array.address, out.address, 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(chosen(i, in[i]), out.value(i)) << i;
}

TEST_F(KernelTest, IndexesLocalArrays) {
  Array<unsigned> out(100);
  run("local_array", {1, 100}, out.address);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(from_local_array(i * 37), out.value(i)) << i;
}

TEST_F(KernelTest, TakesLargeStructsByValue) {
  Closure closure{};
  for (int i = 0; i < 300; ++i) closure.tail.head.values[i] = i * 1.25;
  for (int i = 0; i < 200; ++i) closure.tail.head.shorts[i] = static_cast<short>(-i);
  closure.head = 3, closure.tail.tail.head = -5, closure.tail.tail.tail.head = 200,
  closure.tail.tail.tail.tail = 0.5f;
  Array<double> out(400);
  run("closure", {1, 400}, closure, out.address);
  const auto values = out.values();
  for (int i = 0; i < 400; ++i) EXPECT_EQ(of_closure(closure, i), values[static_cast<std::size_t>(i)]) << i;
}

TEST_F(KernelTest, TakesParametersAsABuffer) {
  struct {
    CUdeviceptr at;
    long index;
    int value;
  } parameters{0, 3, 77};
  Array<int> out(4);
  parameters.at = out.address;
  std::size_t size = sizeof parameters;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  ASSERT_OK(cuLaunchKernel(function("write_at"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(77, out.value(3));
}

TEST_F(KernelTest, MultipliesByTiles) {
  constexpr int n = 48;
  std::vector<float> a(n * n), b(n * n);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i % 17) * 0.3f, b[i] = static_cast<float>(i % 23) - 7;
  Array<float> a_array(a), b_array(b), c(n * n);
  int size = n;
  void* arguments[] = {&a_array.address, &b_array.address, &c.address, &size};
  ASSERT_OK(cuLaunchKernel(function("multiply"), 3, 3, 1, 16, 16, 1, 0, nullptr, arguments, nullptr));
  const auto values = c.values();
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
      ASSERT_EQ(sum, values[y * n + x]) << y << ", " << x;
    }
}

TEST_F(KernelTest, ReducesInDynamicSharedMemory) {
  const auto in = numbers(1024);
  Array<int> in_array(in), out(1);
  run("reduce", {4, 256, 1024}, in_array.address, out.address);
  EXPECT_EQ(std::accumulate(in.begin(), in.end(), 0), out.value());
}

TEST_F(KernelTest, EndedThreadsDoNotCountAtABarrier) {
  Array<int> out(64);
  run("early_exit", {1, 64}, out.address);
  const auto values = out.values();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(i % 3 == 0 ? 0 : 21, values[static_cast<std::size_t>(i)]) << i;
}

TEST_F(KernelTest, ShufflesAndVotesInWarps) {
  const auto in = numbers(64);
  Array<int> in_array(in), out(256);
  run("warp", {1, 64}, in_array.address, out.address);
  const auto values = out.values();
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t first = i / 32 * 32;
    EXPECT_EQ(std::accumulate(&in[first], &in[i] + 1, 0), values[i]);
    EXPECT_EQ(std::accumulate(&in[first], &in[first] + 32, 0), values[64 + i]);
    EXPECT_EQ(in[i] % 2 == 0, (static_cast<unsigned>(values[128 + i]) >> (i % 32) & 1) != 0);
    EXPECT_EQ(i % 32 >= 16 ? 0 : in[i % 8 == 7 ? i : i + 1], values[192 + i]) << i;
  }
}

TEST_F(KernelTest, CountsAtomically) {
  std::vector<unsigned> in(1000);
  for (unsigned i = 0; i < 1000; ++i) in[i] = i * i % 977;
  Array<unsigned> in_array(in), counts(16);
  Array<double> sum(1);
  Array<int> extremes(std::vector<int>{1 << 20, -1});
  run("histogram", {8, 128}, in_array.address, counts.address, sum.address, extremes.address, 1000);
  std::vector<unsigned> expected(16);
  double total = 0;
  for (const unsigned x : in) ++expected[x % 16], total += x % 100;
  EXPECT_EQ(expected, counts.values());
  EXPECT_EQ(total, sum.value());
  EXPECT_EQ(static_cast<int>(*std::max_element(in.begin(), in.end())), extremes.value(1));
  EXPECT_EQ(0, extremes.value(0));
}

TEST_F(KernelTest, ThreadsThatSpinLetOthersRun) {
  Array<int> lock(1), value(1);
  run("locked", {2, 96}, lock.address, value.address);
  EXPECT_EQ(192, value.value());
}

TEST_F(KernelTest, CallsFunctions) {
  Array<unsigned> out(12);
  Array<double> values(12);
  run("calls", {1, 12}, out.address, values.address);
  unsigned a = 0, b = 1;
  for (unsigned i = 0; i < 12; ++i) {
    EXPECT_EQ(a, out.value(i));
    EXPECT_EQ(i + (i + 1) * 0.5 + (i + 1), values.value(i));
    b += a, a = b - a;
  }
}

TEST_F(KernelTest, HasVariablesWithFirstValues) {
  Array<float> out(8);
  run("variables", {1, 8}, out.address);
  EXPECT_EQ((std::vector<float>{1.5f, -2.0f, 0.25f, 0, 1.5f, -2.0f, 0.25f, 0}), out.values());
  CUdeviceptr counter = 0;
  std::size_t size = 0;
  ASSERT_OK(cuModuleGetGlobal(&counter, &size, module, "counter"));
  int count = 0;
  ASSERT_OK(cuMemcpyDtoH(&count, counter, size));
  EXPECT_EQ(15, count);
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &size, module, "nothing"));
}

TEST_F(KernelTest, SeesRegisteredHostMemory) {
  alignas(4096) static int words[2048] = {};
  ASSERT_OK(cuMemHostRegister(words, sizeof words, CU_MEMHOSTREGISTER_DEVICEMAP));
  CUdeviceptr at = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&at, words, 0));
  ASSERT_OK(launch("wait_for", {1, 1}, at, at + 4));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  __atomic_store_n(&words[0], 41, __ATOMIC_RELEASE);
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(42, words[1]);
  ASSERT_OK(cuMemHostUnregister(words));
}

TEST_F(KernelTest, RefusesImpossibleShapes) {
  Array<int> out(1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch("bounded", {1, 65}, out.address));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch("bounded", {0, 1}, out.address));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch("write_at", {1, 1025}, out.address, 0L, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch("reduce", {1, 32, 60 << 10}, out.address, out.address));
  EXPECT_OK(
      cuFuncSetAttribute(function("reduce"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
  EXPECT_OK(launch("reduce", {1, 1, 60 << 10}, out.address, out.address));
  run("bounded", {1, 64}, out.address);
  EXPECT_EQ(1, out.value());
}

class LostTest : public KernelTest {
 protected:
  void expect_lost(CUresult error) {
    EXPECT_EQ(error, cuCtxSynchronize());
    CUdeviceptr memory = 0;
    EXPECT_EQ(error, cuMemAlloc(&memory, 16));
    EXPECT_EQ(error, cuStreamSynchronize(nullptr));
    // Another card works on.
    ASSERT_OK(cuCtxSetCurrent(contexts[1]));
    EXPECT_OK(cuCtxSynchronize());
    state().cards[0]->context->error = CUDA_SUCCESS;
    ASSERT_OK(cuCtxSetCurrent(contexts[0]));
  }
};

TEST_F(LostTest, ByAWriteBeyondItsMemory) {
  Array<int> out(4);
  run("write_at", {1, 1}, out.address, 3L, 1);
  ASSERT_OK(launch("write_at", {1, 1}, out.address, 4L, 1));
  expect_lost(CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(LostTest, ByAReadOfHostMemoryThatIsNotRegistered) {
  static int word = 5;
  Array<int> out(1);
  ASSERT_OK(launch("read_at", {1, 1}, &word, 0L, out.address));
  expect_lost(CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(LostTest, ByAMisalignedAddress) {
  Array<int> out(4);
  ASSERT_OK(launch("write_at", {1, 1}, out.address + 2, 0L, 1));
  expect_lost(CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_F(LostTest, ByATrap) {
  ASSERT_OK(launch("trapped", {1, 1}));
  expect_lost(CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(LostTest, ByAnAssertion) {
  run("asserted", {1, 1}, 42);
  ASSERT_OK(launch("asserted", {1, 1}, 41));
  expect_lost(CUDA_ERROR_ASSERT);
}

TEST_F(LostTest, ByMemoryOfAPeerWithoutAccess) {
  ASSERT_OK(cuCtxSetCurrent(contexts[1]));
  Array<int> theirs(1);
  ASSERT_OK(cuCtxSetCurrent(contexts[0]));
  ASSERT_OK(cuCtxEnablePeerAccess(contexts[1], 0));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(contexts[1], 0));
  run("write_at", {1, 1}, theirs.address, 0L, 9);
  EXPECT_EQ(9, theirs.value());
  ASSERT_OK(cuCtxDisablePeerAccess(contexts[1]));
  ASSERT_OK(launch("write_at", {1, 1}, theirs.address, 0L, 9));
  expect_lost(CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(LostTest, AtTheLaunchThatTheSettingsName) {
  Array<int> out(1);
  auto& context = *state().cards[0]->context;
  state().settings.losses[0] = context.launches + 2;
  run("write_at", {1, 1}, out.address, 0L, 1);
  ASSERT_OK(launch("write_at", {1, 1}, out.address, 0L, 2));
  expect_lost(CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(1, out.value());
}

}  // namespace
}  // namespace standin
