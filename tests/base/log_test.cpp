#include "base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/settings.hpp"
#include "nuna/error.hpp"

namespace nuna::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Log, ALineNamesLevelComponentAndRank) {
  const LogCapture capture(LogLevel::debug);
  log(LogLevel::warn, "cluster", RankId{1}, "rank 0 is silent");
  log(LogLevel::info, "route", std::nullopt, "peer copies are on");
  log(LogLevel::error, "", RankId{2}, "out of memory");
  log(LogLevel::debug, "", std::nullopt, "{} is no format here");
  EXPECT_THAT(
      capture.lines(),
      ElementsAre("nuna warning [cluster, rank 1]: rank 0 is silent", "nuna info [route]: peer copies are on",
                  "nuna error [rank 2]: out of memory", "nuna debug: {} is no format here"));
}

TEST(Log, LevelsThatAreOffSayNothing) {
  const LogCapture capture(LogLevel::warn);
  EXPECT_FALSE(log_enabled(LogLevel::info));
  EXPECT_TRUE(log_enabled(LogLevel::error));
  log(LogLevel::info, "x", std::nullopt, "unheard");
  log(LogLevel::warn, "x", std::nullopt, "heard");
  EXPECT_THAT(capture.lines(), ElementsAre("nuna warning [x]: heard"));
}

TEST(Log, TheNewestCaptureGetsTheLinesAndRestoresTheLevel) {
  const LogCapture outer(LogLevel::info);
  {
    const LogCapture inner(LogLevel::error);
    log(LogLevel::error, "x", std::nullopt, "inner");
    EXPECT_THAT(inner.lines(), ElementsAre("nuna error [x]: inner"));
  }
  EXPECT_TRUE(log_enabled(LogLevel::info));
  log(LogLevel::info, "x", std::nullopt, "outer");
  EXPECT_THAT(outer.lines(), ElementsAre("nuna info [x]: outer"));
}

TEST(Log, WithoutACaptureLinesGoToStandardError) {
  testing::internal::CaptureStderr();
  log(LogLevel::error, "x", RankId{0}, "to the terminal {0}");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "nuna error [x, rank 0]: to the terminal {0}\n");
}

TEST(Log, LinesOfManyThreadsStayWholeAndNoneIsLost) {
  constexpr int kThreads = 8;
  constexpr int kLines = 200;
  const LogCapture capture;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i) log(LogLevel::warn, "x", RankId{t}, "tick");
    });
  }
  for (std::thread& t : threads) t.join();
  std::vector<int> heard(kThreads);
  for (const std::string& line : capture.lines()) {
    for (int t = 0; t < kThreads; ++t) {
      if (line == "nuna warning [x, rank " + std::to_string(t) + "]: tick")
        ++heard[static_cast<std::size_t>(t)];
    }
  }
  EXPECT_THAT(heard, testing::Each(kLines));
}

TEST(Log, WarnOnceWarnsOncePerKeyFromAnyThread) {
  const LogCapture capture;
  std::atomic<int> first{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { first += warn_once("log_test: key", "said once") ? 1 : 0; });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(first, 1);
  EXPECT_TRUE(warn_once("log_test: other key", "said too"));
  EXPECT_THAT(capture.lines(), ElementsAre("nuna warning: said once", "nuna warning: said too"));
}

TEST(Log, ACaptureForgetsTheWarningsGivenBeforeAndAfterwardsItsOwn) {
  const LogCapture outer;
  EXPECT_TRUE(warn_once("log_test: before", "x"));
  {
    const LogCapture inner;
    EXPECT_TRUE(warn_once("log_test: before", "x"));
    EXPECT_TRUE(warn_once("log_test: inside", "x"));
  }
  EXPECT_FALSE(warn_once("log_test: before", "x"));
  EXPECT_TRUE(warn_once("log_test: inside", "x"));
}

TEST(Log, TheLevelIsTakenFromTheSettings) {
  const LogCapture capture;  // restores the level
  configure_log(Settings(Settings::Variables{{"NUNA_LOG", "debug"}}));
  EXPECT_TRUE(log_enabled(LogLevel::debug));
  configure_log(Settings());
  EXPECT_FALSE(log_enabled(LogLevel::info));
  EXPECT_TRUE(log_enabled(LogLevel::warn));
  EXPECT_EQ(parse_log_level("info"), LogLevel::info);
}

TEST(Log, ALevelWithoutMeaningIsRefused) {
  const LogCapture capture;
  try {
    configure_log(Settings(Settings::Variables{{"NUNA_LOG", "loud"}}));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_setting);
    EXPECT_STREQ(error.what(), "NUNA_LOG is \"loud\": expected warn, info or debug");
  }
  EXPECT_THAT(capture.lines(), IsEmpty());
}

}  // namespace
}  // namespace nuna::base
