#include "nuna/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nuna {
namespace {

TEST(Error, EveryCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  const int last = static_cast<int>(ErrorCode::device_lost);
  for (int code = 0; code <= last; ++code) names.insert(to_string(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_EQ(names.count("unknown"), 0U);
}

TEST(Error, NamesAreTheEnumeratorsAsWritten) {
  EXPECT_STREQ(to_string(ErrorCode::overlapping_writes), "overlapping_writes");
  EXPECT_STREQ(to_string(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_STREQ(to_string(ErrorCode::unsupported), "unsupported");
}

TEST(Error, CarriesItsCodeAndText) {
  try {
    throw Error(ErrorCode::stalled, "rank 1 sleeps");
  } catch (const std::runtime_error& caught) {
    EXPECT_STREQ(caught.what(), "rank 1 sleeps");
    EXPECT_EQ(dynamic_cast<const Error&>(caught).code(), ErrorCode::stalled);
  }
}

}  // namespace
}  // namespace nuna
