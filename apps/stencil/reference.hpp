#pragma once
// The same experiment by plain serial loops: what the simulation is compared with, bit by bit.

#include <functional>
#include <string>

#include "stencil/experiment.hpp"

namespace stencil {

/// Runs the experiment on the calling thread. Shares no code with the kernels. `progress`, if set, is called
/// after each step.
Fields run_reference(const Experiment& experiment, const std::function<void(std::int64_t)>& progress = {});

/// Empty when all fields are equal bit by bit, else what differs first and how many values do.
std::string first_difference(const Fields& ours, const Fields& reference);

}  // namespace stencil
