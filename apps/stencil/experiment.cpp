#include "stencil/experiment.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "nuna/error.hpp"
#include "stencil/sponge.hpp"
#include "stencil/wavelet.hpp"

namespace stencil {
namespace {

constexpr std::int64_t kMostSteps = 100'000'000;
constexpr double kLowest_hz = 1e-6;

[[noreturn]] void refuse(const std::string& text) {
  throw nuna::Error(nuna::ErrorCode::invalid_argument, text);
}

void require_positive(double value, const char* what) {
  if (!std::isfinite(value) || value <= 0.0) refuse(std::string(what) + " must be a number above 0");
}

std::int64_t chosen_point(std::optional<std::int64_t> chosen, std::int64_t otherwise, std::int64_t points,
                          const char* option) {
  const std::int64_t at = chosen.value_or(otherwise);
  if (at >= 0 && at < points) return at;
  refuse(std::string(option) + " " + std::to_string(at) + " lies outside the model; use 0 to " +
         std::to_string(points - 1));
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string milliseconds(double seconds) { return number(seconds * 1e3) + " ms"; }

void choose_time(Experiment& e, const VelocityModel& model, const Choices& choices) {
  e.largest_stable_step_s = largest_stable_step_s(model.spacing_m, double(model.fastest_m_s()));
  e.step_s = choices.step_s.value_or(0.98 * e.largest_stable_step_s);
  require_positive(e.step_s, "the time step");
  if (e.step_s > e.largest_stable_step_s) {
    refuse("a time step of " + milliseconds(e.step_s) + " is unstable in this model; use at most " +
           milliseconds(e.largest_stable_step_s));
  }
  require_positive(choices.duration_s, "the model time");
  const double wanted = std::ceil(choices.duration_s / e.step_s);
  e.steps = choices.steps.value_or(static_cast<std::int64_t>(std::fmin(wanted, 1e18)));
  if (e.steps < 1 || e.steps > kMostSteps) {
    refuse(std::to_string(e.steps) + " steps are asked for; use 1 to " + std::to_string(kMostSteps));
  }
  e.frequency_hz = choices.frequency_hz.value_or(double(model.slowest_m_s()) / (10.0 * model.spacing_m));
  require_positive(e.frequency_hz, "the frequency");
  const double nyquist = 0.5 / e.step_s;
  if (e.frequency_hz < kLowest_hz || e.frequency_hz > nyquist) {
    refuse("a source of " + number(e.frequency_hz) + " Hz is not one that steps of " +
           milliseconds(e.step_s) + " can show; use " + number(kLowest_hz) + " to " + number(nyquist) +
           " Hz");
  }
  e.source_delay_s = ricker_delay_s(e.frequency_hz);
  e.signal = ricker_samples(e.frequency_hz, e.step_s, e.steps);
}

void choose_places(Experiment& e, const VelocityModel& model, const Choices& choices, std::int64_t sponge_z) {
  e.source_x = chosen_point(choices.source_x, e.nx / 2, e.nx, "--source-x");
  e.source_z = chosen_point(choices.source_z, sponge_z, e.nz, "--source-z");
  e.source_y_begin = model.extruded ? 0 : e.ny / 2;
  e.source_y_end = model.extruded ? e.ny : e.ny / 2 + 1;
  e.receiver_y = e.ny / 2;
  e.receiver_z = chosen_point(choices.receiver_z, e.source_z, e.nz, "--receiver-z");
}

}  // namespace

double largest_stable_step_s(double spacing_m, double fastest_m_s) {
  // The shortest wave of the grid, alternating in sign: all weights add up with the sign of the centre's.
  constexpr double kLargestEigenvalue =
      205.0 / 72.0 + 2.0 * (8.0 / 5.0 + 1.0 / 5.0 + 8.0 / 315.0 + 1.0 / 560.0);
  return 2.0 / std::sqrt(3.0 * kLargestEigenvalue) * spacing_m / fastest_m_s;
}

Experiment make_experiment(const VelocityModel& model, const Choices& choices) {
  Experiment e;
  e.nx = model.nx;
  e.ny = model.ny;
  e.nz = model.nz;
  choose_time(e, model, choices);
  const auto width = [&](std::int64_t points) { return choices.sponge.value_or(default_sponge(points)); };
  e.sponge_x = sponge_factors(e.nx, width(e.nx));
  e.sponge_y = sponge_factors(e.ny, model.extruded ? 0 : width(e.ny));
  e.sponge_z = sponge_factors(e.nz, width(e.nz));
  choose_places(e, model, choices, width(e.nz));
  e.courant2.reserve(model.velocity_m_s.size());
  for (const float velocity : model.velocity_m_s) {
    const double courant = double(velocity) * e.step_s / model.spacing_m;
    e.courant2.push_back(static_cast<float>(courant * courant));
  }
  return e;
}

}  // namespace stencil
