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

TEST(Diagnostics, OfOnePassAreToldWhole) {
  EXPECT_EQ(std::string(kDevice) + kBoth, without_counts(std::string(kDevice) + kBoth));
}

}  // namespace
}  // namespace nuna::compiler
