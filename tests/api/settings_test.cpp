// The ranges that the list of settings shows, and with it the guide, are those that a Context accepts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/settings.hpp"
#include "nuna/context.hpp"
#include "nuna/error.hpp"

namespace nuna {
namespace {

/// "1 to 1,048,576" and "0 to 2^60" as messages have them.
std::string plain(std::string range) {
  range.erase(std::remove(range.begin(), range.end(), ','), range.end());
  const std::string power = "2^60";
  if (const auto at = range.find(power); at != std::string::npos)
    range.replace(at, power.size(), std::to_string(std::int64_t{1} << 60));
  return range;
}

TEST(SettingsTable, ShowsTheRangesThatAContextAccepts) {
  int ranges = 0;
  for (const base::SettingInfo& info : base::known_settings()) {
    if (info.accepted.find(" to ") == std::string_view::npos) continue;
    ++ranges;
    const std::string name(info.name);
    setenv(name.c_str(), "-1", 1);
    try {
      const Context context = Context::self();
      ADD_FAILURE() << name << "=-1 is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                name + " is \"-1\": expected a whole number from " + plain(std::string(info.accepted)));
    }
    unsetenv(name.c_str());
  }
  EXPECT_GE(ranges, 4);
}

}  // namespace
}  // namespace nuna
