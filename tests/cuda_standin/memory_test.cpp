// Memory of the cards: allocation, limits, virtual memory, host memory, what pointers tell.

#include <unistd.h>

#include "standin.hpp"
#include "test_card.hpp"

namespace standin {
namespace {

class MemoryTest : public CardTest {
 protected:
  static CUmemAllocationProp prop(int device, bool shareable = false) {
    CUmemAllocationProp made{};
    made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made.location.id = device;
    if (shareable) made.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return made;
  }
  static CUmemAccessDesc access(int device, CUmemAccess_flags flags) {
    return {{CU_MEM_LOCATION_TYPE_DEVICE, {device}}, flags};
  }
  std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    EXPECT_OK(cuMemGetInfo(&free, &total));
    return free;
  }
  CUmemGenericAllocationHandle create(std::size_t size, int device = 0, bool shareable = false) {
    const auto wanted = prop(device, shareable);
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_OK(cuMemCreate(&handle, size, &wanted, 0));
    return handle;
  }
};
constexpr std::size_t kPiece = kGranularity;

TEST_F(MemoryTest, HasALimit) {
  const std::size_t free = free_bytes();
  CUdeviceptr half = 0, other = 0;
  ASSERT_OK(cuMemAlloc(&half, free / 2 + 1));
  EXPECT_EQ(free - free / 2 - 1, free_bytes());
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&other, free / 2 + 1));
  ASSERT_OK(cuMemFree(half));
  EXPECT_EQ(free, free_bytes());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(half));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&half, 0));
}

TEST_F(MemoryTest, CannotBeReadByTheHost) {
  Array<int> array(4);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(array.address) = 1, "");
}

TEST_F(MemoryTest, CountsWhatIsLeftWithItsContext) {
  const auto before = nuna_standin_count("leaked_allocations");
  CUdeviceptr left = 0;
  ASSERT_OK(cuMemAlloc(&left, 100));
  ASSERT_OK(cuDevicePrimaryCtxRelease(0));
  EXPECT_EQ(before + 1, nuna_standin_count("leaked_allocations"));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  ASSERT_OK(cuDevicePrimaryCtxRetain(&contexts[0], 0));
}

TEST_F(MemoryTest, NeedsAContext) {
  ASSERT_OK(cuCtxSetCurrent(nullptr));
  CUdeviceptr address = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 4));
}

TEST_F(MemoryTest, MapsPiecesIntoReservedAddresses) {
  CUdeviceptr base = 0;
  // More than any card has, and less than the hole that ThreadSanitizer leaves wherever the libraries are loaded.
  constexpr std::size_t kReserved = std::size_t{1} << 38;
  ASSERT_OK(cuMemAddressReserve(&base, kReserved, 0, 0, 0));
  const auto first = create(kPiece), second = create(2 * kPiece);
  ASSERT_OK(cuMemMap(base, kPiece, 0, first, 0));
  ASSERT_OK(cuMemMap(base + kPiece, 2 * kPiece, 0, second, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + kPiece, kPiece, 0, first, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + 4 * kPiece, 100, 0, first, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + 4 * kPiece, 2 * kPiece, 0, first, 0));
  auto grant = access(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(base, 2 * kPiece, &grant, 1));
  ASSERT_OK(cuMemSetAccess(base, 3 * kPiece, &grant, 1));
  // A copy may span two pieces.
  std::vector<unsigned char> out(3 * kPiece), in(3 * kPiece);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7 >> 8);
  ASSERT_OK(cuMemcpyHtoD(base, in.data(), in.size()));
  ASSERT_OK(cuMemcpyDtoH(out.data(), base, out.size()));
  EXPECT_EQ(in, out);
  unsigned long long flags = 9;
  const CUmemLocation other{CU_MEM_LOCATION_TYPE_DEVICE, {1}};
  ASSERT_OK(cuMemGetAccess(&flags, &other, base));
  EXPECT_EQ(0u, flags);
  EXPECT_OK(cuMemRelease(first));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(first));
  EXPECT_OK(cuMemRelease(second));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base + kPiece, kPiece));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, kReserved));
  EXPECT_OK(cuMemUnmap(base, 3 * kPiece));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, kPiece));
  EXPECT_OK(cuMemAddressFree(base, kReserved));
  EXPECT_EQ(state().settings.memory_bytes, free_bytes());
}

TEST_F(MemoryTest, GivesWishedAddressesIfTheyAreFree) {
  CUdeviceptr first = 0, second = 0, third = 0;
  ASSERT_OK(cuMemAddressReserve(&first, kPiece, 0, 0, 0));
  ASSERT_OK(cuMemAddressReserve(&second, kPiece, 0, first, 0));
  EXPECT_NE(first, second);
  ASSERT_OK(cuMemAddressFree(first, kPiece));
  ASSERT_OK(cuMemAddressReserve(&third, kPiece, 0, first, 0));
  EXPECT_EQ(first, third);
  ASSERT_OK(cuMemAddressFree(third, kPiece));
  ASSERT_OK(cuMemAddressFree(second, kPiece));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&first, kPiece + 4096, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&first, kPiece, 3, 0, 0));
}

TEST_F(MemoryTest, LosesTheContextWithoutAccess) {
  CUdeviceptr base = 0;
  ASSERT_OK(cuMemAddressReserve(&base, kPiece, 0, 0, 0));
  const auto handle = create(kPiece);
  ASSERT_OK(cuMemMap(base, kPiece, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, [&] {
    cuMemsetD8(base, 1, 4);
    return cuCtxSynchronize();
  }());
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD8(base, 1, 4));
  EXPECT_OK(cuMemUnmap(base, kPiece));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemAddressFree(base, kPiece));
}

TEST_F(MemoryTest, IsSharedBetweenProcesses) {
  const auto handle = create(kPiece, 1, true);
  int descriptor = -1;
  ASSERT_OK(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_OK(cuMemImportFromShareableHandle(&imported,
                                           reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(descriptor);
  CUdeviceptr base = 0;
  ASSERT_OK(cuMemAddressReserve(&base, 2 * kPiece, 0, 0, 0));
  ASSERT_OK(cuMemMap(base, kPiece, 0, handle, 0));
  ASSERT_OK(cuMemMap(base + kPiece, kPiece, 0, imported, 0));
  auto grant = access(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  ASSERT_OK(cuMemSetAccess(base, 2 * kPiece, &grant, 1));
  ASSERT_OK(cuMemsetD32(base, 0x12345678, 100));
  unsigned word = 0;
  ASSERT_OK(cuMemcpyDtoH(&word, base + kPiece + 4, 4));
  EXPECT_EQ(0x12345678u, word);
  CUmemAllocationProp found{};
  ASSERT_OK(cuMemGetAllocationPropertiesFromHandle(&found, imported));
  EXPECT_EQ(1, found.location.id);
  CUmemGenericAllocationHandle again = 0;
  ASSERT_OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(base)));
  EXPECT_EQ(handle, again);
  EXPECT_OK(cuMemUnmap(base, 2 * kPiece));
  EXPECT_OK(cuMemAddressFree(base, 2 * kPiece));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemRelease(imported));
  const auto own = create(kPiece);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemExportToShareableHandle(&descriptor, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_OK(cuMemRelease(own));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemImportFromShareableHandle(&imported, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

TEST_F(MemoryTest, RegistersHostMemoryOnce) {
  alignas(4096) static char bytes[4 * 4096];
  ASSERT_OK(cuMemHostRegister(bytes + 4096, 4096, 0));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(bytes, sizeof bytes, 0));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(bytes + 5000, 10, 0));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(bytes + 4097));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(bytes));
  // A copy whose host range is registered in part.
  Array<char> array(8192);
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoDAsync(array.address, bytes, 8192, stream));
  EXPECT_OK(cuMemcpyHtoDAsync(array.address, bytes + 4096, 4096, stream));
  EXPECT_OK(cuMemcpyHtoDAsync(array.address, bytes, 4096, stream));
  ASSERT_OK(cuStreamDestroy(stream));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemHostUnregister(bytes + 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(reinterpret_cast<void*>(4096), 4096, 0));
}

TEST_F(MemoryTest, TellsWhatAPointerIs) {
  Array<int> array(10);
  unsigned type = 0;
  int ordinal = -1;
  CUcontext context = nullptr;
  ASSERT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, array.address + 4));
  EXPECT_EQ(static_cast<unsigned>(CU_MEMORYTYPE_DEVICE), type);
  ASSERT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, array.address));
  EXPECT_EQ(0, ordinal);
  ASSERT_OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, array.address));
  EXPECT_EQ(contexts[0], context);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  ASSERT_OK(cuMemGetAddressRange(&base, &size, array.address + 39));
  EXPECT_EQ(array.address, base);
  EXPECT_EQ(40u, size);
  int word = 0;
  const auto host = reinterpret_cast<CUdeviceptr>(&word);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host));
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT};
  void* answers[] = {&type, &context};
  EXPECT_OK(cuPointerGetAttributes(2, asked, answers, host));
  EXPECT_EQ(0u, type);
  EXPECT_EQ(nullptr, context);
}

TEST_F(MemoryTest, BeginsAnewWithOtherFaults) {
  EXPECT_EQ(0, nuna_standin_begin("fail=cuMemAllok@1:CUDA_ERROR_OUT_OF_MEMORY"));
  ASSERT_EQ(1, nuna_standin_begin("fail=cuMemAlloc@1:CUDA_ERROR_OUT_OF_MEMORY"));
  CUdeviceptr address = 0;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, 4));
  ASSERT_OK(cuMemAlloc(&address, 4));
  ASSERT_OK(cuMemFree(address));
  EXPECT_EQ(2u, nuna_standin_count("cuMemAlloc"));
  ASSERT_EQ(1, nuna_standin_begin(""));
}

TEST_F(MemoryTest, MakesTheFaultsThatAreAskedFor) {
  auto& faults = state().settings.faults;
  const auto calls = nuna_standin_count("cuMemAlloc");
  faults.emplace("cuMemAlloc", Fault{calls + 2, false, CUDA_ERROR_OUT_OF_MEMORY});
  faults.emplace("cuMemHostAlloc", Fault{1, true, CUDA_ERROR_OPERATING_SYSTEM});
  CUdeviceptr address = 0;
  ASSERT_OK(cuMemAlloc(&address, 4));
  ASSERT_OK(cuMemFree(address));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, 4));
  ASSERT_OK(cuMemAlloc(&address, 4));
  ASSERT_OK(cuMemFree(address));
  void* host = nullptr;
  EXPECT_EQ(CUDA_ERROR_OPERATING_SYSTEM, cuMemHostAlloc(&host, 4, 0));
  EXPECT_EQ(CUDA_ERROR_OPERATING_SYSTEM, cuMemHostAlloc(&host, 4, 0));
}

}  // namespace
}  // namespace standin
