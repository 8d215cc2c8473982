#include "base/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "base/check.hpp"
#include "base/log.hpp"
#include "nuna/error.hpp"

namespace nuna::base {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Settings with(const char* name, const char* value) { return Settings(Settings::Variables{{name, value}}); }

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_setting);
    return error.what();
  }
  return "accepted";
}

TEST(Settings, UnsetAndEmptyVariablesGiveTheFallback) {
  for (const Settings& settings : {Settings(), with("NUNA_AHEAD", "")}) {
    EXPECT_FALSE(settings.has("NUNA_AHEAD"));
    EXPECT_EQ(settings.integer("NUNA_AHEAD", 64, 1, 100), 64);
    EXPECT_TRUE(settings.boolean("NUNA_AHEAD", true));
    EXPECT_EQ(settings.bytes("NUNA_AHEAD", 5), 5);
    EXPECT_EQ(settings.seconds("NUNA_AHEAD", 7s), 7s);
    EXPECT_EQ(settings.text("NUNA_AHEAD", "none"), "none");
  }
}

TEST(Settings, BooleansHaveFourSpellingsEach) {
  for (const char* yes : {"1", "on", "yes", "true"})
    EXPECT_TRUE(with("NUNA_LOG", yes).boolean("NUNA_LOG", false));
  for (const char* no : {"0", "off", "no", "false"})
    EXPECT_FALSE(with("NUNA_LOG", no).boolean("NUNA_LOG", true));
  EXPECT_EQ(refusal([] { with("NUNA_LOG", "maybe").boolean("NUNA_LOG", true); }),
            "NUNA_LOG is \"maybe\": expected 1, on, yes or true, or 0, off, no or false");
}

TEST(Settings, IntegersKeepTheirRange) {
  const auto read = [](const char* value) {
    return with("NUNA_AHEAD", value).integer("NUNA_AHEAD", 64, -3, 4096);
  };
  EXPECT_EQ(read("-3"), -3);
  EXPECT_EQ(read("4096"), 4096);
  for (const char* bad : {"-4", "4097", "many", "1.5", "12x", " ", "1 2", "99999999999999999999"}) {
    EXPECT_EQ(refusal([&] { read(bad); }),
              "NUNA_AHEAD is \"" + std::string(bad) + "\": expected a whole number from -3 to 4096");
  }
}

TEST(Settings, SizesHaveUnits) {
  EXPECT_EQ(with("NUNA_MEMORY_LIMIT", "16 GiB").bytes("NUNA_MEMORY_LIMIT", 0), std::int64_t{16} << 30);
  EXPECT_EQ(refusal([] { with("NUNA_MEMORY_LIMIT", "16 apples").bytes("NUNA_MEMORY_LIMIT", 0); }),
            "NUNA_MEMORY_LIMIT is \"16 apples\": expected a size such as \"512 MiB\" or \"16 GiB\"");
}

TEST(Settings, TimesAreSecondsUnlessTheySayOtherwise) {
  const auto read = [](const char* value) { return with("NUNA_STALL", value).seconds("NUNA_STALL", 5s); };
  EXPECT_EQ(read("3"), 3s);
  EXPECT_EQ(read(" 0.25 "), 250ms);
  EXPECT_EQ(read("500 ms"), 500ms);
  EXPECT_EQ(read("2min"), 120s);
  for (const char* bad : {"-1", "0", "0 s", "soon", "5 parsecs", " ", "."}) {
    EXPECT_THAT(refusal([&] { read(bad); }),
                HasSubstr("\": expected seconds above 0, or a time such as \"500 ms\""))
        << bad;
  }
}

TEST(Settings, TextIsTakenAsItIs) { EXPECT_EQ(with("NUNA_LOG", " a b ").text("NUNA_LOG", ""), " a b "); }

TEST(Settings, ASettingThatIsNotListedIsABrokenInvariant) {
  const ThrowOnPanic throwing;
  EXPECT_THROW(static_cast<void>(Settings().has("NUNA_UNLISTED")), BrokenInvariant);
}

TEST(Settings, TheListIsSortedAndExplainsEverything) {
  const auto known = known_settings();
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end(),
                             [](const SettingInfo& a, const SettingInfo& b) { return a.name < b.name; }));
  for (const SettingInfo& info : known) {
    EXPECT_THAT(std::string(info.name), testing::StartsWith("NUNA_"));
    EXPECT_FALSE(info.accepted.empty()) << info.name;
    EXPECT_FALSE(info.standard.empty()) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
  }
}

TEST(Settings, TheEnvironmentIsReadOnceAndOnlyItsNunaPart) {
  setenv("NUNA_AHEAD", "9", 1);
  setenv("NOT_NUNA_AHEAD", "9", 1);
  const Settings settings = Settings::from_environment();
  unsetenv("NUNA_AHEAD");
  unsetenv("NOT_NUNA_AHEAD");
  EXPECT_EQ(settings.integer("NUNA_AHEAD", 64, 1, 100), 9);
  EXPECT_FALSE(Settings::from_environment().has("NUNA_AHEAD"));
  const LogCapture capture;
  settings.warn_about_unknown();
  for (const std::string& line : capture.lines())
    EXPECT_THAT(line, testing::Not(HasSubstr("NOT_NUNA_AHEAD")));
}

TEST(Settings, AnUnknownVariableIsWarnedAboutOnceWithTheNearestName) {
  const Settings settings(
      Settings::Variables{{"NUNA_STAL", "3"}, {"NUNA_MEMORYLIMIT", "1"}, {"NUNA_STALL", "3"}});
  const LogCapture capture;
  settings.warn_about_unknown();
  settings.warn_about_unknown();
  EXPECT_THAT(
      capture.lines(),
      ElementsAre(
          "nuna warning: NUNA_MEMORYLIMIT is no setting of Nuna and has no effect; did you mean "
          "NUNA_MEMORY_LIMIT?",
          "nuna warning: NUNA_STAL is no setting of Nuna and has no effect; did you mean NUNA_STALL?"));
}

TEST(Settings, KnownVariablesAreNotWarnedAbout) {
  const LogCapture capture;
  Settings(Settings::Variables{{"NUNA_STALL", "nonsense"}, {"NUNA_LOG", ""}}).warn_about_unknown();
  EXPECT_THAT(capture.lines(), IsEmpty());
}

}  // namespace
}  // namespace nuna::base
