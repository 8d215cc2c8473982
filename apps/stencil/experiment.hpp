#pragma once
// One numerical experiment: everything that a run needs to know and nothing about how it runs. The simulation
// on Nuna and the serial reference both start from this value.

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/velocity_model.hpp"

namespace stencil {

/// What a user may choose; what is left out is chosen from the model.
struct Choices {
  std::optional<double> frequency_hz;      ///< ten points per wavelength at the slowest velocity
  std::optional<double> step_s;            ///< 0.98 of the largest stable one
  std::optional<std::int64_t> steps;       ///< as many as `duration_s` needs
  std::optional<std::int64_t> sponge;      ///< default_sponge
  std::optional<std::int64_t> source_x;    ///< the middle
  std::optional<std::int64_t> source_z;    ///< just below the upper sponge
  std::optional<std::int64_t> receiver_z;  ///< the depth of the source
  double duration_s = 1.5;
};

/// Fields are indexed (x, y, z) as the model is, without padding. Outside the model the field is zero along x
/// and z, and mirrored about the outermost points along y.
struct Experiment {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t nz = 0;
  std::int64_t steps = 0;
  double step_s = 0.0;
  double largest_stable_step_s = 0.0;
  double frequency_hz = 0.0;
  double source_delay_s = 0.0;
  std::vector<float> courant2;  ///< (velocity * step / spacing)^2 at each point
  std::vector<float> sponge_x;  ///< factors along each axis
  std::vector<float> sponge_y;
  std::vector<float> sponge_z;
  std::vector<float> signal;  ///< one sample a step, times courant2, added at the source
  std::int64_t source_x = 0;
  std::int64_t source_z = 0;
  std::int64_t source_y_begin = 0;  ///< a line along the whole of y in an extruded model, else one point
  std::int64_t source_y_end = 0;
  std::int64_t receiver_y = 0;  ///< a receiver at every x of this line
  std::int64_t receiver_z = 0;

  std::int64_t points() const { return nx * ny * nz; }
};

/// What a run leaves behind.
struct Fields {
  std::vector<float> now;       ///< nx * ny * nz, after the last step
  std::vector<float> previous;  ///< the same one step earlier
  std::vector<float> traces;    ///< nx * steps, one receiver after the other
};

/// The largest time step for which the scheme is stable: 2 / sqrt(3 k) * spacing / velocity, where k is the
/// largest eigenvalue of the second difference along one axis.
double largest_stable_step_s(double spacing_m, double fastest_m_s);

/// Throws nuna::Error(invalid_argument): a step that is unstable (the largest stable one is named), a source
/// or receivers outside the model, a sponge that does not fit, a number that makes no sense.
Experiment make_experiment(const VelocityModel& model, const Choices& choices);

}  // namespace stencil
