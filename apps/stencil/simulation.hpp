#pragma once
// The experiment on Nuna: the time loop.

#include <cstdint>
#include <functional>
#include <optional>

#include "nuna/context.hpp"
#include "stencil/experiment.hpp"

namespace stencil {

struct SimulationRun {
  std::optional<Fields> fields;  ///< on rank 0
  double seconds = 0.0;          ///< of the time loop: the slowest rank's
};

/// Runs the experiment on all devices of all ranks of `context`, cut along x. Replicated: every rank calls it
/// with the same experiment. `progress`, if set, is called on rank 0 after each step was handed over, which
/// is at most a few dozen steps ahead of the devices. Throws nuna::Error: too_few_blocks when there are more
/// devices than planes along x, out_of_memory, and what a Context's calls throw.
SimulationRun simulate(nuna::Context& context, const Experiment& experiment,
                       const std::function<void(std::int64_t)>& progress = {});

}  // namespace stencil
