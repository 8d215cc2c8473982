// Environment and executors: dry run, trace, check mode, wrong settings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/log.hpp"
#include "kernels.hpp"

namespace nuna::test {
namespace {

using ::testing::HasSubstr;

/// Sets an environment variable while it lives. Not beside other threads.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

void halo_step(Context& context) {
  Buffer<int, 1> x(context, {100});
  Buffer<int, 1> y(context, {100});
  context.launch("set index", {100}, block(1), SetIndex{}, write(x));
  context.launch("neighbours", {100}, block(1), Neighbours{}, read(x, halo(1)), write(y));
  context.wait();
}

TEST(DryRun, PrintsBothLevelsOfThePlanAndMovesNothing) {
  ::testing::internal::CaptureStdout();
  {
    Options options = with_devices(2);
    options.dry_run = true;
    Context context = Context::self(options);
    halo_step(context);
  }
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("rank 0: neighbours"));
  EXPECT_THAT(text, HasSubstr("rank 0: run part 1 on device 1: threads [50, 100)"));
  EXPECT_THAT(text, HasSubstr("copy 4 B of argument 0 from place 2 to place 1"));
}

TEST(DryRun, OfSeveralRanksPrintsTheirMessages) {
  const Environment dry("NUNA_DRY_RUN", "1");
  ::testing::internal::CaptureStdout();
  Context::in_process(2, with_devices(1), halo_step);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("rank 1: receive 4 B of argument 0 from rank 0"));
  EXPECT_THAT(text, HasSubstr("rank 0: send 4 B of argument 0 to rank 1"));
}

TEST(Trace, HasATrackPerDeviceAndWireOfEveryRankAndTheLaunchesNames) {
  const auto file =
      std::filesystem::temp_directory_path() / ("nuna-trace-" + std::to_string(::getpid()) + ".json");
  {
    const Environment trace("NUNA_TRACE", file.string());
    Context::in_process(2, with_devices(2), halo_step);
  }
  std::ifstream stream(file);
  const nlohmann::json json = nlohmann::json::parse(stream);
  std::filesystem::remove(file);
  std::multiset<std::string> tracks;
  std::multiset<std::string> spans;
  std::set<nlohmann::json> begun;
  std::set<nlohmann::json> ended;
  std::int64_t sent = 0;
  for (const auto& event : json.at("traceEvents")) {
    if (event.at("name") == "thread_name") tracks.insert(event.at("args").at("name"));
    if (event.at("ph") == "s") begun.insert(event.at("id"));
    if (event.at("ph") == "f") ended.insert(event.at("id"));
    if (event.at("ph") != "X") continue;
    spans.insert(event.at("name"));
    if (event.value("cat", "") == "send") sent += event.at("args").at("bytes").get<std::int64_t>();
  }
  EXPECT_EQ(tracks.count("host:0"), 2U);
  EXPECT_EQ(tracks.count("host:1"), 2U);
  EXPECT_EQ(tracks.count("sends"), 2U);
  EXPECT_GE(spans.count("neighbours"), 4U);
  EXPECT_EQ(sent, 8);
  EXPECT_EQ(begun.size(), 2U) << "an arrow for each message";
  EXPECT_EQ(begun, ended);
}

TEST(Check, MakesReadingWhatNobodyWroteAnError) {
  Options options = with_devices(2);
  {
    const Environment check("NUNA_CHECK", "1");
    Context context = Context::self(options);
    Buffer<int, 1> x(context, {100});
    Buffer<int, 1> y(context, {100});
    std::string text;
    EXPECT_EQ(code_of([&] { context.launch("n", {100}, block(1), Neighbours{}, read(x, halo(1)), write(y)); },
                      &text),
              ErrorCode::never_written);
    EXPECT_THAT(text, HasSubstr("buffer argument 0"));
    EXPECT_EQ(code_of([&] { x.host(Access::read); }), ErrorCode::never_written);
  }
  const base::LogCapture log;
  Context context = Context::self(options);
  Buffer<int, 1> x(context, {100});
  for (int i = 0; i < 3; ++i) x.host(Access::read).close();
  EXPECT_THAT(log.lines(), ::testing::ElementsAre(HasSubstr("that nobody wrote")));
}

TEST(Settings, WithoutMeaningAreRefusedByName) {
  const Environment devices("NUNA_DEVICES", "many");
  std::string text;
  EXPECT_EQ(code_of([] { Context::self(); }, &text), ErrorCode::bad_setting);
  EXPECT_THAT(text, HasSubstr("NUNA_DEVICES"));
}

TEST(Settings, OfTheCommandLineWinOverTheEnvironment) {
  const Environment devices("NUNA_DEVICES", "3");
  EXPECT_EQ(Context::self().devices(), 3);
  char program[] = "program";
  char option[] = "--devices";
  char two[] = "2";
  char* arguments[] = {program, option, two, nullptr};
  EXPECT_EQ(Context::world(3, arguments).devices(), 2);
  char broken[] = "--devices=two";
  char* wrong[] = {program, broken, nullptr};
  EXPECT_EQ(code_of([&] { Context::world(2, wrong); }), ErrorCode::bad_setting);
}

TEST(Options, OutOfRangeAreRefused) {
  EXPECT_EQ(code_of([] { Context::self(with_devices(1000)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Context::self(with_devices(-1)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Context::in_process(0, {}, [](Context&) {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { Context::in_process(2, {}, nullptr); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace nuna::test
