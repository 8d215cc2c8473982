#pragma once
// What a run leaves on disk: the raw wavefield and traces, and a picture of each.

#include <string>
#include <vector>

#include "common/image.hpp"
#include "stencil/experiment.hpp"
#include "stencil/velocity_model.hpp"

namespace stencil {

/// PREFIX_wavefield.f32 (nx * ny * nz float32, z fastest), PREFIX_traces.f32 (nx * steps, time fastest),
/// PREFIX_wavefield.png, PREFIX_seismogram.png.
std::vector<std::string> output_names(const std::string& prefix);

/// Throws nuna::Error(input_output) unless files can be created there.
void require_output(const std::string& prefix);

/// Writes all four, or none: they appear together. Throws nuna::Error(input_output). Returns their names.
std::vector<std::string> write_output(const std::string& prefix, const VelocityModel& model,
                                      const Experiment& experiment, const Fields& fields);

/// The field in the middle plane of y, x to the right and z down, red and blue over the velocities in grey
/// (fast is dark).
apps::Image wavefield_image(const VelocityModel& model, const Fields& fields);

/// The traces, x to the right and time down.
apps::Image seismogram_image(const Experiment& experiment, const Fields& fields);

}  // namespace stencil
