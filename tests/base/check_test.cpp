#include "base/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace nuna::base {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Check, SaysNothingWhenTheConditionHolds) { check(true, "never seen"); }

TEST(Check, ThrowsUnderTestWithTextAndPlace) {
  const ThrowOnPanic throwing;
  try {
    check(false, "the lists differ");
    FAIL() << "check returned";
  } catch (const BrokenInvariant& broken) {
    EXPECT_THAT(broken.what(),
                AllOf(HasSubstr("nuna: broken invariant: the lists differ"), HasSubstr("check_test.cpp:")));
  }
}

TEST(Check, ThrowsInOtherThreadsToo) {
  const ThrowOnPanic throwing;
  bool thrown = false;
  std::thread([&] {
    try {
      panic("elsewhere");
    } catch (const BrokenInvariant&) {
      thrown = true;
    }
  }).join();
  EXPECT_TRUE(thrown);
}

TEST(CheckDeathTest, AbortsLiveAndNestedScopesEndOneByOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(panic("live"), "nuna: broken invariant: live");
  {
    const ThrowOnPanic outer;
    {
      const ThrowOnPanic inner;
    }
    EXPECT_THROW(panic("still under test"), BrokenInvariant);
  }
  EXPECT_DEATH(check(false, "live again"), "live again");
}

}  // namespace
}  // namespace nuna::base
