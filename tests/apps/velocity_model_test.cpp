#include "stencil/velocity_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>

#include "nuna/error.hpp"

namespace stencil {
namespace {

using nuna::ErrorCode;
using testing::HasSubstr;

// A file that is gone with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<float>& values)
      : path_(std::filesystem::temp_directory_path() / ("nuna-velocity-" + std::to_string(::getpid()))) {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    std::fwrite(values.data(), sizeof(float), values.size(), file);
    std::fclose(file);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <class F>
void expect_refusal(ErrorCode code, const std::string& words, F f) {
  try {
    f();
    ADD_FAILURE() << "nothing was refused; expected: " << words;
  } catch (const nuna::Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr(words));
  }
}

TEST(ParseShape, ReadsTwoAndThreeDimensions) {
  EXPECT_EQ(parse_shape("1601x401"), (Shape{1601, 401, 0}));
  EXPECT_EQ(parse_shape("3x4x5"), (Shape{3, 4, 5}));
}

TEST(ParseShape, RefusesWhatIsNoShape) {
  for (const char* text :
       {"", "12", "12x", "x12", "0x4", "-3x4", "3x4x5x6", "3x4x", "3 x 4", "3X4", "9999999x2", "3x4y"}) {
    expect_refusal(ErrorCode::invalid_argument, "is no shape", [&] { parse_shape(text); });
  }
}

TEST(LoadVelocity, KeepsTheOrderOfTheFileAndTurnsKilometresIntoMetres) {
  const TemporaryFile file({1.5f, 2.0f, 2.5f, 3.0f, 3.5f, 4.0f});
  const VelocityModel model =
      load_velocity(file.path(), {2, 3, 0}, VelocityUnit::kilometres_per_second, 7.5, 6);
  EXPECT_EQ(model.nx, 2);
  EXPECT_EQ(model.ny, 6);
  EXPECT_EQ(model.nz, 3);
  EXPECT_TRUE(model.extruded);
  for (std::int64_t y = 0; y < 6; ++y) {
    EXPECT_EQ(model.at(0, y, 0), 1500.0f);
    EXPECT_EQ(model.at(0, y, 2), 2500.0f);
    EXPECT_EQ(model.at(1, y, 1), 3500.0f);
  }
  EXPECT_EQ(model.slowest_m_s(), 1500.0f);
  EXPECT_EQ(model.fastest_m_s(), 4000.0f);
}

TEST(LoadVelocity, ReadsThreeDimensionsAsTheyAre) {
  std::vector<float> values(2 * 5 * 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000.0f + float(i);
  const TemporaryFile file(values);
  const VelocityModel model = load_velocity(file.path(), {2, 3, 5}, VelocityUnit::metres_per_second, 10, 9);
  EXPECT_FALSE(model.extruded);
  EXPECT_EQ(model.ny, 5);
  EXPECT_EQ(model.at(1, 4, 2), 1029.0f);
  EXPECT_EQ(model.at(0, 1, 0), 1003.0f);
}

TEST(LoadVelocity, RefusesAFileOfAnotherSizeAndNamesBothSizes) {
  const TemporaryFile file({1500.0f, 1500.0f, 1500.0f});
  const auto load = [&] { load_velocity(file.path(), {2, 2, 0}, VelocityUnit::metres_per_second, 10, 9); };
  expect_refusal(ErrorCode::invalid_argument, "has 12 bytes", load);
  expect_refusal(ErrorCode::invalid_argument, "need 16", load);
}

TEST(LoadVelocity, RefusesValuesThatAreNoVelocities) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float wrong : {nan, -1500.0f, 0.0f, 299.0f, 12001.0f, infinity}) {
    const TemporaryFile file({1500.0f, 1500.0f, 1500.0f, wrong});
    expect_refusal(ErrorCode::invalid_argument, "trace 1, sample 1",
                   [&] { load_velocity(file.path(), {2, 2, 0}, VelocityUnit::metres_per_second, 10, 9); });
  }
}

TEST(LoadVelocity, SuspectsTheUnitWhenKilometresAreReadAsMetres) {
  const TemporaryFile file({1.5f, 2.0f});
  expect_refusal(ErrorCode::invalid_argument, "check the unit",
                 [&] { load_velocity(file.path(), {1, 2, 0}, VelocityUnit::metres_per_second, 10, 9); });
}

TEST(LoadVelocity, AcceptsTheLimitsThemselves) {
  const TemporaryFile file({kSlowest_m_s, kFastest_m_s});
  EXPECT_EQ(load_velocity(file.path(), {1, 2, 0}, VelocityUnit::metres_per_second, 10, 5).fastest_m_s(),
            12000.0f);
}

TEST(LoadVelocity, NamesAFileThatIsNotThereOrIsAFolder) {
  expect_refusal(ErrorCode::input_output, "'/nowhere/model'",
                 [] { load_velocity("/nowhere/model", {2, 2, 0}, VelocityUnit::metres_per_second, 10, 9); });
  expect_refusal(ErrorCode::input_output, "directory",
                 [] { load_velocity("/tmp", {2, 2, 0}, VelocityUnit::metres_per_second, 10, 9); });
}

TEST(VelocityModel, NeedsFivePointsAlongYAndASpacing) {
  expect_refusal(ErrorCode::invalid_argument, "at least 5", [] { layered_velocity({10, 10, 0}, 10, 4); });
  expect_refusal(ErrorCode::invalid_argument, "at least 5", [] { layered_velocity({10, 10, 3}, 10, 9); });
  expect_refusal(ErrorCode::invalid_argument, "spacing", [] { layered_velocity({10, 10, 0}, 0, 9); });
  expect_refusal(ErrorCode::invalid_argument, "spacing",
                 [] { layered_velocity({10, 10, 0}, std::numeric_limits<double>::quiet_NaN(), 9); });
  expect_refusal(ErrorCode::invalid_argument, "spacing", [] { layered_velocity({10, 10, 0}, 1e300, 9); });
  expect_refusal(ErrorCode::invalid_argument, "2^40",
                 [] { layered_velocity({999999, 999999, 999999}, 10, 9); });
}

TEST(LayeredVelocity, RisesWithDepth) {
  const VelocityModel model = layered_velocity({3, 10, 0}, 10, 5);
  EXPECT_EQ(model.at(2, 4, 0), 1500.0f);
  EXPECT_EQ(model.at(2, 4, 2), 2000.0f);
  EXPECT_EQ(model.at(0, 0, 9), 3500.0f);
  EXPECT_EQ(model.velocity_m_s.size(), 150u);
}

TEST(ConstantVelocity, IsTheSameEverywhereAndChecked) {
  EXPECT_EQ(constant_velocity({3, 4, 0}, 10, 5, 2000).slowest_m_s(), 2000.0f);
  expect_refusal(ErrorCode::invalid_argument, "--constant", [] { constant_velocity({3, 4, 0}, 10, 5, 2.0); });
}

}  // namespace
}  // namespace stencil
