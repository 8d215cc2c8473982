#include "nuna/version.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nuna {
namespace {

TEST(Version, OfTheHeaderIsThatOfTheLibrary) { EXPECT_STREQ(version(), NUNA_VERSION); }

TEST(Version, IsItsThreeNumbers) {
  EXPECT_EQ(std::string(NUNA_VERSION), std::to_string(NUNA_VERSION_MAJOR) + "." +
                                           std::to_string(NUNA_VERSION_MINOR) + "." +
                                           std::to_string(NUNA_VERSION_PATCH));
}

}  // namespace
}  // namespace nuna
