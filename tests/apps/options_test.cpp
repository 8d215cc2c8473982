#include "stencil/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "nuna/error.hpp"

namespace stencil {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Options parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "stencil");
  int exit_code = 0;
  const auto options = parse_options(int(words.size()), words.data(), exit_code);
  EXPECT_TRUE(options.has_value());
  return options.value_or(Options{});
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    parsed(words);
  } catch (const nuna::Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(StencilOptions, HaveDefaultsThatNeedNoFile) {
  const Options o = parsed({});
  EXPECT_TRUE(o.velocity_file.empty());
  EXPECT_FALSE(o.verify);
  EXPECT_FALSE(o.output.empty());
  EXPECT_EQ(make_model(o).ny, 9);
}

TEST(StencilOptions, DescribeAFile) {
  const Options o =
      parsed({"--velocity", "m.f32", "--shape", "1601x401", "--velocity-unit", "km/s", "--spacing", "7.5",
              "--extrude", "11", "--dt", "0.5", "--devices", "2", "--ranks", "3", "--verify", "--json"});
  EXPECT_EQ(o.velocity_file, "m.f32");
  EXPECT_EQ(o.shape, (Shape{1601, 401, 0}));
  EXPECT_EQ(o.unit, VelocityUnit::kilometres_per_second);
  EXPECT_EQ(o.spacing_m, 7.5);
  EXPECT_EQ(o.extrude, 11);
  EXPECT_DOUBLE_EQ(*o.choices.step_s, 0.5e-3);
  EXPECT_EQ(o.devices, 2);
  EXPECT_EQ(o.ranks, 3);
  EXPECT_TRUE(o.verify && o.json);
}

TEST(StencilOptions, AskForWhatAFileDoesNotSay) {
  EXPECT_THAT(refusal({"--velocity", "m", "--shape", "2x2", "--spacing", "1"}), HasSubstr("--velocity-unit"));
  EXPECT_THAT(refusal({"--velocity", "m", "--velocity-unit", "m/s", "--spacing", "1"}), HasSubstr("--shape"));
  EXPECT_THAT(refusal({"--velocity", "m", "--velocity-unit", "m/s", "--shape", "2x2"}),
              HasSubstr("--spacing"));
  EXPECT_THAT(refusal({"--velocity", "m", "--shape", "2x2", "--spacing", "1", "--velocity-unit", "mph"}),
              HasSubstr("'mph' is no unit"));
}

TEST(StencilOptions, RefuseTwoModelsAtOnceAndAUnitOfNothing) {
  EXPECT_THAT(refusal({"--velocity", "m", "--constant", "2000"}), HasSubstr("choose one"));
  EXPECT_THAT(refusal({"--velocity-unit", "m/s"}), HasSubstr("--velocity"));
}

TEST(StencilOptions, EndTheRunForHelpAndForMistakes) {
  int exit_code = -1;
  const char* help[] = {"stencil", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse_options(2, help, exit_code));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("--velocity"));
  EXPECT_EQ(exit_code, 0);
  const char* mistake[] = {"stencil", "--devices", "0"};
  testing::internal::CaptureStderr();
  EXPECT_FALSE(parse_options(3, mistake, exit_code));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), AllOf(StartsWith("stencil: "), HasSubstr("--devices")));
  EXPECT_EQ(exit_code, 2);
}

TEST(StencilOptions, NoOutputMeansNoFiles) {
  EXPECT_TRUE(parsed({"--no-output"}).output.empty());
  EXPECT_THAT(refusal({"--output", ""}), HasSubstr("--no-output"));
}

}  // namespace
}  // namespace stencil
