// Kernels that the processor stops: their launches fail, and say what they did.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "cudart/fixture.hpp"
#include "kernel_fault.hpp"
#include "x86_operand.hpp"

namespace cudart_test {
namespace {

using nuna::cudart::KernelFault;
using nuna::cudart::operand_address;
using nuna::cudart::X86Registers;
using ::testing::MatchesRegex;

class Faults : public Cudart {
 protected:
  /// What a launch of `misdeed` ends with, and says.
  static cudaError_t error_after(Misdeed misdeed, std::string& said, unsigned blocks = 8) {
    void* arguments[] = {&misdeed};
    testing::internal::CaptureStderr();
    EXPECT_EQ(launch(kMisdo, blocks, 1, arguments), cudaSuccess);
    const cudaError_t error = cudaDeviceSynchronize();
    said = testing::internal::GetCapturedStderr();
    if (const auto lines = said.find("nuna: kernel "); lines != std::string::npos) said.erase(0, lines);
    return error;
  }
};

TEST_F(Faults, AtAnAddressThatNobodyHasFailAllCallsUntilTheDeviceIsReset) {
  std::string said;
  EXPECT_EQ(error_after(Misdeed::write_null, said), cudaErrorIllegalAddress);
  EXPECT_THAT(said, MatchesRegex(
                        "nuna: kernel misdo, block \\(3, 0, 0\\): writes to 0x10, where it has no memory, at "
                        "[^ ]*cudart_tests\\+0x[0-9a-f]+: cudaErrorIllegalAddress\n"));
  EXPECT_EQ(launch(kEmpty), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(launch(kCount), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(error_after(Misdeed::read_null, said), cudaErrorIllegalAddress);
  EXPECT_THAT(said, testing::HasSubstr("reads from 0x20, where it has no memory"));
}

TEST_F(Faults, OfEachKindHaveCudasErrors) {
  const struct {
    Misdeed misdeed;
    cudaError_t error;
    const char* says;
  } all[] = {
#if !defined(__SANITIZE_THREAD__)  // which itself faults where it looks for its account of such an address
      {Misdeed::stray, cudaErrorIllegalAddress, "uses the address 0x123456789abcdef0, which no memory has"},
#endif
      {Misdeed::divide, cudaErrorLaunchFailure, "divides an integer by zero"},
      {Misdeed::recurse, cudaErrorLaunchFailure, "has used up its thread's stack"},
      {Misdeed::call_nothing, cudaErrorInvalidPc, "calls a function at 0x40, where there is none"},
      {Misdeed::no_instruction, cudaErrorIllegalInstruction, "comes to an instruction that is none"}};
  for (const auto& each : all) {
    for (int round = 0; round < 3; ++round) {
      std::string said;
      EXPECT_EQ(error_after(each.misdeed, said), each.error) << each.says;
      EXPECT_THAT(said, testing::HasSubstr("block (3, 0, 0): ")) << each.says;
      EXPECT_THAT(said, testing::HasSubstr(each.says));
      EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    }
  }
}

TEST_F(Faults, OfManyThreadsAtOnceAreOneLine) {
  constexpr int kCount = 100'000;
  for (int round = 0; round < 5; ++round) {
    float* data = device_floats(kCount);
    int count = kCount;
    float value = 1;
    void* arguments[] = {static_cast<void*>(&data), &count, &value};
    testing::internal::CaptureStderr();
    EXPECT_EQ(launch(kAstray, (kCount + 255) / 256, 256, arguments), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said,
                MatchesRegex("(nuna: [^\n]* runs on the host, [^\n]*\n)?nuna: kernel astray\\(float\\*, int, "
                             "float\\), block [^\n]*: reads from 0x20[^\n]*\n"));
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }
}

#if !defined(__SANITIZE_THREAD__)
using FaultsOutside = Faults;

void touch_null(void*) {
  const volatile std::uintptr_t address = 8;
  *reinterpret_cast<volatile int*>(address) = 1;  // NOLINT(performance-no-int-to-ptr)
}

[[noreturn]] void fault_in_a_host_function() {
  register_all();
  cudaLaunchHostFunc(nullptr, &touch_null, nullptr);
  cudaDeviceSynchronize();
  std::_Exit(0);
}
void say_and_leave(int) { std::_Exit(42); }

TEST_F(FaultsOutside, KernelsEndTheProcessAsEver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault_in_a_host_function(), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(
      {
        register_all();
        cudaFree(nullptr);
        touch_null(nullptr);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(FaultsOutside, KernelsGoToTheProgramsHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, &say_and_leave);
        fault_in_a_host_function();
      },
      testing::ExitedWithCode(42), "^$");
}

TEST_F(FaultsOutside, SignalsThatAreSentGoToTheProgramsHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGFPE, &say_and_leave);
        register_all();
        cudaFree(nullptr);
        std::raise(SIGFPE);
      },
      testing::ExitedWithCode(42), "^$");
}
#endif

TEST(KernelFaults, NearTheStackPointerAreOfTheStack) {
  KernelFault fault;
  fault.stack = 0x7fff'0000'1000;
  fault.address = 0x7fff'0000'0ff8;
  EXPECT_EQ(error_of(fault), cudaErrorLaunchFailure);
  fault.address = 0x7ffe'0000'0000;
  EXPECT_EQ(error_of(fault), cudaErrorIllegalAddress);
}

TEST(KernelFaults, ThatTheProcessorDoesNotExplainAreMisalignedOrStray) {
  KernelFault fault;
  fault.code = SI_KERNEL;
  fault.address = 0x7fff'0000'1001;
  EXPECT_EQ(error_of(fault), cudaErrorMisalignedAddress);
  fault.address = 0x8000'0000'0000;
  EXPECT_EQ(error_of(fault), cudaErrorIllegalAddress);
}

TEST(X86Operands, AreFoundBehindPrefixesOfAllKinds) {
  X86Registers registers{};
  for (std::uint64_t r = 0; r < registers.size(); ++r) registers[r] = 0x1000 * (r + 1);
  const struct {
    std::vector<unsigned char> code;
    std::optional<std::uint64_t> address;
  } all[] = {
      {{0x8b, 0x07}, 0x8000},                                                     // mov eax, [rdi]
      {{0x41, 0x89, 0x44, 0x98, 0x04}, 0x9000 + 4 * 0x4000},                      // mov [r8+4*rbx+4], eax
      {{0x0f, 0x28, 0x00}, 0x1000},                                               // movaps xmm0, [rax]
      {{0x66, 0x43, 0x0f, 0x6f, 0x84, 0x11, 0, 1, 0, 0}, 0xa000 + 0xb000 + 256},  // movdqa xmm0, [r9+r10+256]
      {{0xc5, 0xf8, 0x28, 0x04, 0x24}, 0x5000},                                   // vmovaps xmm0, [rsp]
      {{0xc4, 0x81, 0x78, 0x28, 0x04, 0xc8}, 0x9000 + 8 * 0xa000},                // vmovaps xmm0, [r8+8*r9]
      {{0x62, 0xf1, 0x7c, 0x48, 0x28, 0x46, 0x01}, 0x7000},                       // vmovaps zmm0, [rsi+64]
      {{0x8b, 0x04, 0x8d, 0xfc, 0xff, 0xff, 0xff}, 4 * 0x2000 - 4},               // mov eax, [4*rcx-4]
      {{0xc4, 0xe2, 0x69, 0x90, 0x04, 0x88}, std::nullopt},  // vpgatherdd xmm0, [rax+4*xmm1], xmm2
      {{0x8b, 0x05, 0, 0, 0, 0}, std::nullopt},              // mov eax, [rip]
      {{0x89, 0xc8}, std::nullopt}};                         // mov eax, ecx
  for (const auto& each : all)
    EXPECT_EQ(operand_address(each.code.data(), registers), each.address) << std::hex << int{each.code[0]};
}

TEST(KernelFaults, NameKernelsAsTheSourceDoes) {
  EXPECT_EQ(nuna::cudart::readable("_Z3addIiEvPT_"), "void add<int>(int*)");
  EXPECT_EQ(nuna::cudart::readable("plain"), "plain");
}

}  // namespace
}  // namespace cudart_test
