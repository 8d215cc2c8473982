#include "driver/diagnostics_text.hpp"

#include <gmock/gmock.h>

namespace nuna::compiler {
namespace {

constexpr const char* kBoth =
    "a.cu:2:11: error: expected ';' after expression\n    2 |   x[0] = 1\n      |           ^\n";
constexpr const char* kDevice =
    "In file included from a.cu:1:\n./b.h:7:3: warning: unused variable\n    7 |  int y;\n";

TEST(Diagnostics, OfBothPassesAreToldOnce) {
  const std::string host = std::string(kBoth) + "1 error generated when compiling for host.\n";
  const std::string device =
      std::string(kBoth) + kDevice + "1 warning and 1 error generated when compiling for sm_80.\n";
  EXPECT_EQ(kDevice, only_of_device(device, host));
}

TEST(Diagnostics, OfALaunchInDeviceCodeAreOneInPlainWords) {
  const std::string clangs =
      "k.cu:8:5: error: no matching function for call to 'child'\n    8 |     child<<<1, 1>>>(x);\n      |   "
      "  ^~~~~\n"
      "k.cu:3:36: note: candidate function not viable: call to __global__ function from __global__ function\n"
      "    3 | template <class T> __global__ void child(T* x) { *x = 1; }\n      |                           "
      "         ^\n"
      "k.cu:8:11: error: reference to __host__ function 'cudaConfigureCall' in __global__ function\n"
      "    8 |     child<<<1, 1>>>(x);\n      |          ^\n"
      "k.cu:12:5: error: reference to __global__ function 'other' in __device__ function\n"
      "   12 |     other<<<1, 1>>>(x);\n      |     ^\nk.cu:2:17: note: 'other' declared here\n";
  const std::string words =
      ": error: device code launches a kernel here (dynamic parallelism), which nunacc does not support: "
      "launch it from the "
      "host, or call a __device__ function\n";
  EXPECT_EQ(explained(clangs), "k.cu:8:5" + words + "    8 |     child<<<1, 1>>>(x);\n      |     ^~~~~\n" +
                                   "k.cu:12:5" + words + "   12 |     other<<<1, 1>>>(x);\n      |     ^\n");
}

TEST(Diagnostics, OfCallsOfTheRuntimeInDeviceCodeAreInPlainWords) {
  const std::string call =
      "k.cu:9:5: error: no matching function for call to 'cudaDeviceSynchronize'\n"
      "    9 |     cudaDeviceSynchronize();\n";
  EXPECT_EQ(explained(call + "a.h:1:1: note: candidate function not viable: call to __host__ function from "
                             "__global__ function\n"),
            "k.cu:9:5: error: device code calls 'cudaDeviceSynchronize' here, which nunacc does not support: "
            "call it on the "
            "host\n    9 |     cudaDeviceSynchronize();\n");
  const std::string wrong =
      call + "a.h:1:1: note: candidate function not viable: requires 0 arguments, but 1 was provided\n";
  EXPECT_EQ(explained(wrong), wrong);
  EXPECT_EQ(explained(kBoth), kBoth);
}

TEST(Diagnostics, AreTheSameInColours) {
  const std::string coloured =
      "\x1b[1ma.cu:2:11: \x1b[0m\x1b[0;1;31merror: \x1b[0mexpected ';'\n    2 |   x[0] = 1\n";
  EXPECT_EQ(only_of_device(coloured + "\x1b[1m1 error generated.\n", coloured), "");
  EXPECT_EQ(without_counts(coloured), coloured);
}

TEST(Diagnostics, OfOnePassAreToldWhole) {
  EXPECT_EQ(std::string(kDevice) + kBoth, without_counts(std::string(kDevice) + kBoth));
}

}  // namespace
}  // namespace nuna::compiler
