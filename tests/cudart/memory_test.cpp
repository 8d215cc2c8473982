#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

class Memory : public Cudart {};

TEST_F(Memory, IsAlignedAndDisjoint) {
  std::vector<std::pair<std::uintptr_t, std::size_t>> pieces;
  for (std::size_t bytes : {1, 255, 256, 257, 4096, 100'000, 3'000'000, 9'000'000, 20}) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
    std::memset(memory, 1, bytes);
    pieces.emplace_back(reinterpret_cast<std::uintptr_t>(memory), bytes);
  }
  std::sort(pieces.begin(), pieces.end());
  for (std::size_t i = 1; i < pieces.size(); ++i)
    EXPECT_LE(pieces[i - 1].first + pieces[i - 1].second, pieces[i].first);
}

// Rows whose length is a power of two share few lines of the level-1 cache; those of several arrays do not share the same.
TEST_F(Memory, OfLargeArraysBeginsAtDifferentPlacesOfAPage) {
  std::set<std::uintptr_t> places;
  for (int i = 0; i < 4; ++i) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 16 << 20), cudaSuccess);
    places.insert(reinterpret_cast<std::uintptr_t>(memory) % 4096);
  }
  EXPECT_EQ(places.size(), 4u);
}

TEST_F(Memory, IsZeroALittleBeforeAndBehind) {
  constexpr std::size_t kBytes = 20'000'000;  // a chunk of its own
  constexpr std::ptrdiff_t kMargin = 64 << 10;
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, kBytes), cudaSuccess);
  const auto* const bytes = static_cast<const char*>(memory);
  const auto zeros = std::getenv("NUNA_POISON") == nullptr ? kMargin : 0;  // nobody has written there
  EXPECT_EQ(std::count(bytes - kMargin, bytes, 0), zeros);
  EXPECT_EQ(std::count(bytes + kBytes, bytes + kBytes + kMargin, 0), zeros);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Memory, OfNoBytesIsNull) {
  void* memory = &memory;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMalloc(nullptr, 10), cudaErrorInvalidValue);
}

TEST_F(Memory, BeyondTheDevicesIsRefused) {
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, total + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&memory, SIZE_MAX), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  ASSERT_EQ(cudaMalloc(&memory, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total - (1 << 20));
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total);
}

TEST_F(Memory, IsFreedOnce) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1000), cudaSuccess);
  EXPECT_EQ(cudaFree(static_cast<char*>(memory) + 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST_F(Memory, TellsWhatAPointerIs) {
  void* device = nullptr;
  void* managed = nullptr;
  void* pinned = nullptr;
  int plain = 0;
  ASSERT_EQ(cudaMalloc(&device, 1000), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 1000, cudaMemAttachGlobal), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&pinned, 1000, cudaHostAllocMapped), cudaSuccess);
  const auto type_of = [](void* pointer) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type_of(static_cast<char*>(device) + 999), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(&plain), cudaMemoryTypeUnregistered);
  void* mapped = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, pinned, 0), cudaSuccess);
  EXPECT_EQ(mapped, pinned);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Memory, OfTheProgramIsRegisteredOnce) {
  std::vector<char> mine(10'000);
  ASSERT_EQ(cudaHostRegister(mine.data(), mine.size(), 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(mine.data() + 10, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaErrorHostMemoryNotRegistered);
}

TEST_F(Memory, HasRowsThatAreAligned) {
  void* memory = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&memory, &pitch, 1000, 7), cudaSuccess);
  EXPECT_GE(pitch, 1000u);
  EXPECT_EQ(pitch % 256, 0u);
  std::vector<char> rows(1000 * 7, 'a');
  ASSERT_EQ(cudaMemcpy2D(memory, pitch, rows.data(), 1000, 1000, 7, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemset2D(memory, pitch, 'b', 10, 3), cudaSuccess);
  std::vector<char> back(rows.size());
  ASSERT_EQ(cudaMemcpy2D(back.data(), 1000, memory, pitch, 1000, 7, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::count(back.begin(), back.end(), 'b'), 30);
  EXPECT_EQ(std::count(back.begin(), back.end(), 'a'), 7000 - 30);
}

TEST_F(Memory, IsCopiedInBoxesAndToArrays) {
  const cudaExtent extent = make_cudaExtent(8, 6, 4);
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMalloc3DArray(&array, &ints, extent, 0), cudaSuccess);
  std::vector<int> values(8 * 6 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  cudaMemcpy3DParms to{};
  to.srcPtr = make_cudaPitchedPtr(values.data(), 32, 8, 6);
  to.dstArray = array;
  to.extent = extent;
  to.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&to), cudaSuccess);
  int box[2][3][2] = {};
  cudaMemcpy3DParms from{};
  from.srcArray = array;
  from.srcPos = make_cudaPos(5, 2, 1);
  from.dstPtr = make_cudaPitchedPtr(box, 8, 2, 3);
  from.extent = make_cudaExtent(2, 3, 2);
  from.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&from), cudaSuccess);
  EXPECT_EQ(box[0][0][0], (1 * 6 + 2) * 8 + 5);
  EXPECT_EQ(box[1][2][1], (2 * 6 + 4) * 8 + 6);
  from.srcPos.x = 7;
  EXPECT_EQ(cudaMemcpy3D(&from), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(Memory, CopiesThatCannotBeAreRefused) {
  float* const data = device_floats(16);
  char here[64];
  const int no_kind = 9;
  cudaMemcpyKind kind{};
  std::memcpy(&kind, &no_kind, sizeof kind);
  EXPECT_EQ(cudaMemcpy(nullptr, here, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(data, nullptr, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(here, data, 65, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(here, data, 64, kind), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy2D(data, 4, here, 8, 8, 4, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemset(nullptr, 0, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(data, 0, 65), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault), cudaSuccess);
}

TEST_F(Memory, OfTheStackMayGoWhenAnAsynchronousCopyReturns) {
  float* const data = device_floats(16);
  ASSERT_EQ(sleep_on(10), cudaSuccess);
  {
    volatile float gone[16];
    for (auto& g : gone) g = 3;
    ASSERT_EQ(cudaMemcpyAsync(data, const_cast<float*>(gone), 64, cudaMemcpyHostToDevice, nullptr),
              cudaSuccess);
    for (auto& g : gone) g = 4;
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(data[15], 3.0f);
}

TEST_F(Memory, OfMegabytesIsCopiedAndFilledByAllThreads) {
  constexpr std::size_t kBytes = (std::size_t{20} << 20) + 12;
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMemset(first, 7, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(second, first, kBytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  std::vector<char> back(kBytes);
  ASSERT_EQ(cudaMemcpy(back.data(), second, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::count(back.begin(), back.end(), 7), static_cast<std::ptrdiff_t>(kBytes));
}

TEST_F(Memory, OfAStreamIsReusedBehindItsWork) {
  for (int i = 0; i < 1000; ++i) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMallocAsync(&memory, 1 << 20, nullptr), cudaSuccess);
    ASSERT_EQ(add(static_cast<float*>(memory), 100, 1), cudaSuccess);
    ASSERT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total);
  cudaMemPool_t pool = nullptr;
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  std::uint64_t threshold = UINT64_MAX;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
}

TEST_F(Memory, HoldsPointersThatKernelsFollow) {
  float* const data = device_floats(16);
  void* holder = nullptr;
  ASSERT_EQ(cudaMalloc(&holder, sizeof data), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(holder, &data, sizeof data, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 0, 64), cudaSuccess);
  ASSERT_EQ(add(*static_cast<float**>(holder), 16, 2), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(data[3], 2.0f);
}

}  // namespace
}  // namespace cudart_test
