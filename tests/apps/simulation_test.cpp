// The simulation on Nuna against the serial reference.

#include "stencil/simulation.hpp"

#include <gtest/gtest.h>

#include "nuna/nuna.hpp"
#include "stencil/reference.hpp"

namespace stencil {
namespace {

std::string difference_on(int ranks, int devices, const Experiment& e) {
  nuna::Options options;
  options.devices = devices;
  options.threads_per_device = 1;
  std::optional<Fields> fields;
  nuna::Context::in_process(ranks, options, [&](nuna::Context& context) {
    SimulationRun run = simulate(context, e);
    EXPECT_EQ(run.fields.has_value(), context.rank() == 0);
    if (run.fields) fields = std::move(run.fields);
  });
  return fields ? first_difference(*fields, run_reference(e)) : "rank 0 has no fields";
}

TEST(Simulation, GivesTheSameBitsOnAnyRanksAndDevices) {
  const Experiment e = make_experiment(layered_velocity({61, 40, 0}, 10, 7), {.steps = 90});
  EXPECT_EQ(difference_on(1, 1, e), "");
  EXPECT_EQ(difference_on(1, 4, e), "");
  EXPECT_EQ(difference_on(2, 2, e), "");
  EXPECT_EQ(difference_on(4, 1, e), "");
  EXPECT_EQ(difference_on(2, 3, e), "");
}

TEST(Simulation, OfThreeDimensionsAsWell) {
  const Experiment e = make_experiment(layered_velocity({30, 26, 22}, 10, 9), {.steps = 60});
  EXPECT_EQ(difference_on(1, 2, e), "");
  EXPECT_EQ(difference_on(2, 1, e), "");
}

TEST(Simulation, WithPartsThinnerThanTheStencilReaches) {
  const Experiment e = make_experiment(layered_velocity({8, 26, 0}, 10, 5), {.steps = 40});
  EXPECT_EQ(difference_on(1, 8, e), "");
  EXPECT_EQ(difference_on(3, 2, e), "");
}

TEST(Simulation, RefusesMoreDevicesThanPlanes) {
  const Experiment e = make_experiment(layered_velocity({3, 26, 0}, 10, 5), {.steps = 4});
  try {
    difference_on(1, 4, e);
    FAIL() << "nothing was refused";
  } catch (const nuna::Error& error) {
    EXPECT_EQ(error.code(), nuna::ErrorCode::too_few_blocks);
  }
}

}  // namespace
}  // namespace stencil
