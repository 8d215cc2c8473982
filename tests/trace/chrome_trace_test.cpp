#include "trace/chrome_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "nuna/error.hpp"
#include "trace/recorder.hpp"

namespace nuna::trace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const EventSet& set) {
  std::string text;
  write_chrome_trace(set, [&](std::string_view piece) { text += piece; });
  return text;
}

json parsed(const EventSet& set) { return json::parse(text_of(set)); }

std::vector<json> of_phase(const json& trace, const std::string& phase) {
  std::vector<json> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

std::vector<std::string> metadata(const json& trace, const std::string& name) {
  std::vector<std::string> values;
  for (const json& event : of_phase(trace, "M")) {
    if (event["name"] == name) values.push_back(event["args"]["name"]);
  }
  return values;
}

/// Nanoseconds of a microsecond value, which is exact to a nanosecond.
std::int64_t ns(const json& microseconds) {
  return static_cast<std::int64_t>(std::llround(microseconds.get<double>() * 1000));
}

TEST(ChromeTrace, OfNothingIsAValidTrace) {
  const json trace = parsed({});
  EXPECT_TRUE(trace["traceEvents"].is_array());
  EXPECT_TRUE(trace["traceEvents"].empty());
}

TEST(ChromeTrace, ShowsALaunchWithItsArguments) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "host:1");
  recorder.span(track, "heat", Category::launch, 1'234'567, 1'300'000,
                {.bytes = 4096, .sequence = 12, .box = "[0, 4) x [2, 8)"});
  const json trace = parsed(recorder.collect());
  const std::vector<json> spans = of_phase(trace, "X");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0]["name"], "heat");
  EXPECT_EQ(spans[0]["cat"], "launch");
  EXPECT_EQ(ns(spans[0]["ts"]), 1'234'567);
  EXPECT_EQ(ns(spans[0]["dur"]), 65'433);
  EXPECT_EQ(spans[0]["args"], json({{"bytes", 4096}, {"launch", 12}, {"box", "[0, 4) x [2, 8)"}}));
  EXPECT_THAT(metadata(trace, "process_name"), ElementsAre("rank 0"));
  EXPECT_THAT(metadata(trace, "thread_name"), ElementsAre("host:1"));
}

TEST(ChromeTrace, LeavesOutArgumentsThatWereNotGiven) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  recorder.span(track, "plain", Category::wait, 0, 1);
  recorder.span(track, "first of all", Category::launch, 2, 3, {.sequence = 0});
  recorder.span(track, "sized", Category::copy, 4, 5, {.bytes = 1, .box = "b"});
  const std::vector<json> spans = of_phase(parsed(recorder.collect()), "X");
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_FALSE(spans[0].contains("args"));
  EXPECT_EQ(spans[1]["args"], json::parse(R"({"launch":0})"));
  EXPECT_EQ(spans[2]["args"], json::parse(R"({"bytes":1,"box":"b"})"));
}

TEST(ChromeTrace, WritesTimesExactlyToTheNanosecond) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  recorder.span(track, "negative", Category::copy, -1'500, -499);
  recorder.span(track, "small", Category::copy, 7, 1'080);
  recorder.span(track, "a week", Category::copy, 604'800'000'000'001, 604'800'000'000'002);
  const std::string text = text_of(recorder.collect());
  EXPECT_THAT(text, HasSubstr(R"("ts":-1.500,"dur":1.001)"));
  EXPECT_THAT(text, HasSubstr(R"("ts":0.007,"dur":1.073)"));
  EXPECT_THAT(text, HasSubstr(R"("ts":604800000000.001,"dur":0.001)"));
}

TEST(ChromeTrace, ListsByRankThenKindThenNameAsPeopleCount) {
  Recorder recorder;
  const auto add = [&](int rank, TrackKind kind, const char* name) {
    recorder.span(recorder.track({rank}, kind, name), "s", Category::copy, 0, 1);
  };
  add(10, TrackKind::program, "program");
  add(2, TrackKind::wire, "to rank 3");
  add(2, TrackKind::device, "host:10");
  add(2, TrackKind::device, "host:2");
  add(2, TrackKind::planner, "planner");
  add(0, TrackKind::wire, "to rank 2");
  add(2, TrackKind::program, "program");
  const json trace = parsed(recorder.collect());
  EXPECT_THAT(metadata(trace, "process_name"), ElementsAre("rank 0", "rank 2", "rank 10"));
  EXPECT_THAT(metadata(trace, "thread_name"),
              ElementsAre("to rank 2", "program", "planner", "host:2", "host:10", "to rank 3", "program"));
  std::vector<std::int64_t> threads, order;
  for (const json& event : of_phase(trace, "M")) {
    if (event["name"] == "thread_name") threads.push_back(event["tid"]);
    if (event["name"] == "thread_sort_index") order.push_back(event["args"]["sort_index"]);
  }
  EXPECT_THAT(threads, ElementsAre(1, 2, 3, 4, 5, 6, 7)) << "unique in the file and never 0";
  EXPECT_EQ(order, threads);
}

TEST(ChromeTrace, NeverUsesTheProcessNumberOfTheIdleTask) {
  Recorder recorder;
  recorder.span(recorder.track({0}, TrackKind::device, "d"), "s", Category::copy, 0, 1);
  const json trace = parsed(recorder.collect());
  for (const json& event : trace["traceEvents"]) EXPECT_EQ(event["pid"], 1);
}

TEST(ChromeTrace, SortsSpansThatWereRecordedWhenTheyEnded) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::program, "program");
  recorder.span(track, "inner", Category::copy, 10, 20);
  recorder.span(track, "same begin, shorter", Category::copy, 5, 9);
  recorder.span(track, "outer", Category::wait, 5, 30);
  recorder.span(track, "after", Category::copy, 30, 40);
  std::vector<std::string> names;
  for (const json& span : of_phase(parsed(recorder.collect()), "X")) {
    names.push_back(span["name"]);
    EXPECT_EQ(span["tid"], 1) << "all of them nest";
  }
  EXPECT_THAT(names, ElementsAre("outer", "same begin, shorter", "inner", "after"));
}

TEST(ChromeTrace, MovesSpansThatOverlapInPartToARowOfTheirOwn) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::wire, "from rank 1");
  recorder.span(track, "a", Category::receive, 0, 10);
  recorder.span(track, "b", Category::receive, 5, 15);
  recorder.span(track, "c", Category::receive, 8, 20);
  recorder.span(track, "d", Category::receive, 10, 12);
  recorder.instant(track, "i", 9);
  const json trace = parsed(recorder.collect());
  EXPECT_THAT(metadata(trace, "thread_name"),
              ElementsAre("from rank 1", "from rank 1 (2)", "from rank 1 (3)"));
  std::map<std::string, int> row;
  for (const json& span : of_phase(trace, "X")) row[span["name"]] = span["tid"];
  EXPECT_EQ(row, (std::map<std::string, int>{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 1}}));
}

TEST(ChromeTrace, NestsWhateverWasRecorded) {
  std::mt19937 random(7);
  for (int seed = 0; seed < 50; ++seed) {
    Recorder recorder;
    const TrackId track = recorder.track({0}, TrackKind::wire, "wire");
    for (int i = 0; i < 100; ++i) {
      const std::int64_t begin = random() % 200;
      recorder.span(track, "s", Category::send, begin, begin + random() % 60);
    }
    std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>> open;  // by row
    const std::vector<json> spans = of_phase(parsed(recorder.collect()), "X");
    ASSERT_EQ(spans.size(), 100U);
    for (const json& span : spans) {
      const std::int64_t begin = ns(span["ts"]), end = begin + ns(span["dur"]);
      auto& stack = open[span["tid"]];
      while (!stack.empty() && stack.back().second <= begin) stack.pop_back();
      if (!stack.empty()) {
        ASSERT_LE(stack.back().first, begin);
        ASSERT_LE(end, stack.back().second);
      }
      stack.emplace_back(begin, end);
    }
  }
}

TEST(ChromeTrace, SharesARowBetweenTracksOfTheSameName) {
  Recorder recorder;
  const TrackId first = recorder.track({0}, TrackKind::device, "host:0");
  const TrackId second = recorder.track({0}, TrackKind::device, "host:0");
  recorder.span(second, "later", Category::launch, 10, 20);
  recorder.span(first, "earlier", Category::launch, 0, 10);
  const json trace = parsed(recorder.collect());
  EXPECT_THAT(metadata(trace, "thread_name"), ElementsAre("host:0"));
  const std::vector<json> spans = of_phase(trace, "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["name"], "earlier");
  EXPECT_EQ(spans[1]["name"], "later");
}

TEST(ChromeTrace, ConnectsASendWithItsReceive) {
  Recorder recorder;
  const std::uint64_t flow = flow_id(0, {0}, {1}, 7, 0);
  const TrackId to = recorder.track({0}, TrackKind::wire, "to rank 1");
  const TrackId from = recorder.track({1}, TrackKind::wire, "from rank 0");
  recorder.span(from, "halo", Category::receive, 3, 50, {.bytes = 64, .flow = flow});
  recorder.span(to, "halo", Category::send, 10, 20, {.bytes = 64, .flow = flow});
  const json trace = parsed(recorder.collect());
  const std::vector<json> starts = of_phase(trace, "s"), ends = of_phase(trace, "f");
  ASSERT_EQ(starts.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
  EXPECT_EQ(std::stoull(starts[0]["id"].get<std::string>(), nullptr, 16), flow)
      << "as text, with every digit";
  EXPECT_EQ(starts[0]["name"], ends[0]["name"]);
  EXPECT_EQ(starts[0]["cat"], ends[0]["cat"]);
  EXPECT_EQ(starts[0]["pid"], 1);
  EXPECT_EQ(ends[0]["pid"], 2);
  EXPECT_EQ(ends[0]["bp"], "e");
  EXPECT_EQ(ns(starts[0]["ts"]), 10);
  EXPECT_EQ(ns(ends[0]["ts"]), 49) << "inside the receive, and after the send began";
}

TEST(ChromeTrace, WritesInstantsAndCounters) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "host:0");
  recorder.instant(track, "eviction", 1'000, {.bytes = 5});
  recorder.counter(track, "bytes held", 2'000, 0);
  const json trace = parsed(recorder.collect());
  const std::vector<json> instants = of_phase(trace, "i"), counters = of_phase(trace, "C");
  ASSERT_EQ(instants.size(), 1U);
  EXPECT_EQ(instants[0]["s"], "t");
  EXPECT_EQ(instants[0]["args"]["bytes"], 5);
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0]["name"], "host:0: bytes held");
  EXPECT_EQ(counters[0]["args"]["value"], 0);
}

TEST(ChromeTrace, EscapesEveryText) {
  const std::string odd =
      "quote \" backslash \\ line\nbell \a null " + std::string(1, '\0') + " \xc3\xa9 </script>";
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, odd);
  recorder.span(track, odd, Category::launch, 0, 1, {.box = odd + "b"});
  recorder.counter(track, odd, 2, 3);
  const json trace = parsed(recorder.collect());
  EXPECT_EQ(of_phase(trace, "X").at(0)["name"], odd);
  EXPECT_EQ(of_phase(trace, "X").at(0)["args"]["box"], odd + "b");
  EXPECT_EQ(of_phase(trace, "C").at(0)["name"], odd + ": " + odd);
  EXPECT_THAT(metadata(trace, "thread_name"), ElementsAre(odd));
}

TEST(ChromeTrace, ReplacesBytesThatAreNoText) {
  Recorder recorder;
  recorder.span(recorder.track({0}, TrackKind::device, "d"), "a\xff z", Category::launch, 0, 1);
  EXPECT_EQ(of_phase(parsed(recorder.collect()), "X").at(0)["name"], "a\xef\xbf\xbd z");
}

TEST(ChromeTrace, SaysHowManyEventsWereDropped) {
  Recorder recorder(0);
  recorder.span(recorder.track({0}, TrackKind::device, "d"), "s", Category::launch, 0, 1);
  EXPECT_EQ(parsed(recorder.collect())["otherData"]["dropped_events"], "1");
}

TEST(ChromeTrace, OfMergedRanksIsOneTrace) {
  std::vector<EventSet> sets;
  for (int rank = 0; rank < 3; ++rank) {
    Recorder recorder;
    recorder.span(recorder.track({rank}, TrackKind::device, "d"), "s", Category::launch, 0, 1);
    sets.push_back(deserialise(serialise(recorder.collect())));
  }
  const json trace = parsed(merge(std::move(sets)));
  EXPECT_THAT(metadata(trace, "process_name"), ElementsAre("rank 0", "rank 1", "rank 2"));
  EXPECT_EQ(of_phase(trace, "X").size(), 3U);
}

TEST(ChromeTrace, ComesInPiecesOfBoundedSize) {
  Recorder recorder;
  const TrackId track = recorder.track({0}, TrackKind::device, "d");
  for (int i = 0; i < 50'000; ++i) recorder.span(track, "s", Category::launch, i, i + 1);
  std::size_t largest = 0, pieces = 0, total = 0;
  write_chrome_trace(recorder.collect(), [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    total += piece.size();
    ++pieces;
  });
  EXPECT_GT(pieces, 5U);
  EXPECT_LT(largest, std::size_t{1} << 19);
  EXPECT_GT(total, std::size_t{50'000} * 60);
}

class ChromeTraceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "nuna-trace-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    const TrackId track = recorder_.track({0}, TrackKind::device, "d");
    for (int i = 0; i < 20'000; ++i) recorder_.span(track, "s", Category::launch, i, i + 1);
    set_ = recorder_.collect();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void expect_refused(const fs::path& file, const std::string& reason) {
    try {
      write_chrome_trace(set_, file);
      FAIL() << "wrote " << file;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input_output);
      EXPECT_THAT(error.what(), HasSubstr("'" + file.string() + "'"));
      EXPECT_THAT(error.what(), HasSubstr(reason));
      EXPECT_THAT(error.what(), HasSubstr("NUNA_TRACE"));
    }
  }
  std::vector<std::string> names_in_folder() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  Recorder recorder_;
  EventSet set_;
  fs::path folder_;
};

TEST_F(ChromeTraceFile, IsWholeAndAlone) {
  write_chrome_trace(set_, folder_ / "trace.json");
  EXPECT_EQ(json::parse(read(folder_ / "trace.json")), parsed(set_));
  EXPECT_THAT(names_in_folder(), ElementsAre("trace.json"));
}

TEST_F(ChromeTraceFile, ReplacesAnOlderOne) {
  write(folder_ / "trace.json", "old");
  write_chrome_trace(set_, folder_ / "trace.json");
  EXPECT_EQ(read(folder_ / "trace.json"), text_of(set_));
  EXPECT_THAT(names_in_folder(), ElementsAre("trace.json"));
}

TEST_F(ChromeTraceFile, FollowsASymbolicLink) {
  fs::create_directory(folder_ / "there");
  write(folder_ / "there" / "real.json", "old");
  fs::create_symlink(folder_ / "there" / "real.json", folder_ / "trace.json");
  write_chrome_trace(set_, folder_ / "trace.json");
  EXPECT_TRUE(fs::is_symlink(folder_ / "trace.json"));
  EXPECT_EQ(read(folder_ / "there" / "real.json"), text_of(set_));
}

TEST_F(ChromeTraceFile, InAFolderThatIsNotThereIsRefused) {
  expect_refused(folder_ / "missing" / "trace.json", "No such file or directory");
}

TEST_F(ChromeTraceFile, BelowAFileIsRefused) {
  write(folder_ / "file", "x");
  expect_refused(folder_ / "file" / "trace.json", "Not a directory");
}

TEST_F(ChromeTraceFile, ThatIsAFolderIsRefused) {
  expect_refused(folder_, "Is a directory");
  EXPECT_TRUE(names_in_folder().empty());
}

TEST_F(ChromeTraceFile, InAFolderThatIsNotWritableIsRefused) {
  constexpr uid_t kNobody = 65534;  // root may write everywhere, so it steps down for a moment
  const uid_t me = ::geteuid();
  if (me == 0 && ::seteuid(kNobody) != 0) GTEST_SKIP() << "root that cannot step down may write everywhere";
  if (me != 0) fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused(folder_ / "trace.json", "Permission denied");
  if (me != 0) fs::permissions(folder_, fs::perms::owner_all);
  ASSERT_EQ(::seteuid(me), 0);
  EXPECT_TRUE(names_in_folder().empty());
}

TEST_F(ChromeTraceFile, OnAFullDeviceIsRefused) {
  expect_refused("/dev/full", "No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "a device is never replaced";
  EXPECT_FALSE(fs::exists("/dev/full." + std::to_string(::getpid()) + ".part"));
}

TEST_F(ChromeTraceFile, ThatBreaksOffLeavesTheOlderOneAndNothingElse) {
  write(folder_ / "trace.json", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{300'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_refused(folder_ / "trace.json", "File too large");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read(folder_ / "trace.json"), "old");
  EXPECT_THAT(names_in_folder(), ElementsAre("trace.json"));
}

TEST_F(ChromeTraceFile, OfASetThatBreaksOffInAnotherWayLeavesNothing) {
  EXPECT_THROW(write_chrome_trace(set_, [](std::string_view) { throw std::runtime_error("the sink's own"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace nuna::trace
