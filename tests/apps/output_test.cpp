#include "stencil/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/output_files.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "nuna/error.hpp"
#include "stencil/reference.hpp"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder : public testing::Test {
 protected:
  Folder() { fs::create_directory(path_); }
  ~Folder() override { fs::remove_all(path_); }

  std::string in(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const { return std::size_t(std::distance(fs::directory_iterator(path_), {})); }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  fs::path path_ = fs::temp_directory_path() / ("nuna-output-" + std::to_string(::getpid()));
};

// While it lives, files of this process cannot grow beyond `bytes`: what a full disk does, without one.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class OutputFiles : public Folder {};

TEST_F(OutputFiles, AppearOnlyWhenCommitted) {
  apps::OutputFiles files_to_write;
  files_to_write.add(in("a"), [](apps::FileWriter& out) { out.write("abc", 3); });
  EXPECT_FALSE(fs::exists(in("a")));
  files_to_write.commit();
  EXPECT_EQ(contents(in("a")), "abc");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, ReplaceOlderOnes) {
  std::ofstream(in("a")) << "old and longer";
  apps::OutputFiles files_to_write;
  files_to_write.add(in("a"), [](apps::FileWriter& out) { out.write("new", 3); });
  files_to_write.commit();
  EXPECT_EQ(contents(in("a")), "new");
}

TEST_F(OutputFiles, LeaveNothingBehindWithoutCommit) {
  {
    apps::OutputFiles().add(in("a"), [](apps::FileWriter& out) { out.write("abc", 3); });
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFiles, LeaveNothingBehindWhenTheDiskIsFull) {
  apps::OutputFiles files_to_write;
  files_to_write.add(in("small"), [](apps::FileWriter& out) { out.write("abc", 3); });
  const FileLimit limit(1000);
  const std::string large(100'000, 'x');
  try {
    files_to_write.add(in("large"), [&](apps::FileWriter& out) { out.write(large.data(), large.size()); });
    FAIL() << "the disk was not full";
  } catch (const nuna::Error& e) {
    EXPECT_EQ(e.code(), nuna::ErrorCode::input_output);
    EXPECT_THAT(e.what(), HasSubstr(in("large")));
    EXPECT_THAT(e.what(), HasSubstr("free some space"));
  }
  EXPECT_EQ(files(), 1u);  // the small one's temporary, which waits for its commit
}

TEST_F(OutputFiles, ReportADiskThatIsFullOnlyWhenTheBytesGoOut) {
  const FileLimit limit(10);
  apps::OutputFiles files_to_write;
  EXPECT_THROW(files_to_write.add(in("a"), [](apps::FileWriter& out) { out.write("more than ten", 13); }),
               nuna::Error);
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFiles, PassOnTheFailureOfWhoFillsThem) {
  apps::OutputFiles files_to_write;
  EXPECT_THROW(files_to_write.add(in("a"), [](apps::FileWriter&) { throw std::runtime_error("no"); }),
               std::runtime_error);
  files_to_write.commit();
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFiles, LeaveATemporaryOfAnotherProcessWithTheSameNumberAlone) {
  const std::string others = in("a.part-" + std::to_string(::getpid()));
  std::ofstream(others) << "theirs";
  apps::OutputFiles::require_writable(in("a"));
  apps::OutputFiles files_to_write;
  files_to_write.add(in("a"), [](apps::FileWriter& out) { out.write("abc", 3); });
  files_to_write.commit();
  EXPECT_EQ(contents(in("a")), "abc");
  EXPECT_EQ(contents(others), "theirs");
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFiles, NameAFolderThatIsNotThere) {
  EXPECT_THROW(apps::OutputFiles::require_writable(in("nowhere/a")), nuna::Error);
  apps::OutputFiles::require_writable(in("a"));
  EXPECT_EQ(files(), 0u);
}

class Pictures : public Folder {};

TEST_F(Pictures, ArePngFiles) {
  apps::Image image(3, 2);
  image.at(2, 1) = {1, 2, 3};
  apps::OutputFiles files_to_write;
  files_to_write.add(in("a.png"), [&](apps::FileWriter& out) { write_png(out, image); });
  files_to_write.commit();
  EXPECT_EQ(contents(in("a.png")).substr(0, 8), "\x89PNG\r\n\x1a\n");
}

TEST_F(Pictures, ReportAFullDiskAcrossLibpng) {
  const FileLimit limit(200);
  apps::Image image(400, 400);
  for (int i = 0; i < 160'000; ++i)
    image.at(i % 400, i / 400) = {std::uint8_t(i * 7919 >> 5), std::uint8_t(i * 31 >> 3), 0};
  apps::OutputFiles files_to_write;
  EXPECT_THROW(files_to_write.add(in("a.png"), [&](apps::FileWriter& out) { write_png(out, image); }),
               nuna::Error);
  EXPECT_EQ(files(), 0u);
}

TEST_F(Pictures, OfNothingAreRefused) {
  apps::OutputFiles files_to_write;
  EXPECT_THROW(files_to_write.add(in("a"), [](apps::FileWriter& out) { write_png(out, apps::Image(0, 3)); }),
               nuna::Error);
}

TEST(Diverging, IsTheGroundAtZeroRedAboveAndBlueBelow) {
  EXPECT_EQ(apps::diverging(0, 1), (apps::Colour{255, 255, 255}));
  EXPECT_GT(apps::diverging(1, 1).red, apps::diverging(1, 1).blue);
  EXPECT_LT(apps::diverging(-1, 1).red, apps::diverging(-1, 1).blue);
  EXPECT_EQ(apps::diverging(5, 1), apps::diverging(1, 1));
  EXPECT_EQ(apps::diverging(std::nanf(""), 1), (apps::Colour{0, 255, 0}));
}

TEST(PercentileOfSize, IgnoresSignsAndUntouchedPoints) {
  EXPECT_EQ(apps::percentile_of_size({0, 0, -3, 1, 2}, 1.0), 3.0f);
  EXPECT_EQ(apps::percentile_of_size({0, 0, -3, 1, 2}, 0.0), 1.0f);
  EXPECT_EQ(apps::percentile_of_size({0, 0}, 0.9), 1.0f);
}

TEST(ProgressLine, ShowsTheShareAndWhatIsLeft) {
  EXPECT_EQ(apps::Progress::line("x", 0, 10, 0), "x  [" + std::string(40, '-') + "]  0 %");
  EXPECT_THAT(apps::Progress::line("x", 5, 10, 3), HasSubstr("50 %  3 s left"));
  EXPECT_THAT(apps::Progress::line("x", 10, 10, 3), HasSubstr("#]  100 %"));
}

TEST(Report, IsOneLineWithTheSharedKeysFirst) {
  apps::Report report;
  report.app = "stencil";
  report.more["points"] = 7;
  const std::string line = report.to_line();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_THAT(line, testing::StartsWith(R"({"app":"stencil","ranks":1,"devices":1,"seconds":)"));
  EXPECT_TRUE(nlohmann::json::parse(line)["verified"].is_null());
  report.verified = false;
  EXPECT_EQ(nlohmann::json::parse(report.to_line())["verified"], false);
}

class StencilOutput : public Folder {};

TEST_F(StencilOutput, IsFourFilesOfTheRightSizes) {
  const stencil::VelocityModel model = stencil::layered_velocity({50, 20, 0}, 10, 5);
  const stencil::Experiment e = make_experiment(model, {.steps = 30});
  const stencil::Fields fields = run_reference(e);
  EXPECT_EQ(stencil::write_output(in("run"), model, e, fields), stencil::output_names(in("run")));
  EXPECT_EQ(files(), 4u);
  EXPECT_EQ(fs::file_size(in("run_wavefield.f32")), 50u * 5 * 20 * 4);
  EXPECT_EQ(fs::file_size(in("run_traces.f32")), 50u * 30 * 4);
  const apps::Image image = wavefield_image(model, fields);
  EXPECT_EQ(image.width(), 50 * 20);
  EXPECT_EQ(image.height(), 20 * 20);
}

TEST_F(StencilOutput, IsAllOrNothing) {
  const stencil::VelocityModel model = stencil::layered_velocity({50, 20, 0}, 10, 5);
  const stencil::Experiment e = make_experiment(model, {.steps = 300});
  const stencil::Fields fields = run_reference(e);
  const FileLimit limit(50'000);  // enough for the wavefield, not for the traces
  EXPECT_THROW(stencil::write_output(in("run"), model, e, fields), nuna::Error);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
