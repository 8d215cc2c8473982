#include "stencil/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nuna/error.hpp"
#include "stencil/reference.hpp"

namespace stencil {
namespace {

using testing::HasSubstr;

VelocityModel small_model() { return layered_velocity({40, 30, 0}, 10, 5); }

std::string refusal(const VelocityModel& model, const Choices& choices) {
  try {
    make_experiment(model, choices);
  } catch (const nuna::Error& e) {
    EXPECT_EQ(e.code(), nuna::ErrorCode::invalid_argument);
    return e.what();
  }
  return "accepted";
}

TEST(Experiment, ChoosesAStableStepAndAsManyAsTheTimeNeeds) {
  const Experiment e = make_experiment(small_model(), {});
  EXPECT_LT(e.step_s, e.largest_stable_step_s);
  EXPECT_GE(double(e.steps) * e.step_s, 1.5);
  EXPECT_LT(double(e.steps - 1) * e.step_s, 1.5);
  EXPECT_EQ(e.signal.size(), std::size_t(e.steps));
  EXPECT_NEAR(e.courant2[0], std::pow(1500 * e.step_s / 10, 2), 1e-6);
}

TEST(Experiment, GivesAnExtrudedModelALineSourceAndNoSpongeAlongY) {
  const Experiment e = make_experiment(small_model(), {});
  EXPECT_EQ(e.source_y_begin, 0);
  EXPECT_EQ(e.source_y_end, 5);
  for (const float f : e.sponge_y) EXPECT_EQ(f, 1.0f);
  EXPECT_LT(e.sponge_x[0], 1.0f);
}

TEST(Experiment, GivesAThreeDimensionalModelAPointSourceAndASpongeAllAround) {
  const Experiment e = make_experiment(layered_velocity({40, 30, 20}, 10, 9), {});
  EXPECT_EQ(e.source_y_end - e.source_y_begin, 1);
  EXPECT_LT(e.sponge_y[0], 1.0f);
}

TEST(Experiment, RefusesAnUnstableStepAndNamesTheLargestStableOne) {
  Choices choices;
  choices.step_s = 1.0;
  const std::string text = refusal(small_model(), choices);
  EXPECT_THAT(text, HasSubstr("unstable"));
  char limit[32];
  std::snprintf(limit, sizeof limit, "%.6g ms", largest_stable_step_s(10, 3500) * 1e3);
  EXPECT_THAT(text, HasSubstr(limit));
}

TEST(Experiment, RefusesNumbersThatMakeNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double wrong : {0.0, -1.0, nan, double(std::numeric_limits<double>::infinity())}) {
    Choices choices;
    choices.frequency_hz = wrong;
    EXPECT_THAT(refusal(small_model(), choices), HasSubstr("frequency"));
    choices = {};
    choices.step_s = wrong;
    EXPECT_NE(refusal(small_model(), choices), "accepted");
    choices = {};
    choices.duration_s = wrong;
    EXPECT_THAT(refusal(small_model(), choices), HasSubstr("time"));
  }
  for (const double wrong : {1e-7, 1e300}) {
    Choices choices;
    choices.frequency_hz = wrong;
    EXPECT_THAT(refusal(small_model(), choices), HasSubstr("1e-06 to "));
  }
  Choices choices;
  choices.steps = 0;
  EXPECT_THAT(refusal(small_model(), choices), HasSubstr("steps"));
  choices = {};
  choices.duration_s = 1e300;
  EXPECT_THAT(refusal(small_model(), choices), HasSubstr("steps"));
}

TEST(Experiment, RefusesPlacesOutsideTheModel) {
  Choices choices;
  choices.source_x = 40;
  EXPECT_THAT(refusal(small_model(), choices), HasSubstr("--source-x 40"));
  choices = {};
  choices.source_z = -1;
  EXPECT_THAT(refusal(small_model(), choices), HasSubstr("--source-z -1"));
  choices = {};
  choices.receiver_z = 30;
  EXPECT_THAT(refusal(small_model(), choices), HasSubstr("0 to 29"));
  choices = {};
  choices.sponge = 15;
  EXPECT_THAT(refusal(small_model(), choices), HasSubstr("--sponge"));
}

// The limit is a statement about the scheme, so it is tried on the scheme: white noise holds the most
// unstable wave.
double growth(double share_of_limit) {
  Experiment e = make_experiment(constant_velocity({24, 24, 24}, 10, 9, 2000), {.steps = 400, .sponge = 0});
  const double courant = 2000 * share_of_limit * e.largest_stable_step_s / 10;
  for (float& c : e.courant2) c = float(courant * courant);
  for (std::size_t s = 0; s < e.signal.size(); ++s) e.signal[s] = s == 0 ? 1.0f : 0.0f;
  double largest = 0;
  for (const float v : run_reference(e).now)
    largest = std::fmax(largest, std::isfinite(v) ? std::fabs(double(v)) : 1e30);
  return largest;
}

TEST(LargestStableStep, SeparatesStableFromUnstable) {
  EXPECT_LT(growth(0.999), 10.0);
  EXPECT_GT(growth(1.03), 1e6);
}

}  // namespace
}  // namespace stencil
